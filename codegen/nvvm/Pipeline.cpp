#include "codegen/nvvm/Pipeline.h"

#include "codegen/nvvm/HopperOps.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace skim::nvvm;

void skim::nvvm::addLowerTilePipeline(OpPassManager &manager) {
  manager.addPass(createSplitRoles());
  manager.addPass(createPipelineProducts());
  manager.addPass(createLowerKernel());
  manager.addPass(createLowerScheduler());
  manager.addPass(createLowerCopies());
  manager.addPass(createLowerFragments());
  manager.addPass(createExpandMath());
}

void skim::nvvm::addLowerLoopsPipeline(OpPassManager &manager) {
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void skim::nvvm::registerDialects(DialectRegistry &registry) {
  registry.insert<tile::TileDialect, hopper::HopperDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, LLVM::LLVMDialect, math::MathDialect, NVVM::NVVMDialect,
                  scf::SCFDialect>();
}
