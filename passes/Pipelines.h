// The order of the passes.
#ifndef SKIM_PASSES_PIPELINES_H
#define SKIM_PASSES_PIPELINES_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace skim {

/// From `skim.attend` and its pattern to a `tile.plan` with its programs.
void buildPlanPipeline(mlir::OpPassManager &manager);

/// Makes the pipeline known to `skim-opt` as `skim-plan`.
void registerPlanPipeline();

} // namespace skim

#endif // SKIM_PASSES_PIPELINES_H
