#include "passes/Pipelines.h"

#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace skim {

void buildPlanPipeline(mlir::OpPassManager &manager, const std::string &target) {
  // Patterns are not canonicalised here: that would drop lists and selectors that turn out not to
  // matter, whose values are checked all the same (rules 14 and 15).
  manager.addPass(createCreatePlan());
  manager.addPass(createExpandDenseWhen());
  manager.addPass(createExpandSoftmax());
  manager.addPass(createMergeEqual());
  manager.addPass(createChooseSchedule({target}));
  manager.addPass(createPlanSelections());
  manager.addPass(createPlanRest());
  manager.addPass(createPlanCompact());
  manager.addPass(createPlanAttention());
  manager.addPass(createAssignScratch());
  manager.addPass(mlir::createCanonicalizerPass());
  manager.addPass(mlir::createCSEPass());
}

namespace {
struct PlanOptions : mlir::PassPipelineOptions<PlanOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("cpu or sm_90a (default: cpu)"),
                             llvm::cl::init("cpu")};
};
} // namespace

void registerPlanPipeline() {
  mlir::PassPipelineRegistration<PlanOptions>(
      "skim-plan", "From attended patterns to a launch plan with its tile programs",
      [](mlir::OpPassManager &manager, const PlanOptions &options) {
        buildPlanPipeline(manager, options.target);
      });
}

} // namespace skim
