#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace skim {
#define GEN_PASS_DEF_EXPANDSOFTMAX
#include "passes/Passes.h.inc"

namespace {

ir::Axes without(ir::Axes axes, ir::PositionAxis axis) {
  switch (axis) {
  case ir::PositionAxis::Query:
    axes.query = 0;
    break;
  case ir::PositionAxis::Key:
    axes.key = 0;
    break;
  case ir::PositionAxis::Diagonal:
    axes.diagonal = false;
    break;
  }
  return axes;
}

struct ExpandSoftmaxPass : impl::ExpandSoftmaxBase<ExpandSoftmaxPass> {
  void runOnOperation() override {
    for (auto attend : getOperation().getOps<ir::AttendOp>())
      for (auto softmax :
           llvm::make_early_inc_range(lookupPattern(attend).getBody().getOps<ir::SoftmaxOp>()))
        expand(softmax);
  }

  void expand(ir::SoftmaxOp softmax) {
    mlir::OpBuilder builder(softmax);
    mlir::Location loc = softmax.getLoc();
    auto type = llvm::cast<ir::MapType>(softmax.getType());
    ir::MapType rows = type.withAxes(without(type.getAxes(), softmax.getAxis()));
    mlir::Value largest =
        ir::ReduceOp::create(builder, loc, rows, ir::ReduceKind::Max, softmax.getInput());
    mlir::Value shifted = ir::SubOp::create(builder, loc, softmax.getInput(), largest);
    mlir::Value powers = ir::ExpOp::create(builder, loc, type, shifted);
    mlir::Value total = ir::ReduceOp::create(builder, loc, rows, ir::ReduceKind::Sum, powers);
    softmax.replaceAllUsesWith(mlir::Value(ir::DivOp::create(builder, loc, powers, total)));
    softmax.erase();
  }
};

} // namespace
} // namespace skim
