#include "codegen/nvvm/Pipeline.h"

#include "codegen/cpu/Pipeline.h"
#include "codegen/nvvm/HopperOps.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace skim::nvvm;

void skim::nvvm::addPlanPipeline(OpPassManager &manager) {
  manager.addPass(createBoundScores());
  manager.addPass(createCountVisits());
  manager.addPass(createPackKeys());
}

void skim::nvvm::addLowerTilePipeline(OpPassManager &manager) {
  manager.addPass(createSplitRoles());
  manager.addPass(createLowerPools());
  manager.addPass(createLowerVisitCounts());
  manager.addPass(createPipelineProducts());
  manager.addPass(createLowerKernel());
  manager.addPass(createLowerScheduler());
  manager.addPass(createLowerCopies());
  manager.addPass(createLowerFragments());
  manager.addPass(createReloadItemValues());
  manager.addPass(createExpandMath());
  cpu::addLowerTilePipeline(manager, cpu::scalarTarget());
  manager.addPass(createWrapPrograms());
}

void skim::nvvm::addLowerLoopsPipeline(OpPassManager &manager) {
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createCSEPass());
  cpu::addLowerLoopsPipeline(manager, cpu::scalarTarget());
}

void skim::nvvm::registerDialects(DialectRegistry &registry) {
  cpu::registerDialects(registry);
  registry
      .insert<tile::TileDialect, hopper::HopperDialect, arith::ArithDialect, cf::ControlFlowDialect,
              LLVM::LLVMDialect, math::MathDialect, NVVM::NVVMDialect, scf::SCFDialect>();
}
