#include "codegen/nvvm/HopperOps.h"
#include "dialect/Skim/SkimDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "tools/skim-lsp-server/MlirServer.h"

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
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

namespace skim::lsp {

llvm::LogicalResult serveMlir(const char *program) {
  mlir::DialectRegistry registry;
  registry.insert<ir::SkimDialect, tile::TileDialect, hopper::HopperDialect,
                  mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::func::FuncDialect, mlir::LLVM::LLVMDialect,
                  mlir::NVVM::NVVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  std::string name = program;
  std::string quiet = "--log=error";
  char *arguments[] = {name.data(), quiet.data(), nullptr};
  return mlir::MlirLspServerMain(2, arguments, registry);
}

} // namespace skim::lsp
