#include "tools/skim/OutputFile.h"

#include "tools/skim/Failure.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace skim::tool {
namespace {

/// What a renamed file would replace instead of being written to.
bool isSpecialFile(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(path, status) && !llvm::sys::fs::is_regular_file(status);
}

/// Ends a stream with its error: left in place, it would end the process.
llvm::Error finish(llvm::raw_fd_ostream &stream) {
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  return llvm::errorCodeToError(error);
}

using Writer = llvm::function_ref<void(llvm::raw_ostream &)>;

llvm::Error writeInPlace(llvm::StringRef path, Writer write) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error, llvm::sys::fs::CD_OpenExisting);
  if (error)
    return llvm::errorCodeToError(error);
  write(stream);
  return finish(stream);
}

llvm::Error writeAndRename(llvm::StringRef path, Writer write) {
  llvm::Expected<llvm::sys::fs::TempFile> file =
      llvm::sys::fs::TempFile::create(path + ".tmp%%%%%%%%");
  if (!file)
    return file.takeError();
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  write(stream);
  if (llvm::Error error = finish(stream))
    return llvm::joinErrors(std::move(error), file->discard());
  return file->keep(path);
}

} // namespace

llvm::Error writeOutput(llvm::StringRef path, Writer write) {
  if (path == "-") {
    // The driver checks the standard output when it ends.
    write(llvm::outs());
    return llvm::Error::success();
  }
  llvm::Error error = isSpecialFile(path) ? writeInPlace(path, write) : writeAndRename(path, write);
  if (error)
    return environmentFailed("cannot write '" + path + "': " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

} // namespace skim::tool
