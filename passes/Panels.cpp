#include "passes/Panels.h"

#include "passes/MapAnalysis.h"
#include "passes/ProgramBuilder.h"
#include "passes/StageBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

namespace arith = mlir::arith;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::Location;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

namespace skim {
namespace {

/// Whether vectors over rows and keys are reduced.
bool joinsVectorsOfPairs(ir::ReduceOp reduce) {
  return llvm::cast<ir::MapType>(reduce.getType()).isVec() && axesOf(reduce.getInput()).key != 0;
}

} // namespace

tile::Reduction reductionOf(ir::ReduceKind kind) {
  switch (kind) {
  case ir::ReduceKind::Sum:
    return tile::Reduction::Sum;
  case ir::ReduceKind::Mean:
    return tile::Reduction::Mean;
  case ir::ReduceKind::Max:
    return tile::Reduction::Max;
  case ir::ReduceKind::Min:
    return tile::Reduction::Min;
  case ir::ReduceKind::Var:
    return tile::Reduction::Var;
  }
  return tile::Reduction::Sum;
}

LogicalResult PanelBuilder::prepare(Value value) {
  llvm::SetVector<Operation *> reached;
  auto reach = [&](Value source) {
    if (Operation *op = source.getDefiningOp(); op && !emitter.getPanel(source))
      reached.insert(op);
  };
  reach(value);
  for (size_t next = 0; next != reached.size(); ++next)
    // What heads are joined of is computed head by head, inside of the reduction.
    if (Operation *op = reached[next]; !joinsHeads(op))
      llvm::for_each(op->getOperands(), reach);
  llvm::SmallVector<Operation *> ops = reached.takeVector();
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops)
    if (failed(build(op)))
      return failure();
  return success();
}

LogicalResult PanelBuilder::prepare(const PatternFormula &formulas) {
  for (const PatternLiteral &literal : formulas.literals())
    if (literal.kind == PatternLiteral::Kind::Set && failed(prepare(literal.source)))
      return failure();
  return success();
}

LogicalResult PanelBuilder::build(Operation *op) {
  if (isPanelSet(op)) {
    if (auto cover = llvm::dyn_cast<ir::CoverOp>(op))
      return buildCover(cover);
    return buildSelection(op);
  }
  if (!isHeavy(op))
    return success();
  if (auto dot = llvm::dyn_cast<ir::DotOp>(op))
    return buildDot(dot);
  if (auto cast = llvm::dyn_cast<ir::CastOp>(op))
    return buildCast(cast);
  if (auto reduce = llvm::dyn_cast<ir::ReduceOp>(op);
      reduce && joinsHeads(op) && joinsVectorsOfPairs(reduce) && failed(buildStacks(reduce)))
    return failure();
  // A panel of a vector for each row and key would be large: they are computed where they are
  // asked for.
  if (llvm::cast<ir::MapType>(op->getResult(0).getType()).isVec() &&
      axesOf(op->getResult(0)).key != 0)
    return success();
  if (auto reduce = llvm::dyn_cast<ir::ReduceOp>(op))
    return buildReduction(reduce);
  if (auto smooth = llvm::dyn_cast<ir::SmoothOp>(op))
    return buildSmooth(smooth);
  return tabulate(op->getResult(0));
}

FailureOr<tile::PanelType> PanelBuilder::panelType(Location loc, const ir::Axes &axes,
                                                   int64_t elements, mlir::Type element) {
  if (axes.diagonal || (elements != 0 && axes.key != 0) ||
      (axes.query != 0 && rows % axes.query != 0))
    return mlir::emitError(loc, "expected a map with cells of ")
           << rows << " rows or a part of them to compute for each row, but got one over '"
           << ir::toString(axes) << "'";
  // What has no query axis is the same for all rows: a panel of it has one.
  int64_t positions = axes.query == 0 ? rows : axes.query;
  return tile::PanelType::get(builder.getContext(), rows / positions, positions, axes.key, elements,
                              element);
}

void PanelBuilder::writeContribution(Value map, mlir::Region &region, int64_t elements,
                                     bool elementColumns) {
  auto type = llvm::cast<ir::MapType>(map.getType());
  writeCells(
      map.getLoc(), type.getAxes(), type.isIndex(), elements, elementColumns,
      [&](ScalarEmitter &, ScalarEmitter::Place &place) { return emitter.emit(map, place); },
      region);
}

