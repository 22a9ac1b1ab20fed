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
      auto keep = pattern.getClause<ir::KeepOp>();
      // The condition may be computed after `keep`.
      keep->moveBefore(pattern.getBody().front().getTerminator());
      mlir::OpBuilder builder(keep);
      mlir::Value kept = ir::OrOp::create(builder, dense.getLoc(),
                                          mlir::ValueRange{dense.getCondition(), keep.getSet()});
      keep.getSetMutable().assign(kept);
      dense.erase();
    }
  }
};

} // namespace
} // namespace skim
