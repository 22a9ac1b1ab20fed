// Parses IR, runs passes, prints IR: for tests and for work on the compiler.
#include "codegen/cpu/Passes.h"
#include "codegen/nvvm/HopperOps.h"
#include "codegen/nvvm/Passes.h"
#include "dialect/Skim/SkimDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<skim::ir::SkimDialect, skim::tile::TileDialect, skim::hopper::HopperDialect,
                  mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::func::FuncDialect, mlir::LLVM::LLVMDialect,
                  mlir::NVVM::NVVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  mlir::registerTransformsPasses();
  skim::registerSkimPasses();
  skim::cpu::registerSkimCpuPasses();
  skim::nvvm::registerSkimNvvmPasses();
  skim::registerPlanPipeline();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Skim optimizer driver\n", registry));
}
