#include "passes/ByteMaps.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"
#include "passes/ProgramBuilder.h"
#include "passes/RestFormula.h"
#include "passes/Visits.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

namespace skim {
#define GEN_PASS_DEF_PLANREST
#include "passes/Passes.h.inc"

namespace {

/// Adds the buffer of block means over `dim` elements of type `element`; returns its slot.
int64_t addPool(tile::PlanOp plan, mlir::Location loc, llvm::StringRef name, mlir::Type element,
                int64_t block, int64_t dim) {
  mlir::Builder builder(plan.getContext());
  auto extents = mlir::AffineMap::get(
      0, 3,
      {builder.getAffineSymbolExpr(0),
       builder.getAffineConstantExpr(plan.getProblem().getKvHeads()),
       builder.getAffineConstantExpr(1), builder.getAffineSymbolExpr(2).ceilDiv(block)},
      plan.getContext());
  return plan.addBuffer(loc, name, element, dim, extents, /*zeroed=*/false).getSlot();
}

struct PlanRestPass : impl::PlanRestBase<PlanRestPass> {
  void runOnOperation() override {
    for (auto attend : llvm::make_early_inc_range(getOperation().getOps<ir::AttendOp>())) {
      mlir::FailureOr<PlannedPattern> planned = lookupPlanned(attend);
      if (failed(planned))
        return signalPassFailure();
      auto rest = planned->pattern.getClause<ir::RestMeanOp>();
      if (rest && failed(planRest(planned->pattern, planned->plan, rest, planned->shape())))
        return signalPassFailure();
    }
  }

  static LogicalResult planRest(ir::PatternOp pattern, tile::PlanOp plan, ir::RestMeanOp rest,
                                TileShape shape) {
    mlir::Location loc = rest.getLoc();
    int64_t block = rest.getKey();
    mlir::Builder builder(plan.getContext());
    tile::ProblemAttr problem = plan.getProblem();
    auto chosen = rest->getAttrOfType<mlir::TypeAttr>(kMeanTypeAttr);
    mlir::Type element = chosen ? chosen.getValue() : builder.getF32Type();
    int64_t keys = addPool(plan, loc, "pooled_keys", element, block, problem.getHeadDim());
    int64_t values = addPool(plan, loc, "pooled_values", element, block, problem.getValueDim());
    rest->setAttr(kPooledKeysAttr, builder.getI64IntegerAttr(keys));
    rest->setAttr(kPooledValuesAttr, builder.getI64IntegerAttr(values));
    ProgramBuilder program(pattern, plan, loc,
                           {"pool", {1, block}, tile::HeadKind::Kv, tile::ItemAxis::Keys});
    tile::PoolOp::create(program.builder(), loc, tile::Operand::Keys, program.item(), keys);
    tile::PoolOp::create(program.builder(), loc, tile::Operand::Values, program.item(), values);

    mlir::Value kept = pattern.getClause<ir::KeepOp>().getSet();
    if (isAffine(kept)) {
      std::string reason;
      auto findEntries = [&]() -> LogicalResult {
        PatternFormula formulas(kept, pattern.getNoncausal());
        mlir::FailureOr<Formula> entries = restEntries(formulas, rest, kept);
        if (failed(entries))
          return failure();
        return restVisits(formulas, rest, *entries, shape);
      };
      if (succeedsQuietly(plan.getContext(), findEntries, &reason))
        return success();
      warnOfFallback(loc,
                     "the blocks of the rest have no closed form of bearable size; a kernel of its "
                     "own writes them as bytes",
                     reason);
    }
    mlir::FailureOr<int64_t> covered =
        addCoverProgram(pattern, plan, loc, "rest_covered",
                        pattern.getClause<ir::KeepOp>().getSetMutable(), rest.getQuery(), block);
    if (failed(covered))
      return failure();
    rest->setAttr(kCoveredAttr, builder.getI64IntegerAttr(*covered));
    return success();
  }
};

} // namespace
} // namespace skim
