#include "passes/Stages.h"

#include "passes/MapAnalysis.h"
#include "passes/Panels.h"
#include "passes/PatternSlice.h"
#include "passes/ProgramBuilder.h"
#include "passes/StageBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>
#include <vector>

namespace arith = mlir::arith;
using llvm::SmallVector;
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

/// On a reduction that a program computes already: the slot of its cells.
constexpr llvm::StringLiteral kReducedAttr = "tile.reduced";

/// Keys of a work item: whole cells, and enough of them that an item is worth its start.
int64_t keyTile(int64_t cell) {
  constexpr int64_t kKeysAtLeast = 64;
  return cell * llvm::divideCeil(kKeysAtLeast, cell);
}

/// How many positions of rows are taken in at a time for cells of `queryCell` positions: whole
/// cells of `finest`.
int64_t rowsAtOnce(int64_t queryCell, int64_t finest) {
  constexpr int64_t kMostRows = 256, kRows = 64;
  if (queryCell == 0)
    return finest <= kRows ? kRows / finest * finest : finest;
  if (queryCell <= kMostRows)
    return queryCell;
  for (int64_t unit : {std::lcm(finest, kCoarsestFineRows), finest})
    for (int64_t rows = kMostRows / unit * unit; rows > 0; rows -= unit)
      if (queryCell % rows == 0)
        return rows;
  // Cells as coarse as the result's are taken in as one row.
  return queryCell;
}

llvm::StringRef stageName(Operation *op) {
  return llvm::TypeSwitch<Operation *, llvm::StringRef>(op)
      .Case([](ir::ReduceOp) { return "reduced"; })
      .Case([](ir::DotOp) { return "scores"; })
      .Case([](ir::LinearOp) { return "projected"; })
      .Case([](ir::CastOp) { return "cast"; })
      .Case([](ir::SmoothOp) { return "smoothed"; })
      .Default([](Operation *) { return "vectors"; });
}

/// Plans the stage of one operation.
class StagePlanner {
public:
  StagePlanner(ir::PatternOp pattern, tile::PlanOp plan) : pattern(pattern), plan(plan) {}

  LogicalResult run(Operation *op) {
    if (failed(checkVectors(op)))
      return failure();
    // Distances are joined into cells by programs of their own too.
    if (isHeavy(op) && (!isFine(axesOf(op->getResult(0))) || axesOf(op->getOperand(0)).diagonal))
      return store(op);
    if (auto dot = llvm::dyn_cast<ir::DotOp>(op))
      return storeKeys(dot);
    return success();
  }

  LogicalResult store(Operation *op);

private:
  /// Vectors that meet have one length, which only the problem and the inputs tell.
  LogicalResult checkVectors(Operation *op);
  /// The keys of a product over fine rows are loaded as they are: what is more is stored.
  LogicalResult storeKeys(ir::DotOp dot);
  FailureOr<int64_t> storeReduction(ir::ReduceOp reduce);
  /// The reductions that one program computes together with `reduce`, which is the first: of the
  /// same cells, which take panels, into results of the same rows and heads.
  SmallVector<ir::ReduceOp> sharers(ir::ReduceOp reduce);
  /// Stores a map of `type`, each cell computed at its place. `prepare` computes ahead in the
  /// program, of all keys at once where `wholeRows`; `emit` gives the cell.
  FailureOr<int64_t> storeEach(Location loc, llvm::StringRef name, ir::MapType type,
                               int64_t elements, bool causal, bool wholeRows,
                               llvm::function_ref<LogicalResult(PanelBuilder &)> prepare,
                               PanelBuilder::EmitCell emit);

  /// The buffer of a stored map, and the operation that will write it.
  int64_t addResult(Location loc, llvm::StringRef name, ir::MapType type, int64_t elements) {
    mlir::Builder types(plan.getContext());
    mlir::Type element = type.isIndex() ? mlir::Type(types.getF64Type()) : types.getF32Type();
    return addCells(plan, loc, name, type.getAxes(), element, std::max<int64_t>(elements, 1),
                    /*zeroed=*/false);
  }
  tile::ReduceCellsOp createReduction(mlir::OpBuilder &builder, Location loc, Value item,
                                      const ir::Axes &axes, int64_t elements, bool causal,
                                      int64_t slot, tile::ReductionAttr kind);

  ir::PatternOp pattern;
  tile::PlanOp plan;
};

