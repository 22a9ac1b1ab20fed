#include "passes/Pipelines.h"

#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace skim {

void buildPlanPipeline(mlir::OpPassManager &manager) {
  manager.addPass(createRefuseUncompiled());
  manager.addPass(createCreatePlan());
  manager.addPass(createExpandDenseWhen());
  manager.addPass(mlir::createCanonicalizerPass());
  manager.addPass(mlir::createCSEPass());
  manager.addPass(createChooseSchedule());
  manager.addPass(createPlanSelections());
  manager.addPass(createPlanRest());
  manager.addPass(createPlanAttention());
  manager.addPass(mlir::createCanonicalizerPass());
  manager.addPass(mlir::createCSEPass());
}

void registerPlanPipeline() {
  mlir::PassPipelineRegistration<>(
      "skim-plan", "From attended patterns to a launch plan with its tile programs",
      [](mlir::OpPassManager &manager) { buildPlanPipeline(manager); });
}

} // namespace skim
