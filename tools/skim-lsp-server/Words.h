// What the words of the language mean, for hovers and completions.
#ifndef SKIM_TOOLS_SKIM_LSP_SERVER_WORDS_H
#define SKIM_TOOLS_SKIM_LSP_SERVER_WORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace skim::lsp {

struct Word {
  enum class Kind { Keyword, Context, Type, Axis, Value, Function };

  Kind kind;
  llvm::StringLiteral name;
  llvm::StringLiteral usage;   ///< How it is written; alternatives are separated by ` | `.
  llvm::StringLiteral meaning; ///< One paragraph, Markdown.
};

llvm::ArrayRef<Word> words();
/// Null for a word that the language does not define.
const Word *findWord(llvm::StringRef name);
/// `keyword`, `function`, ...
llvm::StringRef kindName(Word::Kind kind);

} // namespace skim::lsp

#endif // SKIM_TOOLS_SKIM_LSP_SERVER_WORDS_H
