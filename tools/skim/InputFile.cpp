#include "tools/skim/InputFile.h"

#include "tools/skim/Failure.h"

#include "llvm/Support/FileSystem.h"

namespace skim::tool {

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path) {
  auto wrong = [&](const llvm::Twine &what) { return wrongInput("'" + path + "': " + what); };
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return wrong(error.message());
  if (!llvm::sys::fs::is_regular_file(status))
    return wrong("expected a regular file");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return wrong(buffer.getError().message());
  return std::move(*buffer);
}

} // namespace skim::tool