void PanelBuilder::writeCells(Location loc, const ir::Axes &axes, bool isIndex, int64_t elements,
                              bool elementColumns, EmitCell emit, mlir::Region &region) {
  llvm::SmallVector<mlir::Type> arguments(elements != 0 ? 3 : 2, builder.getIndexType());
  ProgramBuilder::DetachedRegion where(arguments, loc);
  ScalarEmitter::Place place(where.builder, where.block->getArgument(0),
                             where.block->getArgument(1));
  if (elements != 0)
    place.element = where.block->getArgument(2);
  else if (elementColumns)
    place.element = where.block->getArgument(1);
  if (axes.diagonal) // The key at this distance from the row.
    place.key = arith::SubIOp::create(place.builder, loc, place.query, place.key);
  place.checksExistence = true;
  Scalar scalar = emit(emitter, place);
  tile::YieldOp::create(place.builder, loc, undefinedAsNaN(place.builder, loc, scalar, isIndex));
  region.takeBody(where.region);
}

void PanelBuilder::contribute(Value map, const ir::Axes &axes, int64_t elements) {
  mlir::Region region;
  writeContribution(map, region, elements, /*elementColumns=*/false);
  createContribution(builder, map.getLoc(), item, axes, elements, region);
}

FailureOr<Value> PanelBuilder::tabulate(Value map) {
  Location loc = map.getLoc();
  auto mapType = llvm::cast<ir::MapType>(map.getType());
  int64_t elements = mapType.isVec() ? elementsOf(map, plan) : 0;
  mlir::Type element = mapType.isIndex() ? mlir::Type(builder.getF64Type()) : builder.getF32Type();
  FailureOr<tile::PanelType> type = panelType(loc, mapType.getAxes(), elements, element);
  if (failed(type))
    return failure();
  mlir::Region region;
  writeContribution(map, region, 0, elements != 0);
  auto causal = isCausal(map) && !pattern.getNoncausal() ? builder.getUnitAttr() : nullptr;
  auto panel = tile::ReducePanelOp::create(builder, loc, *type, tile::ReductionAttr(), item, causal,
                                           mlir::IntegerAttr(), mlir::IntegerAttr());
  mlir::OpBuilder body = mlir::OpBuilder::atBlockBegin(&panel.getBody().emplaceBlock());
  ir::Axes cells = mapType.getAxes();
  if (cells.query == 0)
    cells.query = rows;
  createContribution(body, loc, item, cells, 0, region);
  emitter.setPanel(map, panel);
  return Value(panel);
}

FailureOr<Value> PanelBuilder::rowVectors(Value map) {
  if (Value known = emitter.getPanel(map))
    return known;
  llvm::SetVector<Operation *> reached;
  auto reach = [&](Value source) {
    if (Operation *op = source.getDefiningOp(); op && !emitter.getPanel(source))
      reached.insert(op);
  };
  reach(map);
  for (size_t next = 0; next != reached.size(); ++next)
    llvm::for_each(reached[next]->getOperands(), reach);
  for (Operation *op : reached) {
    auto operand = llvm::dyn_cast<ir::OperandOp>(op);
    if (!operand || operand.getKind() != ir::OperandKind::Query)
      continue;
    FailureOr<tile::PanelType> type = panelType(operand.getLoc(), axesOf(operand),
                                                elementsOf(operand, plan), builder.getF32Type());
    if (failed(type))
      return failure();
    emitter.setPanel(operand, tile::LoadPanelOp::create(builder, operand.getLoc(), *type, item,
                                                        mlir::IntegerAttr()));
  }
  if (Value known = emitter.getPanel(map))
    return known;
  return tabulate(map);
}

