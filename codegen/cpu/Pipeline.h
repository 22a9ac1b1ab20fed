// The order of the passes from `tile` to the LLVM dialect.
#ifndef SKIM_CODEGEN_CPU_PIPELINE_H
#define SKIM_CODEGEN_CPU_PIPELINE_H

#include "codegen/cpu/Target.h"

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace skim::cpu {

/// `tile` programs to functions of structured loops over vectors.
void addLowerTilePipeline(mlir::OpPassManager &manager, const Target &target);
/// Those to the LLVM dialect.
void addLowerLoopsPipeline(mlir::OpPassManager &manager, const Target &target);

/// The dialects that the passes produce.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_PIPELINE_H
