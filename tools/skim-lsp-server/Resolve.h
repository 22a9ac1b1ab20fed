// What a word of a document means: a declared name, a pattern, or a word of the language.
#ifndef SKIM_TOOLS_SKIM_LSP_SERVER_RESOLVE_H
#define SKIM_TOOLS_SKIM_LSP_SERVER_RESOLVE_H

#include "tools/skim-lsp-server/Analysis.h"
#include "tools/skim-lsp-server/Words.h"

namespace skim::lsp {

struct Meaning {
  /// The word as it stands in the document; for an import, its path.
  llvm::SMRange range;
  /// The pattern that declares it, or the pattern itself where nothing below is set.
  const text::Pattern *pattern = nullptr;
  const text::Parameter *parameter = nullptr;
  const text::Item *item = nullptr; ///< A `let` or an `input`.
  /// A word of the language.
  const Word *word = nullptr;
  const text::SourceFile *imported = nullptr;

  /// Where it is declared; invalid for what the language defines.
  llvm::SMRange declaration() const;
  /// The whole of the declaration.
  llvm::SMRange declarationRange() const;
};

/// The word that holds or touches `offset`, or nothing, also in comments.
std::optional<Meaning> meaningAt(const Analysis &analysis, size_t offset);
/// All words of the document that mean what `meaning` does.
std::vector<llvm::SMRange> usesOf(const Analysis &analysis, const Meaning &meaning);

/// The pattern that `offset` lies in, also after errors; null before the first.
const text::Pattern *enclosingPattern(const Analysis &analysis, size_t offset);
/// The name before the innermost parenthesis that is open at `offset`; empty when none, or when
/// it opens the parameters of a pattern.
llvm::StringRef calleeAround(llvm::StringRef text, size_t offset);
/// Whether a comment or a string covers `offset`.
bool isInComment(llvm::StringRef text, size_t offset);
bool isInString(llvm::StringRef text, size_t offset);
/// Where the name that holds or touches `offset` starts and ends.
std::pair<size_t, size_t> wordAround(llvm::StringRef text, size_t offset);
/// The file that an import names; null when it was not found.
const text::SourceFile *importedFile(const Analysis &analysis, const text::SourceFile &from,
                                     const text::Import &import);

} // namespace skim::lsp

#endif // SKIM_TOOLS_SKIM_LSP_SERVER_RESOLVE_H
