// Kernels made at run time: `tile` programs to function pointers.
#ifndef SKIM_CODEGEN_CPU_JIT_H
#define SKIM_CODEGEN_CPU_JIT_H

#include "codegen/cpu/Target.h"
#include "runtime/cpu/CodeImage.h"

#include <skim/abi.h>

#include "llvm/ADT/StringMap.h"

#include <memory>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace skim::cpu {

/// Machine code of the programs of one module. The functions live as long as this object.
class Jit {
public:
  /// Compiles every `tile.program` of `module`, which is left as it is. Fails where the lowering
  /// fails (its diagnostics go to the module's context) and where this machine cannot run
  /// code of `target`.
  static llvm::Expected<std::unique_ptr<Jit>> create(mlir::ModuleOp module, const Target &target);

  /// The kernel of `tile.program @symbol`.
  llvm::Expected<skim_cpu_kernel> lookup(llvm::StringRef symbol) const;

private:
  Jit(CodeMemory memory, llvm::StringMap<skim_cpu_kernel> functions)
      : memory(std::move(memory)), functions(std::move(functions)) {}

  CodeMemory memory;
  llvm::StringMap<skim_cpu_kernel> functions;
};

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_JIT_H
