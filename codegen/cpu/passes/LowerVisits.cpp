// Visits to loops over stretches of tiles.
#include "codegen/cpu/Items.h"
#include "codegen/cpu/KernelArguments.h"
#include "codegen/cpu/RegionEvaluator.h"
#include "codegen/cpu/Statistics.h"
#include "codegen/cpu/TargetPass.h"

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERVISITS
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

namespace {

/// An interval with its end points as values: tiles [lower, upper), both 0 when it is empty.
struct Stretch {
  tile::IntervalAttr interval;
  Value lower, upper;
  Value active; ///< in the stretch that is being walked

  /// Whether it must be tested on each tile.
  bool conditional() const { return interval.getTileGuard() || !interval.getLiterals().empty(); }
};

class VisitLowering {
public:
  VisitLowering(tile::ForEachVisitOp op, tile::ItemRecordOp item, const Target &target)
      : op(op), item(item), target(target), code(Code::before(op)) {}

  LogicalResult run();

private:
  void evaluateEndPoints(ArrayAttr intervals, SmallVector<Stretch> &stretches);
  /// Walks the tiles [bottom, top), in which the same intervals are active.
  LogicalResult walkTiles(Value bottom, Value top);
  LogicalResult visitTile(Value tile);
  void inlineBody(Value firstKey, Value count, Value masked);

  /// Whether an active interval without conditions settles the question.
  Value settled(ArrayRef<Stretch> stretches);
  /// Whether tile `tile` lies in an interval, given that no interval without conditions settles it.
  Value holdsOnTile(ArrayRef<Stretch> stretches, Value settled, Value tile);
  /// Tests the literals that some active interval needs, once each.
  LogicalResult testLiterals(Value firstKey, Value count);
  /// {true somewhere, false somewhere} over the existing rows and keys of a tile.
  FailureOr<Code::Values> testLiteral(tile::LiteralOp literal, Value firstKey, Value count);

  tile::ForEachVisitOp op;
  tile::ItemRecordOp item;
  const Target &target;
  Code code;

  Value length; ///< keys of the source
  SmallVector<Stretch> touched, hidden;
  Value touchedSettled, hiddenSettled;
  SmallVector<Value> literalNeeded;
  SmallVector<Code::Values> literalOnTile;
};

} // namespace

void VisitLowering::evaluateEndPoints(ArrayAttr intervals, SmallVector<Stretch> &stretches) {
  Value zero = code.index(0);
  Value tiles = code.ceilDiv(length, kernelInfo(op).schedule.getKeys());
  Value dims[] = {item.getTile()};
  for (auto interval : intervals.getAsRange<tile::IntervalAttr>()) {
    Value lower = zero, upper = tiles;
    for (AffineExpr bound : interval.getLower().getResults())
      lower = code.max(lower, evaluateAffine(code, bound, dims, op.getSymbols(), 1));
    for (AffineExpr bound : interval.getUpper().getResults())
      upper = code.min(upper, evaluateAffine(code, bound, dims, op.getSymbols(), 1));
    Value holds = code.less(lower, upper);
    if (IntegerSet guard = interval.getGuard())
      holds = code.logicalAnd(holds, evaluateSet(code, guard, dims, op.getSymbols(), 1));
    stretches.push_back(
        {interval, code.select(holds, lower, zero), code.select(holds, upper, zero), {}});
  }
}

LogicalResult VisitLowering::run() {
  tile::SourceAttr source = op.getSource();
  length = item.getKvLen();
  if (source.getPooled())
    length = code.ceilDiv(length, source.getBlock());
  evaluateEndPoints(op.getTouched(), touched);
  evaluateEndPoints(op.getHidden(), hidden);

  Value top = code.index(0);
  for (Stretch &stretch : touched)
    top = code.max(top, stretch.upper);
  auto walk = scf::WhileOp::create(code, TypeRange(code.getIndexType()), ValueRange(top));
  {
    OpBuilder::InsertionGuard guard(code);
    Block *condition = code.createBlock(&walk.getBefore(), {}, code.getIndexType(), code.getLoc());
    Value reached = condition->getArgument(0);
    scf::ConditionOp::create(code, code.less(code.index(0), reached), reached);
    Block *block = code.createBlock(&walk.getAfter(), {}, code.getIndexType(), code.getLoc());
    top = block->getArgument(0);
    // The next end point below: in between, the same intervals are active.
    Value bottom = code.index(0);
    for (ArrayRef<Stretch> stretches : {ArrayRef(touched), ArrayRef(hidden)})
      for (const Stretch &stretch : stretches)
        for (Value end : {stretch.lower, stretch.upper})
          bottom = code.max(bottom, code.select(code.less(end, top), end, code.index(0)));
    if (failed(walkTiles(bottom, top)))
      return failure();
    scf::YieldOp::create(code, bottom);
  }
  op.replaceAllUsesWith(op.getCarry());
  op.erase();
  return success();
}

