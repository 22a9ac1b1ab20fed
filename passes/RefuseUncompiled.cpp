#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/MapAnalysis.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace skim {
#define GEN_PASS_DEF_REFUSEUNCOMPILED
#include "passes/Passes.h.inc"

namespace {

/// Whether vectors over rows and keys are joined over heads for fine rows: vectors of pairs are
/// computed where they are asked for, for one head at a time.
bool joinsHeadsOfPairs(mlir::Operation *op) {
  auto reduce = llvm::dyn_cast<ir::ReduceOp>(op);
  if (!reduce || !llvm::cast<ir::MapType>(reduce.getType()).isVec())
    return false;
  ir::Axes from = axesOf(reduce.getInput()), to = axesOf(reduce);
  return from.head != to.head && from.key != 0 && isFine(to);
}

struct RefuseUncompiledPass : impl::RefuseUncompiledBase<RefuseUncompiledPass> {
  void runOnOperation() override {
    for (auto attend : getOperation().getOps<ir::AttendOp>())
      if (failed(check(lookupPattern(attend))))
        signalPassFailure();
  }

  mlir::LogicalResult check(ir::PatternOp pattern) {
    for (mlir::Operation *op : neededOperations(pattern)) {
      if (joinsHeadsOfPairs(op))
        return op->emitError("the cpu target does not compile vectors over both 'q' and 'k' that "
                             "are joined over heads for each row; take a product of them first, or "
                             "run the pattern with '--device reference'");
    }
    return mlir::success();
  }
};

} // namespace
} // namespace skim
