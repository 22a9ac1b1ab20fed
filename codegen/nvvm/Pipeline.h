// From `tile` programs to LLVM's dialect for sm_90a.
#ifndef SKIM_CODEGEN_NVVM_PIPELINE_H
#define SKIM_CODEGEN_NVVM_PIPELINE_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace skim::nvvm {

/// What launch plans for this target need beside those for others.
void addPlanPipeline(mlir::OpPassManager &manager);
/// `tile` to roles, roles to structured control flow over registers.
void addLowerTilePipeline(mlir::OpPassManager &manager);
/// Structured control flow to LLVM's dialect.
void addLowerLoopsPipeline(mlir::OpPassManager &manager);

/// The dialects that the passes produce.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_PIPELINE_H
