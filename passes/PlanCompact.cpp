#include "passes/MapAnalysis.h"
#include "passes/Panels.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"
#include "passes/ProgramBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::Value;

namespace skim {
#define GEN_PASS_DEF_PLANCOMPACT
#include "passes/Passes.h.inc"

namespace {

struct PlanCompactPass : impl::PlanCompactBase<PlanCompactPass> {
  void runOnOperation() override {
    for (auto attend : getOperation().getOps<ir::AttendOp>()) {
      mlir::FailureOr<PlannedPattern> planned = lookupPlanned(attend);
      if (failed(planned))
        return signalPassFailure();
      auto compact = planned->pattern.getClause<ir::CompactOp>();
      if (compact && failed(plan(planned->pattern, planned->plan, compact)))
        return signalPassFailure();
    }
  }

  static LogicalResult plan(ir::PatternOp pattern, tile::PlanOp plan, ir::CompactOp compact) {
    mlir::Location loc = compact.getLoc();
    Value set = compact.getSet();
    ir::Axes axes = axesOf(set);
    plan.setCompactHeads(headKind(axes.head));
    ProgramBuilder program(pattern, plan, loc,
                           {"compact", {1, 1}, headKind(axes.head), tile::ItemAxis::None});
    PanelBuilder panels(pattern, plan, program.item(), /*rows=*/0, program.builder(),
                        program.scalars());
    if (failed(panels.prepare(set)))
      return failure();
    ProgramBuilder::DetachedRegion where({program.index(), program.index()}, loc);
    ScalarEmitter::Place place(where.builder, where.block->getArgument(0),
                               where.block->getArgument(1));
    place.checksExistence = true;
    tile::YieldOp::create(place.builder, loc, program.scalars().holds(set, place));
    auto store = tile::StorePositionsOp::create(program.builder(), loc, program.item(), axes.key);
    store.getBody().takeBody(where.region);
    compact.erase();
    return program.scalars().status();
  }
};

} // namespace
} // namespace skim