LogicalResult PanelBuilder::buildDot(ir::DotOp dot) {
  std::optional<SplitDot> split = splitDot(dot);
  if (!split || llvm::cast<ir::MapType>(split->keys->get().getType()).getAxes().key == 0)
    return tabulate(dot);
  FailureOr<Value> vectors = rowVectors(split->rows->get());
  FailureOr<tile::PanelType> type = panelType(dot.getLoc(), axesOf(dot), 0, builder.getF32Type());
  if (failed(vectors) || failed(type))
    return failure();
  Value keys = split->keys->get();
  tile::VectorSource source = tile::VectorSource::Buffer;
  mlir::IntegerAttr slot;
  if (auto operand = keys.getDefiningOp<ir::OperandOp>())
    source = operand.getKind() == ir::OperandKind::Key ? tile::VectorSource::Keys
                                                       : tile::VectorSource::Values;
  else
    slot = builder.getI64IntegerAttr(
        static_cast<int64_t>(keys.getDefiningOp<tile::StoredMapOp>().getSlot()));
  Scalar scale = emitter.emitScale(dot);
  auto visible = dot.getVisible() == ir::Visibility::Any ? tile::Visible::Any : tile::Visible::All;
  emitter.setPanel(dot,
                   tile::DotPanelOp::create(builder, dot.getLoc(), *type, *vectors, source, slot,
                                            headKind(axesOf(keys).head),
                                            undefinedAsNaN(builder, dot.getLoc(), scale), visible,
                                            pattern.getNoncausal(), item, mlir::IntegerAttr()));
  return success();
}

LogicalResult PanelBuilder::buildReduction(ir::ReduceOp reduce) {
  Location loc = reduce.getLoc();
  Value input = reduce.getInput();
  auto mapType = llvm::cast<ir::MapType>(reduce.getType());
  if (joinsVectorsOfPairs(reduce))
    return tabulate(reduce);
  int64_t elements = mapType.isVec() ? elementsOf(reduce, plan) : 0;
  mlir::Type element = mapType.isIndex() ? mlir::Type(builder.getF64Type()) : builder.getF32Type();
  FailureOr<tile::PanelType> type = panelType(loc, mapType.getAxes(), elements, element);
  if (failed(type))
    return failure();
  mlir::Region region;
  if (!joinsHeads(reduce))
    writeContribution(input, region, 0, elements != 0);
  auto causal = isCausal(input) && !pattern.getNoncausal() ? builder.getUnitAttr() : nullptr;
  auto panel = tile::ReducePanelOp::create(
      builder, loc, *type,
      tile::ReductionAttr::get(builder.getContext(), reductionOf(reduce.getKind())), item, causal,
      mlir::IntegerAttr(), mlir::IntegerAttr());
  mlir::OpBuilder body = mlir::OpBuilder::atBlockBegin(&panel.getBody().emplaceBlock());
  if (joinsHeads(reduce)) {
    mlir::Block &block = createHeadLoop(body, loc, item, axesOf(input).head, axesOf(reduce).head);
    InnerItem inner(pattern, plan, block);
    PanelBuilder panels(pattern, plan, block.getArgument(0), rows, inner.builder, inner.emitter);
    if (failed(panels.prepare(input)))
      return failure();
    mlir::Region innerRegion;
    panels.writeContribution(input, innerRegion, 0, elements != 0);
    createContribution(inner.builder, loc, block.getArgument(0), axesOf(input), 0, innerRegion);
    if (failed(inner.emitter.status()))
      return failure();
  } else {
    createContribution(body, loc, item, axesOf(input), 0, region);
  }
  emitter.setPanel(reduce, panel);
  return success();
}

LogicalResult PanelBuilder::buildSmooth(ir::SmoothOp smooth) {
  Location loc = smooth.getLoc();
  if (failed(prepare(smooth.getInput())))
    return failure();
  Value input = emitter.getPanel(smooth.getInput());
  if (!input) {
    FailureOr<Value> panel = tabulate(smooth.getInput());
    if (failed(panel))
      return failure();
    input = *panel;
  }
  Scalar width = emitter.uniform(smooth.getWidth());
  auto type = llvm::cast<tile::PanelType>(input.getType());
  emitter.setPanel(smooth, tile::SmoothPanelOp::create(builder, loc, type, input, width.value, item,
                                                       mlir::IntegerAttr()));
  return success();
}

