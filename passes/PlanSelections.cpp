#include "passes/ByteMaps.h"
#include "passes/MapAnalysis.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"
#include "passes/ProgramBuilder.h"
#include "passes/StageBuffers.h"
#include "passes/Stages.h"
#include "passes/Visits.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace arith = mlir::arith;
using mlir::failed;
using mlir::failure;
using mlir::Location;
using mlir::LogicalResult;
using mlir::success;
using mlir::Value;

namespace skim {
#define GEN_PASS_DEF_PLANSELECTIONS
#include "passes/Passes.h.inc"

namespace {

class SelectionPlanner {
public:
  SelectionPlanner(ir::PatternOp pattern, tile::PlanOp plan) : pattern(pattern), plan(plan) {}

  LogicalResult run(TileShape attentionShape) {
    findScalarSets();
    // Also those that nothing needs: out of range, their entries set the status (rule 15).
    for (auto list :
         llvm::make_early_inc_range(pattern.getBody().front().getOps<ir::InputListOp>()))
      planList(list);
    if (failed(planSelectionsAndCovers()))
      return failure();
    // Covers in closed form can still make the whole set's closed form too large.
    auto keep = pattern.getClause<ir::KeepOp>();
    return storeCoversWithin(pattern, plan, keep.getLoc(), keep.getSetMutable(), attentionShape);
  }

private:
  /// Sets that an expression over cells asks for pair by pair: what `where` filters by, and what a
  /// cover that is decided row by row covers.
  void findScalarSets() {
    for (mlir::Operation &op : llvm::reverse(pattern.getBody().front()))
      if (llvm::isa<ir::WhereOp>(op) || isPanelSet(&op) || scalarSets.contains(&op))
        for (Value operand : op.getOperands())
          if (mlir::Operation *source = operand.getDefiningOp())
            if (llvm::isa<ir::SetType>(operand.getType()))
              scalarSets.insert(source);
  }

  bool hasClosedForm(ir::CoverOp cover) {
    if (scalarSets.contains(cover) || !isAffine(cover.getSet()))
      return false;
    std::string reason;
    auto convert = [&]() -> LogicalResult {
      return PatternFormula(cover, pattern.getNoncausal()).convert(cover);
    };
    if (succeedsQuietly(cover.getContext(), convert, &reason))
      return true;
    warnOfFallback(cover.getLoc(), kByteMap, reason);
    return false;
  }

  /// Selections, and covers that have no closed form. Storing covers for the sake of one around
  /// them takes the closed form of others around them, so those are looked at again.
  LogicalResult planSelectionsAndCovers() {
    for (bool again = true; again;) {
      again = false;
      for (mlir::Operation *op : neededOperations(pattern)) {
        LogicalResult planned = success();
        if (op->getNumResults() != 0 && llvm::isa<ir::MapType>(op->getResult(0).getType())) {
          planned = planStage(pattern, plan, op);
        } else if (isPanelSet(op)) {
          continue; // Decided where it is used, row by row.
        } else if (llvm::isa<ir::TopKOp, ir::TopPOp>(op)) {
          planned = planSelection(op);
        } else if (auto cover = llvm::dyn_cast<ir::CoverOp>(op); cover && !hasClosedForm(cover)) {
          again |= !coversWithin(cover.getSet()).empty();
          planned = storeCover(pattern, plan, cover);
        }
        if (failed(planned))
          return failure();
      }
    }
    return success();
  }

  mlir::Type f32Type() { return mlir::Float32Type::get(plan.getContext()); }

  static tile::ItemAxis itemAxis(const ir::Axes &axes) {
    return axes.query ? tile::ItemAxis::Queries : tile::ItemAxis::None;
  }

  void planList(ir::InputListOp list) {
    ir::Axes axes = llvm::cast<ir::SetType>(list.getType()).getAxes();
    Location loc = list.getLoc();
    int64_t input = plan.getInput(list.getName()).getSlot();
    int64_t keyCell = axes.diagonal ? 1 : axes.key;
    int64_t slot = addByteMap(plan, loc, "list", axes);
    ProgramBuilder program(pattern, plan, loc,
                           {"scatter_list",
                            {std::max<int64_t>(axes.query, 1), keyCell},
                            headKind(axes.head),
                            itemAxis(axes)});
    mlir::OpBuilder &builder = program.builder();
    tile::ScatterListOp::create(builder, loc, input, builder.getI64IntegerAttr(input + 1),
                                headKind(axes.head), axes.query, keyCell, slot, program.item());
    replaceByStored(list, slot);
  }

  LogicalResult planSelection(mlir::Operation *op) {
    ir::Axes axes = llvm::cast<ir::SetType>(op->getResult(0).getType()).getAxes();
    Location loc = op->getLoc();
    int64_t keyCell = axes.diagonal ? 1 : axes.key;
    bool topK = llvm::isa<ir::TopKOp>(op);
    int64_t slot = addByteMap(plan, loc, "selected", axes);
    int64_t scratch = addCells(plan, loc, "scores", axes, f32Type(), topK ? 1 : 2,
                               /*zeroed=*/false);
    ProgramBuilder program(pattern, plan, loc,
                           {"select",
                            {std::max<int64_t>(axes.query, 1), keyCell},
                            headKind(axes.head),
                            itemAxis(axes)});
    Value amount =
        selectionAmount(program.builder(), loc, program.scalars().uniform(op->getOperand(1)));

    ProgramBuilder::DetachedRegion where({program.index(), program.index()}, loc);
    mlir::OpBuilder &builder = where.builder;
    Value query = where.block->getArgument(0), key = where.block->getArgument(1);
    if (axes.diagonal) // The key at this distance from the row.
      key = arith::SubIOp::create(builder, loc, query, key);
    ScalarEmitter::Place place(builder, query, key);
    place.checksExistence = true;
    Scalar score = program.scalars().emit(op->getOperand(0), place);
    Value value = score.value;
    if (!llvm::isa<mlir::FloatType>(value.getType()))
      value = arith::SIToFPOp::create(
          builder, loc, builder.getF32Type(),
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value));
    Value exists =
        score.defined ? score.defined : Value(arith::ConstantIntOp::create(builder, loc, 1, 1));
    tile::YieldOp::create(builder, loc, mlir::ValueRange{value, exists});
    auto select = tile::SelectOp::create(
        program.builder(), loc, topK ? tile::Selection::TopK : tile::Selection::TopP, amount,
        axes.query, keyCell, axes.diagonal, axes.diagonal && pattern.getNoncausal(), scratch, slot,
        program.item());
    select.getBody().takeBody(where.region);
    replaceByStored(op, slot);
    return program.scalars().status();
  }

  ir::PatternOp pattern;
  tile::PlanOp plan;
  llvm::SmallPtrSet<mlir::Operation *, 8> scalarSets;
};

struct PlanSelectionsPass : impl::PlanSelectionsBase<PlanSelectionsPass> {
  void runOnOperation() override {
    for (auto attend : llvm::make_early_inc_range(getOperation().getOps<ir::AttendOp>())) {
      mlir::FailureOr<PlannedPattern> planned = lookupPlanned(attend);
      if (failed(planned) ||
          failed(SelectionPlanner(planned->pattern, planned->plan).run(planned->shape())))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace skim
