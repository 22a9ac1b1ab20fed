// PTX from `tile` programs.
#ifndef SKIM_CODEGEN_NVVM_EMIT_H
#define SKIM_CODEGEN_NVVM_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace skim::nvvm {

/// What LLVM is told of the target. PTX 8.6 is the first with bulk tensor copies into the block's
/// own shared memory.
inline constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";
inline constexpr llvm::StringLiteral kProcessor = "sm_90a";
inline constexpr llvm::StringLiteral kFeatures = "+ptx86";

enum class OutputKind : uint8_t { LlvmIr, Ptx };

/// The code of all programs of `module`, which holds their launch plan, too. The module stays as it
/// is. What cannot be lowered is reported through MLIR's diagnostics.
llvm::Expected<std::string> emit(mlir::ModuleOp module, OutputKind kind);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_EMIT_H