Value VisitLowering::settled(ArrayRef<Stretch> stretches) {
  Value any = code.i1(false);
  for (const Stretch &stretch : stretches)
    if (!stretch.conditional())
      any = code.logicalOr(any, stretch.active);
  return any;
}

LogicalResult VisitLowering::walkTiles(Value bottom, Value top) {
  Value anyTouched = code.i1(false);
  for (SmallVector<Stretch> *stretches : {&touched, &hidden})
    for (Stretch &stretch : *stretches) {
      stretch.active = code.logicalAnd(code.lessOrEqual(stretch.lower, bottom),
                                       code.lessOrEqual(top, stretch.upper));
      if (stretches == &touched)
        anyTouched = code.logicalOr(anyTouched, stretch.active);
    }
  touchedSettled = settled(touched);
  hiddenSettled = settled(hidden);

  literalNeeded.assign(op.getLiterals().size(), {});
  for (SmallVector<Stretch> *stretches : {&touched, &hidden})
    for (Stretch &stretch : *stretches)
      for (const tile::LiteralUse &use : stretch.interval.getLiterals()) {
        Value open = code.logicalNot(stretches == &touched ? touchedSettled : hiddenSettled);
        Value needed = code.logicalAnd(stretch.active, open);
        Value &all = literalNeeded[use.id];
        all = all ? code.logicalOr(all, needed) : needed;
      }

  LogicalResult result = success();
  code.ifThen(anyTouched, [&] {
    code.loop(code.index(0), code.sub(top, bottom), 1, [&](Value step) {
      result = visitTile(code.sub(code.sub(top, code.index(1)), step));
    });
  });
  return result;
}

Value VisitLowering::holdsOnTile(ArrayRef<Stretch> stretches, Value settled, Value tile) {
  Value holds = settled;
  for (const Stretch &stretch : stretches) {
    if (!stretch.conditional())
      continue;
    Value here = stretch.active;
    for (const tile::LiteralUse &use : stretch.interval.getLiterals())
      here = code.logicalAnd(here, literalOnTile[use.id][use.negated ? 1 : 0]);
    if (IntegerSet guard = stretch.interval.getTileGuard()) {
      Value dims[] = {item.getTile(), tile};
      here = code.logicalAnd(here, evaluateSet(code, guard, dims, op.getSymbols(), 1));
    }
    holds = code.logicalOr(holds, here);
  }
  return holds;
}

LogicalResult VisitLowering::visitTile(Value tile) {
  int64_t keys = kernelInfo(op).schedule.getKeys();
  Value firstKey = code.mul(tile, code.index(keys));
  Value count = code.min(code.index(keys), code.sub(length, firstKey));
  if (failed(testLiterals(firstKey, count)))
    return failure();
  Value isTouched = holdsOnTile(touched, touchedSettled, tile);
  code.ifThen(isTouched,
              [&] { inlineBody(firstKey, count, holdsOnTile(hidden, hiddenSettled, tile)); });
  return success();
}

void VisitLowering::inlineBody(Value firstKey, Value count, Value masked) {
  bool computesScores = !op.getBody().getOps<tile::IssueDotOp>().empty();
  if (computesScores && !op.getSource().getPooled()) {
    addToCounter(code, item, Counter::TilesVisited, code.index(1));
    addToCounter(code, item, Counter::TilesMasked,
                 code.select(masked, code.index(1), code.index(0)));
  }
  Value visit = tile::VisitRecordOp::create(code, code.getType<tile::VisitType>(), item, firstKey,
                                            count, masked, op.getSource());
  op.getVisit().replaceAllUsesWith(visit);
  // States are updated in place.
  for (auto [argument, initial] : llvm::zip(op.getCarriedArguments(), op.getCarry()))
    argument.replaceAllUsesWith(initial);
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  code.getInsertionBlock()->getOperations().splice(code.getInsertionPoint(), body.getOperations(),
                                                   body.begin(), yield->getIterator());
  yield->dropAllReferences();
}

