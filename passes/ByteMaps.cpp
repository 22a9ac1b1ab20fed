#include "passes/ByteMaps.h"

#include "dialect/Skim/TypeRules.h"
#include "passes/MapAnalysis.h"
#include "passes/Panels.h"
#include "passes/PatternSlice.h"
#include "passes/ProgramBuilder.h"
#include "passes/StageBuffers.h"
#include "passes/Stages.h"
#include "passes/Visits.h"

#include <numeric>

using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::success;
using mlir::Value;

namespace skim {
int64_t addByteMap(tile::PlanOp plan, mlir::Location loc, llvm::StringRef name,
                   const ir::Axes &axes) {
  auto byte = mlir::IntegerType::get(plan.getContext(), 8, mlir::IntegerType::Unsigned);
  return addCells(plan, loc, name, axes, byte, 1, /*zeroed=*/true);
}

void replaceByStored(mlir::Operation *set, int64_t slot) {
  mlir::OpBuilder builder(set);
  set->replaceAllUsesWith(
      tile::StoredSetOp::create(builder, set->getLoc(), set->getResult(0).getType(), slot));
  set->erase();
}

/// The blocks of a cover as a set of their own, by a reduction over the pairs: for sets that are
/// computed for cells of rows that do not divide a block.
static FailureOr<Value> reduceToBlocks(ir::PatternOp pattern, tile::PlanOp plan, mlir::Location loc,
                                       mlir::OpOperand &operand, int64_t queryBlock,
                                       int64_t keyBlock) {
  for (ir::CoverOp cover : coversWithin(operand.get()))
    if (failed(storeCover(pattern, plan, cover)))
      return failure();
  mlir::OpBuilder builder(operand.getOwner());
  mlir::AffineExpr query = builder.getAffineDimExpr(0), key = builder.getAffineDimExpr(1);
  Value set = operand.get();
  if (!pattern.getNoncausal()) {
    Value seen = ir::AffineSetOp::create(
        builder, loc, mlir::IntegerSet::get(2, 0, {query - key}, {false}), mlir::ValueRange());
    set = ir::AndOp::create(builder, loc, mlir::ValueRange{set, seen});
  }
  // A number for each pair that is not negative, though rows may be.
  Value numbers = ir::PositionOp::create(
      builder, loc, mlir::AffineMap::get(2, 0, (query + key) % 2), mlir::ValueRange());
  auto type = llvm::cast<ir::MapType>(numbers.getType());
  ir::HeadAxis head = axesOf(set).head;
  Value pairs =
      ir::WhereOp::create(builder, loc, type.withAxes(type.getAxes().withHead(head)), numbers, set);
  auto largest = ir::ReduceOp::create(
      builder, loc, type.withAxes({head, queryBlock, keyBlock, false}), ir::ReduceKind::Max, pairs);
  Value zero = ir::ConstantOp::create(builder, loc, builder.getIndexAttr(0));
  ir::RuleViolation why;
  auto setType = ir::inferCompare(llvm::cast<ir::MapType>(largest.getType()),
                                  llvm::cast<ir::MapType>(zero.getType()), why);
  Value blocks = ir::CompareOp::create(builder, loc, *setType, ir::Comparison::Ge, largest, zero);
  if (failed(storeStage(pattern, plan, largest)))
    return failure();
  return blocks;
}

FailureOr<int64_t> addCoverProgram(ir::PatternOp pattern, tile::PlanOp plan, mlir::Location loc,
                                   llvm::StringRef name, mlir::OpOperand &operand,
                                   int64_t queryBlock, int64_t keyBlock) {
  constexpr int64_t kRowsAtOnce = 64;
  TileShape shape{queryBlock ? queryBlock : kRowsAtOnce, keyBlock};
  if (failed(storeCoversWithin(pattern, plan, loc, operand, shape)))
    return failure();
  Value set = operand.get();
  if (shape.rows % rowsOfPanels(set) != 0) {
    FailureOr<Value> blocks = reduceToBlocks(pattern, plan, loc, operand, queryBlock, keyBlock);
    if (failed(blocks))
      return failure();
    set = *blocks;
  }
  PatternFormula formulas(set, pattern.getNoncausal());
  FailureOr<VisitedSet> visited = visitSet(loc, formulas, set, shape);
  if (failed(visited))
    return failure();

  ir::HeadAxis head = llvm::cast<ir::SetType>(set.getType()).getAxes().head;
  int64_t slot = addByteMap(plan, loc, name, {head, queryBlock ? queryBlock : 1, keyBlock, false});
  ProgramBuilder program(pattern, plan, loc,
                         {name, shape, headKind(head), tile::ItemAxis::Queries});
  mlir::MLIRContext *context = plan.getContext();
  PanelBuilder panels(pattern, plan, program.item(), shape.rows, program.builder(),
                      program.scalars());
  if (failed(panels.prepare(formulas)))
    return failure();
  ProgramBuilder::Visible visible = program.materialize(formulas);
  ProgramBuilder::DetachedRegion body({tile::VisitType::get(context)}, loc);
  Value visit = body.block->getArgument(0);
  ProgramBuilder::DetachedRegion where({program.index(), program.index()}, loc);
  Value holds = ProgramBuilder::emit(visited->mask, visible, where.builder, loc,
                                     where.block->getArgument(0), where.block->getArgument(1));
  tile::YieldOp::create(where.builder, loc, holds);
  auto cells =
      tile::FragmentType::get(context, queryBlock ? 1 : shape.rows, 1, where.builder.getI1Type());
  // Apart from causality the set is constant on the cells of its axes.
  ir::Axes axes = axesOf(set);
  int64_t queryCell = queryBlock == 0 || axes.diagonal ? 1 : std::gcd(axes.query, queryBlock);
  int64_t keyCell = axes.diagonal ? 1 : std::gcd(axes.key, keyBlock);
  auto any = tile::AnyOp::create(body.builder, loc, cells, visit, queryCell, keyCell);
  any.getBody().takeBody(where.region);
  tile::StoreCellOp::create(body.builder, loc, any, visit, slot);
  tile::YieldOp::create(body.builder, loc, mlir::ValueRange());

  mlir::OpBuilder &builder = program.builder();
  auto forEach = tile::ForEachVisitOp::create(
      builder, loc, mlir::TypeRange(), program.item(), visible.symbols, visible.literals,
      mlir::ValueRange(), program.intervals(visited->visits.touched), builder.getArrayAttr({}),
      tile::SourceAttr::get(context, false, 0, 0, 1));
  forEach.getBody().takeBody(body.region);
  if (failed(program.scalars().status()))
    return failure();
  return slot;
}

LogicalResult storeCover(ir::PatternOp pattern, tile::PlanOp plan, ir::CoverOp cover) {
  FailureOr<int64_t> slot =
      addCoverProgram(pattern, plan, cover.getLoc(), "cover", cover.getSetMutable(),
                      cover.getQuery().value_or(0), cover.getKey());
  if (failed(slot))
    return failure();
  replaceByStored(cover, *slot);
  return success();
}

LogicalResult storeCoversWithin(ir::PatternOp pattern, tile::PlanOp plan, mlir::Location loc,
                                mlir::OpOperand &operand, TileShape shape) {
  llvm::SmallVector<ir::CoverOp> covers = coversWithin(operand.get());
  if (covers.empty() || succeedsQuietly(plan.getContext(), [&]() -> LogicalResult {
        PatternFormula formulas(operand.get(), pattern.getNoncausal());
        FailureOr<VisitedSet> visited = visitSet(loc, formulas, operand.get(), shape);
        return success(succeeded(visited) && !visited->testsEveryPair);
      }))
    return success();
  for (ir::CoverOp cover : covers) {
    warnOfFallback(cover.getLoc(), kByteMap,
                   "in closed form it makes the closed form of the set around it too large");
    if (failed(storeCover(pattern, plan, cover)))
      return failure();
  }
  return success();
}

} // namespace skim
