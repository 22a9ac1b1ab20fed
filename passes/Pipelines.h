// The order of the passes.
#ifndef SKIM_PASSES_PIPELINES_H
#define SKIM_PASSES_PIPELINES_H

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace skim {

/// From `skim.attend` and its pattern to a `tile.plan` with its programs, whose tiles have the
/// shape that suits `target`, "cpu" or "sm_90a".
void buildPlanPipeline(mlir::OpPassManager &manager, const std::string &target = "cpu");

/// Makes the pipeline known to `skim-opt` as `skim-plan`.
void registerPlanPipeline();

} // namespace skim

#endif // SKIM_PASSES_PIPELINES_H
