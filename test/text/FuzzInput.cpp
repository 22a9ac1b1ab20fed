#include "test/text/FuzzInput.h"

#include "frontends/text/Check.h"

#include "mlir/IR/MLIRContext.h"

#include "llvm/Support/raw_ostream.h"

namespace skim::text {

bool buildFuzzInput(llvm::StringRef text) {
  // The disk stays out of it: imports find this one file.
  llvm::vfs::InMemoryFileSystem files;
  llvm::StringRef streaming = "pattern streaming(sink: index = 64, window: index = 4096) {\n"
                              "  keep k < sink or q - k < window\n"
                              "}\n";
  files.addFile("streaming.skim", 0, llvm::MemoryBuffer::getMemBuffer(streaming));
  Diagnostics diagnostics;
  Program program =
      loadBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "input.skim"), diagnostics, files);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(program, {}, context, diagnostics);
  diagnostics.print(llvm::nulls());
  return static_cast<bool>(module);
}

} // namespace skim::text