LogicalResult VisitLowering::testLiterals(Value firstKey, Value count) {
  literalOnTile.assign(op.getLiterals().size(), {});
  for (auto [id, needed] : llvm::enumerate(literalNeeded)) {
    if (!needed)
      continue;
    auto literal = op.getLiterals()[id].getDefiningOp<tile::LiteralOp>();
    if (!literal)
      return op.emitOpError() << "expected literal " << id << " to be the result of a "
                              << "'tile.literal'";
    bool failedInside = false;
    literalOnTile[id] = code.choose(
        needed,
        [&]() -> Code::Values {
          FailureOr<Code::Values> result = testLiteral(literal, firstKey, count);
          failedInside = failed(result);
          return failedInside ? Code::Values{code.i1(true), code.i1(true)} : *result;
        },
        [&]() -> Code::Values { return {code.i1(false), code.i1(false)}; });
    if (failedInside)
      return failure();
  }
  return success();
}

FailureOr<Code::Values> VisitLowering::testLiteral(tile::LiteralOp literal, Value firstKey,
                                                   Value count) {
  int64_t queryCell = literal.getQueryCell(), keyCell = literal.getKeyCell();
  // Cells lower than a vector are tested on vectors of rows, others one by one.
  bool vectors = queryCell != 0 && queryCell < target.lanes;
  bool failedInside = false;

  auto evaluate = [&](Value position, Value key) -> Code::Values {
    unsigned lanes = vectors ? target.lanes : 1;
    RegionEvaluator evaluator(code, lanes);
    if (vectors) {
      RowLanes rows = makeRowLanes(code, item, position, lanes);
      evaluator.setRows(rows);
      position = rows.positions;
    }
    Code::Values results;
    if (failed(evaluator.evaluate(literal.getBody(), {position, key}, results))) {
      failedInside = true;
      return {code.i1(true), code.i1(true)};
    }
    Value holds = results.front();
    if (!isa<VectorType>(holds.getType()))
      return {holds, code.logicalNot(holds)};
    Value fails = arith::XOrIOp::create(code, holds, code.splat(code.i1(true), lanes));
    auto any = [&](Value value) -> Value {
      return vector::ReductionOp::create(code, vector::CombiningKind::OR, value);
    };
    return {any(holds), any(fails)};
  };

  // Stops evaluating once both answers are yes.
  auto combine = [&](ValueRange found, Value position, Value key) -> Code::Values {
    return code.choose(
        code.logicalAnd(found[0], found[1]), [&] { return Code::Values(found); },
        [&]() -> Code::Values {
          Code::Values here = evaluate(position, key);
          return {code.logicalOr(found[0], here[0]), code.logicalOr(found[1], here[1])};
        });
  };

  auto overRows = [&](ValueRange found, Value key) -> Code::Values {
    if (vectors)
      return code.loop(code.roundDown(item.getRowsBegin(), target.lanes), item.getRowsEnd(),
                       target.lanes, found,
                       [&](Value row, ValueRange carried) { return combine(carried, row, key); });
    Value first = firstRow(code, item), last = code.sub(endRow(code, item), code.index(1));
    if (queryCell == 0)
      return combine(found, first, key);
    Value firstCell = code.floorDiv(first, queryCell);
    Value endCell = code.add(code.floorDiv(last, queryCell), code.index(1));
    return code.loop(firstCell, endCell, 1, found, [&](Value cell, ValueRange carried) {
      Value position = code.max(first, code.mul(cell, code.index(queryCell)));
      return combine(carried, position, key);
    });
  };

  Code::Values none = {code.i1(false), code.i1(false)};
  Code::Values result;
  if (keyCell == 0) {
    result = overRows(none, firstKey);
  } else {
    Value lastKey = code.sub(code.add(firstKey, count), code.index(1));
    Value endCell = code.add(code.floorDiv(lastKey, keyCell), code.index(1));
    result = code.loop(code.floorDiv(firstKey, keyCell), endCell, 1, none,
                       [&](Value cell, ValueRange carried) {
                         Value key = code.max(firstKey, code.mul(cell, code.index(keyCell)));
                         return overRows(carried, key);
                       });
  }
  if (failedInside)
    return failure();
  return result;
}

namespace {

struct LowerVisitsPass : skim::cpu::impl::LowerVisitsBase<LowerVisitsPass> {
  using LowerVisitsBase::LowerVisitsBase;

  void runOnOperation() override {
    const Target *cpu = resolveTarget(*this, getOperation(), target);
    if (!cpu)
      return signalPassFailure();
    SmallVector<tile::ForEachVisitOp> visits;
    getOperation().walk([&](tile::ForEachVisitOp op) { visits.push_back(op); });
    for (tile::ForEachVisitOp op : visits) {
      FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
      if (failed(item) || failed(VisitLowering(op, *item, *cpu).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
