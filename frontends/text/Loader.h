// Reads a `.skim` file and everything that it imports.
#ifndef SKIM_FRONTENDS_TEXT_LOADER_H
#define SKIM_FRONTENDS_TEXT_LOADER_H

#include "frontends/text/Ast.h"
#include "frontends/text/Diagnostics.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"

#include <memory>
#include <string>
#include <vector>

namespace skim::text {

struct SourceFile {
  std::string path;    ///< As it is shown in diagnostics.
  unsigned buffer = 0; ///< In `Diagnostics::sources()`.
  File tree;
};

/// The files of one compilation. Names of patterns are shared by all of them.
struct Program {
  /// What was asked for comes first; imported files follow in the order they were met.
  std::vector<std::unique_ptr<SourceFile>> files;

  /// Null when no file has a pattern of that name.
  const Pattern *find(llvm::StringRef name) const;
  /// The names of all patterns.
  std::vector<llvm::StringRef> names() const;
};

/// Reads and parses `path` and its imports. Paths of imports are relative to the file that
/// imports. A file is read once however often it is imported; a cycle, a file imported
/// twice by one file, and two patterns of one name are reported with both places. What could be
/// read is returned also after errors.
Program loadFile(llvm::StringRef path, Diagnostics &diagnostics,
                 llvm::vfs::FileSystem &files = *llvm::vfs::getRealFileSystem());

/// The same for text in memory; its imports are relative to its name.
Program loadBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer, Diagnostics &diagnostics,
                   llvm::vfs::FileSystem &files = *llvm::vfs::getRealFileSystem());

/// The pattern to compile: `name`, or the last pattern of the first file when `name` is empty.
/// Reports when there is none; the result is then null.
const Pattern *findEntry(const Program &program, llvm::StringRef name, Diagnostics &diagnostics);

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_LOADER_H