LogicalResult StagePlanner::checkVectors(Operation *op) {
  if (op->getNumResults() == 0 || llvm::isa<ir::LinearOp>(op))
    return success();
  std::optional<int64_t> length;
  for (Value operand : op->getOperands()) {
    auto map = llvm::dyn_cast<ir::MapType>(operand.getType());
    if (!map || !map.isVec())
      continue;
    int64_t elements = elementsOf(operand, plan);
    if (length.value_or(elements) != elements)
      return op->emitError("expected vectors of one length but got ")
             << *length << " and " << elements << " elements";
    length = elements;
  }
  return success();
}

LogicalResult StagePlanner::storeKeys(ir::DotOp dot) {
  std::optional<SplitDot> split = splitDot(dot);
  if (!split)
    return success();
  Operation *keys = split->keys->get().getDefiningOp();
  if (llvm::isa<ir::OperandOp, tile::StoredMapOp>(keys))
    return success();
  return store(keys);
}

tile::ReduceCellsOp StagePlanner::createReduction(mlir::OpBuilder &builder, Location loc,
                                                  Value item, const ir::Axes &axes,
                                                  int64_t elements, bool causal, int64_t slot,
                                                  tile::ReductionAttr kind) {
  auto unit = [&](bool holds) { return holds ? builder.getUnitAttr() : mlir::UnitAttr(); };
  auto reduce = tile::ReduceCellsOp::create(
      builder, loc, kind, item, unit(causal && !pattern.getNoncausal()),
      unit(pattern.getNoncausal()), builder.getI64IntegerAttr(slot),
      tile::HeadKindAttr::get(builder.getContext(), headKind(axes.head)),
      builder.getI64IntegerAttr(axes.query),
      builder.getI64IntegerAttr(axes.diagonal ? 1 : axes.key), unit(axes.diagonal),
      elements ? builder.getI64IntegerAttr(elements) : mlir::IntegerAttr(), mlir::IntegerAttr());
  reduce.getBody().emplaceBlock();
  return reduce;
}

FailureOr<int64_t>
StagePlanner::storeEach(Location loc, llvm::StringRef name, ir::MapType type, int64_t elements,
                        bool causal, bool wholeRows,
                        llvm::function_ref<LogicalResult(PanelBuilder &)> prepare,
                        PanelBuilder::EmitCell emit) {
  ir::Axes axes = type.getAxes();
  int64_t slot = addResult(loc, name, type, elements);
  bool alongKeys = axes.query == 0 && axes.key != 0 && !wholeRows;
  tile::ItemAxis axis = axes.query  ? tile::ItemAxis::Queries
                        : alongKeys ? tile::ItemAxis::Keys
                                    : tile::ItemAxis::None;
  ProgramBuilder program(pattern, plan, loc,
                         {name,
                          {std::max<int64_t>(axes.query, 1), alongKeys ? keyTile(axes.key) : 1},
                          headKind(axes.head),
                          axis});
  if (wholeRows && axes.query == 0) {
    // One row stands for all: that of the last position, which exists where any does.
    mlir::OpBuilder &builder = program.builder();
    Value length = tile::UniformOp::create(builder, loc, builder.getIndexType(),
                                           tile::UniformKind::KvLen, program.item());
    Value last = arith::SubIOp::create(builder, loc, length,
                                       arith::ConstantIndexOp::create(builder, loc, 1));
    tile::ReduceCellsOp reduce =
        createReduction(builder, loc, program.item(), axes, elements, causal, slot, {});
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&reduce.getBody().front());
    mlir::Block &block = createRowLoop(inside, loc, program.item(), /*rows=*/1, last);
    InnerItem inner(pattern, plan, block);
    Value item = block.getArgument(0);
    Value row = tile::UniformOp::create(inner.builder, loc, builder.getIndexType(),
                                        tile::UniformKind::FirstRow, item);
    PanelBuilder panels(pattern, plan, item, /*rows=*/1, inner.builder, inner.emitter);
    if (failed(prepare(panels)))
      return failure();
    mlir::Region region;
    auto emitAtRow = [&](ScalarEmitter &emitter, ScalarEmitter::Place &place) {
      place.query = row;
      return emit(emitter, place);
    };
    panels.writeCells(loc, axes, type.isIndex(), elements, /*elementColumns=*/false, emitAtRow,
                      region);
    createContribution(inner.builder, loc, item, axes, elements, region);
    if (failed(program.scalars().status()) || failed(inner.emitter.status()))
      return failure();
    return slot;
  }
  PanelBuilder panels(pattern, plan, program.item(), axes.query, program.builder(),
                      program.scalars());
  if (failed(prepare(panels)))
    return failure();
  mlir::Region region;
  panels.writeCells(loc, axes, type.isIndex(), elements, /*elementColumns=*/false, emit, region);
  tile::ReduceCellsOp reduce =
      createReduction(program.builder(), loc, program.item(), axes, elements, causal, slot, {});
  mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&reduce.getBody().front());
  createContribution(inside, loc, program.item(), axes, elements, region);
  if (failed(program.scalars().status()))
    return failure();
  return slot;
}