LogicalResult PanelBuilder::buildCast(ir::CastOp cast) {
  Location loc = cast.getLoc();
  ir::Axes axes = axesOf(cast);
  FailureOr<tile::PanelType> type = panelType(loc, axes, 0, builder.getF32Type());
  if (failed(type))
    return failure();
  ProgramBuilder::DetachedRegion where({builder.getIndexType(), builder.getIndexType()}, loc);
  ScalarEmitter::Place place(where.builder, where.block->getArgument(0),
                             where.block->getArgument(1));
  Value largest = undefinedAsNaN(place.builder, loc, emitter.emitMagnitude(cast, place));
  tile::YieldOp::create(place.builder, loc, largest);
  auto panel =
      tile::ReducePanelOp::create(builder, loc, *type, tile::ReductionAttr(), item,
                                  mlir::UnitAttr(), mlir::IntegerAttr(), mlir::IntegerAttr());
  mlir::OpBuilder body = mlir::OpBuilder::atBlockBegin(&panel.getBody().emplaceBlock());
  createContribution(body, loc, item, axes, 0, where.region);
  emitter.setMagnitudes(cast, panel);
  return success();
}

LogicalResult PanelBuilder::buildSelection(Operation *op) {
  Location loc = op->getLoc();
  ir::Axes axes = axesOf(op->getResult(0));
  bool topK = llvm::isa<ir::TopKOp>(op);
  FailureOr<tile::PanelType> type = panelType(loc, axes, 0, builder.getI1Type());
  if (failed(type))
    return failure();
  Value amount = selectionAmount(builder, loc, emitter.uniform(op->getOperand(1)));
  ProgramBuilder::DetachedRegion where({builder.getIndexType(), builder.getIndexType()}, loc);
  ScalarEmitter::Place place(where.builder, where.block->getArgument(0),
                             where.block->getArgument(1));
  place.checksExistence = true;
  Scalar score = emitter.emit(op->getOperand(0), place);
  tile::YieldOp::create(place.builder, loc, undefinedAsNaN(place.builder, loc, score));
  tile::Selection kind = topK ? tile::Selection::TopK : tile::Selection::TopP;
  auto panel = tile::SelectPanelOp::create(builder, loc, *type, kind, amount, item,
                                           mlir::IntegerAttr(), mlir::IntegerAttr());
  panel.getBody().takeBody(where.region);
  emitter.setPanel(op->getResult(0), panel);
  return success();
}

LogicalResult PanelBuilder::buildCover(ir::CoverOp cover) {
  Location loc = cover.getLoc();
  ir::Axes from = axesOf(cover.getSet());
  // A row at a time: whether a cell holds a visible pair, its first key tells.
  auto block = static_cast<int64_t>(cover.getKey());
  ir::Axes pairs{from.head, 1, from.diagonal ? 1 : std::gcd(from.key, block), false};
  ir::Axes to{from.head, static_cast<int64_t>(cover.getQuery().value_or(1)), block, false};
  FailureOr<tile::PanelType> type = panelType(loc, to, 0, builder.getF32Type());
  if (failed(type))
    return failure();
  ProgramBuilder::DetachedRegion where({builder.getIndexType(), builder.getIndexType()}, loc);
  Value query = where.block->getArgument(0), key = where.block->getArgument(1);
  ScalarEmitter::Place place(where.builder, query, key);
  Value holds = emitter.holds(cover.getSet(), place);
  if (!pattern.getNoncausal())
    holds = both(place.builder, loc, holds,
                 arith::CmpIOp::create(place.builder, loc, arith::CmpIPredicate::sge, query, key));
  Value one = arith::ConstantOp::create(place.builder, loc, place.builder.getF32FloatAttr(1));
  tile::YieldOp::create(place.builder, loc, undefinedAsNaN(place.builder, loc, {one, holds}));
  auto causal = pattern.getNoncausal() ? nullptr : builder.getUnitAttr();
  auto panel = tile::ReducePanelOp::create(
      builder, loc, *type, tile::ReductionAttr::get(builder.getContext(), tile::Reduction::Max),
      item, causal, mlir::IntegerAttr(), mlir::IntegerAttr());
  mlir::OpBuilder body = mlir::OpBuilder::atBlockBegin(&panel.getBody().emplaceBlock());
  createContribution(body, loc, item, pairs, 0, where.region);
  emitter.setPanel(cover, panel);
  return success();
}

} // namespace skim
