// `tile` programs to LLVM IR, assembly or an object file, for any target.
#ifndef SKIM_CODEGEN_CPU_EMIT_H
#define SKIM_CODEGEN_CPU_EMIT_H

#include "codegen/cpu/Target.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace skim::cpu {

enum class OutputKind { LlvmIr, Assembly, Object };

/// Compiles every `tile.program` of `module`, which is left as it is. A failed lowering reports its
/// diagnostics to the module's context and is an error here.
llvm::Expected<llvm::SmallVector<char, 0>> emit(mlir::ModuleOp module, const Target &target,
                                                OutputKind kind);

/// Optimised LLVM IR of the programs of `module`.
llvm::Expected<std::unique_ptr<llvm::Module>> emitLlvm(mlir::ModuleOp module, const Target &target,
                                                       llvm::TargetMachine &machine,
                                                       llvm::LLVMContext &context);

/// A machine that generates position-independent code for `target`.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const Target &target);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_EMIT_H