SmallVector<ir::ReduceOp> StagePlanner::sharers(ir::ReduceOp reduce) {
  SmallVector<ir::ReduceOp> list = {reduce};
  ir::Axes from = axesOf(reduce.getInput()), to = axesOf(reduce);
  if (from.query == 0 || !needsPanels(reduce.getInput()))
    return list;
  for (Operation *op : neededOperations(pattern)) {
    auto other = llvm::dyn_cast<ir::ReduceOp>(op);
    if (!other || other == reduce || other.getInput() != reduce.getInput())
      continue;
    ir::Axes axes = axesOf(other);
    if (axes.head == to.head && axes.query == to.query && !isFine(axes))
      list.push_back(other);
  }
  return list;
}

FailureOr<int64_t> StagePlanner::storeReduction(ir::ReduceOp reduce) {
  if (auto planned = reduce->getAttrOfType<mlir::IntegerAttr>(kReducedAttr))
    return planned.getInt();
  Location loc = reduce.getLoc();
  Value source = reduce.getInput();
  auto type = llvm::cast<ir::MapType>(reduce.getType());
  ir::Axes to = type.getAxes(), from = axesOf(source);
  int64_t elements = type.isVec() ? elementsOf(source, plan) : 0;
  // Where cells are computed for rows that do not divide those of a result, an item has several.
  int64_t rowsOfCells = std::max(std::max<int64_t>(from.query, 1), rowsOfPanels(source));
  int64_t itemRows = to.query ? std::lcm(to.query, rowsOfPanels(source)) : 0;
  int64_t rows = rowsAtOnce(itemRows, rowsOfCells);
  bool joinsHeads = from.head != to.head;
  bool joinsRows = from.query != 0 && (to.query == 0 || itemRows > rows);
  bool alongKeys = to.query == 0 && from.query == 0 && to.key != 0;
  tile::ItemAxis axis = to.query    ? tile::ItemAxis::Queries
                        : alongKeys ? tile::ItemAxis::Keys
                                    : tile::ItemAxis::None;
  SmallVector<ir::ReduceOp> reductions = sharers(reduce);
  SmallVector<int64_t> slots;
  mlir::Builder attributes(plan.getContext());
  for (ir::ReduceOp shared : reductions) {
    auto result = llvm::cast<ir::MapType>(shared.getType());
    slots.push_back(addResult(shared.getLoc(), "reduced", result, elements));
    shared->setAttr(kReducedAttr, attributes.getI64IntegerAttr(slots.back()));
  }
  ProgramBuilder program(pattern, plan, loc,
                         {"reduced",
                          {to.query ? itemRows : rows, alongKeys ? keyTile(to.key) : 1},
                          headKind(to.head),
                          axis});
  mlir::OpBuilder &builder = program.builder();
  auto create = [&](mlir::OpBuilder &at, unsigned number) {
    ir::ReduceOp shared = reductions[number];
    auto kind = tile::ReductionAttr::get(at.getContext(), reductionOf(shared.getKind()));
    return createReduction(at, shared.getLoc(), program.item(), axesOf(shared), elements,
                           isCausal(source), slots[number], kind);
  };
  if (!joinsHeads && !joinsRows) {
    PanelBuilder panels(pattern, plan, program.item(), itemRows, builder, program.scalars());
    if (failed(panels.prepare(source)))
      return failure();
    for (unsigned number = 0; number != reductions.size(); ++number) {
      mlir::Region region;
      panels.writeContribution(source, region, elements, /*elementColumns=*/false);
      tile::ReduceCellsOp op = create(builder, number);
      mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&op.getBody().front());
      createContribution(inside, loc, program.item(), from, elements, region);
    }
    if (failed(program.scalars().status()))
      return failure();
    return slots.front();
  }

  // Rows that a `last` leaves undefined are not looked at.
  Value first;
  if (Value count = joinsRows ? lastRows(source) : Value();
      count && axesOf(count).head <= to.head) {
    Value length = tile::UniformOp::create(builder, loc, builder.getIndexType(),
                                           tile::UniformKind::KvLen, program.item());
    first = arith::SubIOp::create(builder, loc, length, program.scalars().uniform(count).value);
  }
  // Each reduction stands in the one before; the loops are in the last.
  mlir::OpBuilder inside = builder;
  mlir::Block *block = nullptr;
  for (unsigned number = 0; number != reductions.size(); ++number) {
    block = &create(number == 0 ? builder : inside, number).getBody().front();
    inside.setInsertionPointToEnd(block);
  }
  Value item = program.item();
  if (joinsHeads) {
    block = &createHeadLoop(inside, loc, item, from.head, to.head);
    item = block->getArgument(0);
    inside.setInsertionPointToEnd(block);
  }
  if (joinsRows) {
    block = &createRowLoop(inside, loc, item, rows, first);
    item = block->getArgument(0);
  }
  InnerItem inner(pattern, plan, *block);
  PanelBuilder panels(pattern, plan, item, joinsRows ? rows : itemRows, inner.builder,
                      inner.emitter);
  if (failed(panels.prepare(source)))
    return failure();
  // What the emitter writes for one contribution stands before all of them.
  std::vector<mlir::Region> regions(reductions.size());
  for (mlir::Region &region : regions)
    panels.writeContribution(source, region, elements, /*elementColumns=*/false);
  for (mlir::Region &region : regions)
    createContribution(inner.builder, loc, item, from, elements, region);
  if (failed(program.scalars().status()) || failed(inner.emitter.status()))
    return failure();
  return slots.front();
}

