#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace skim {
#define GEN_PASS_DEF_REFUSEUNCOMPILED
#include "passes/Passes.h.inc"

namespace {

/// What is not compiled of an operation over distances; empty for one that is. Rows of selections
/// start at distance 0.
std::string unservedDistances(mlir::Operation *op, bool noncausal) {
  ir::Axes axes;
  if (llvm::isa<ir::TopKOp, ir::TopPOp, ir::InputListOp>(op))
    axes = llvm::cast<ir::SetType>(op->getResult(0).getType()).getAxes();
  if (!axes.diagonal)
    return {};
  if (noncausal)
    return "a selection over 'q - k' in a noncausal pattern";
  return {};
}

struct RefuseUncompiledPass : impl::RefuseUncompiledBase<RefuseUncompiledPass> {
  void runOnOperation() override {
    for (auto attend : getOperation().getOps<ir::AttendOp>())
      if (failed(check(lookupPattern(attend))))
        signalPassFailure();
  }

  mlir::LogicalResult check(ir::PatternOp pattern) {
    for (mlir::Operation *op : neededOperations(pattern)) {
      if (std::string distances = unservedDistances(op, pattern.getNoncausal()); !distances.empty())
        return op->emitError("the cpu target does not compile ")
               << distances << "; run the pattern with '--device reference'";
    }
    return mlir::success();
  }
};

} // namespace
} // namespace skim
