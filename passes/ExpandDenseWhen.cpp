#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace skim {
#define GEN_PASS_DEF_EXPANDDENSEWHEN
#include "passes/Passes.h.inc"

namespace {

struct ExpandDenseWhenPass : impl::ExpandDenseWhenBase<ExpandDenseWhenPass> {
  void runOnOperation() override {
    for (auto pattern : getOperation().getOps<ir::PatternOp>()) {
      auto dense = pattern.getClause<ir::DenseWhenOp>();
      if (!dense)
        continue;
      widen(pattern.getClause<ir::KeepOp>(), dense);
      if (auto compact = pattern.getClause<ir::CompactOp>())
        widen(compact, dense);
      dense.erase();
    }
  }

  template <typename Clause> static void widen(Clause clause, ir::DenseWhenOp dense) {
    // The condition may be computed after the clause.
    clause->moveBefore(clause->getBlock()->getTerminator());
    mlir::OpBuilder builder(clause);
    mlir::Value widened = ir::OrOp::create(builder, dense.getLoc(),
                                           mlir::ValueRange{dense.getCondition(), clause.getSet()});
    clause.getSetMutable().assign(widened);
  }
};

} // namespace
} // namespace skim