LogicalResult StagePlanner::store(Operation *op) {
  Location loc = op->getLoc();
  Value result = op->getResult(0);
  auto type = llvm::cast<ir::MapType>(result.getType());
  int64_t elements = type.isVec() ? elementsOf(result, plan) : 0;
  bool causal = isCausal(result);
  auto emit = [&](ScalarEmitter &emitter, ScalarEmitter::Place &place) {
    return emitter.emit(result, place);
  };
  auto prepare = [&](PanelBuilder &panels) -> LogicalResult {
    for (Value operand : op->getOperands())
      if (failed(panels.prepare(operand)))
        return failure();
    return success();
  };
  FailureOr<int64_t> slot;
  if (auto reduce = llvm::dyn_cast<ir::ReduceOp>(op)) {
    slot = storeReduction(reduce);
  } else if (auto smooth = llvm::dyn_cast<ir::SmoothOp>(op); smooth && !type.isVec()) {
    slot = storeEach(
        loc, stageName(op), type, elements, causal, /*wholeRows=*/true,
        [&](PanelBuilder &panels) { return panels.buildSmooth(smooth); }, emit);
  } else if (auto cast = llvm::dyn_cast<ir::CastOp>(op); cast && isHeavy(op)) {
    // The step of an integer cast comes from the whole vector: its largest magnitude first.
    auto numbers = ir::MapType::get(plan.getContext(), type.getAxes(), ir::Element::F32);
    FailureOr<int64_t> largest =
        storeEach(loc, "magnitudes", numbers, 0, causal, /*wholeRows=*/false, prepare,
                  [&](ScalarEmitter &emitter, ScalarEmitter::Place &place) {
                    return emitter.emitMagnitude(cast, place);
                  });
    if (failed(largest))
      return failure();
    mlir::OpBuilder builder(op);
    Value magnitudes = tile::StoredMapOp::create(builder, loc, numbers, *largest, 1,
                                                 /*causal=*/false, /*scored=*/true);
    slot = storeEach(loc, stageName(op), type, elements, causal, /*wholeRows=*/false, prepare,
                     [&](ScalarEmitter &emitter, ScalarEmitter::Place &place) {
                       emitter.setMagnitudes(cast, magnitudes);
                       return emitter.emit(result, place);
                     });
  } else {
    slot =
        storeEach(loc, stageName(op), type, elements, causal, /*wholeRows=*/false, prepare, emit);
  }
  if (failed(slot))
    return failure();
  mlir::OpBuilder builder(op);
  auto stored = tile::StoredMapOp::create(builder, loc, type, *slot, std::max<int64_t>(elements, 1),
                                          causal && !pattern.getNoncausal(), isScored(result));
  result.replaceAllUsesWith(stored);
  op->erase();
  return success();
}

} // namespace

LogicalResult storeStage(ir::PatternOp pattern, tile::PlanOp plan, Operation *op) {
  return StagePlanner(pattern, plan).store(op);
}

LogicalResult planStage(ir::PatternOp pattern, tile::PlanOp plan, Operation *op) {
  return StagePlanner(pattern, plan).run(op);
}

} // namespace skim
