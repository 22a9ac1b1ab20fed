// Everything that the compiler finds out about the text of one `.skim` document.
#ifndef SKIM_TOOLS_SKIM_LSP_SERVER_ANALYSIS_H
#define SKIM_TOOLS_SKIM_LSP_SERVER_ANALYSIS_H

#include "frontends/text/Check.h"

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/VirtualFileSystem.h"

#include <memory>
#include <vector>

namespace skim::lsp {

/// An index that stands in for a `constexpr` parameter without a value.
struct AssumedValue {
  const text::Parameter *parameter;
  double value;
};

struct Analysis {
  text::Diagnostics diagnostics{/*limit=*/1000};
  text::Program program;
  /// What declared names are, as far as it was found out.
  text::DeclaredTypes types;
  std::vector<AssumedValue> assumed;

  const text::SourceFile &file() const { return *program.files.front(); }
  llvm::StringRef text() const { return textOf(file()); }
  llvm::StringRef textOf(const text::SourceFile &file) const {
    return diagnostics.sources().getMemoryBuffer(file.buffer)->getBuffer();
  }
  /// The file that a place of the text lies in; null when none.
  const text::SourceFile *fileOf(llvm::SMLoc location) const;
};

/// Parses the text and checks all of its patterns, each as it would be compiled, up to the launch
/// plan of a CPU. `files` gives what it imports.
std::unique_ptr<Analysis> analyze(llvm::StringRef path, llvm::StringRef text,
                                  llvm::vfs::FileSystem &files);

} // namespace skim::lsp

#endif // SKIM_TOOLS_SKIM_LSP_SERVER_ANALYSIS_H
