#include "codegen/cpu/VisitWalk.h"

#include "codegen/cpu/Items.h"
#include "codegen/cpu/RegionEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

void EndPoints::append(Value lower, Value upper) { ends.emplace_back(lower, upper); }

Value EndPoints::goesOn(Value from, Value end, WalkOrder order) {
  return order == WalkOrder::Ascending ? code.less(from, end) : code.less(code.index(0), from);
}

Value EndPoints::next(Value from, Value end, WalkOrder order) {
  bool ascending = order == WalkOrder::Ascending;
  Value to = ascending ? end : code.index(0);
  for (auto [lower, upper] : ends)
    for (Value point : {lower, upper}) {
      if (ascending)
        to = code.min(to, code.select(code.less(from, point), point, end));
      else
        to = code.max(to, code.select(code.less(point, from), point, code.index(0)));
    }
  return to;
}

Code::Values EndPoints::active(Value bottom, Value top) {
  Code::Values active;
  for (auto [lower, upper] : ends)
    active.push_back(
        code.logicalAnd(code.lessOrEqual(lower, bottom), code.lessOrEqual(top, upper)));
  return active;
}

Value VisitWalk::evaluateEndPoints(ArrayAttr intervals, SmallVector<Stretch> &stretches,
                                   Value top) {
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
    upper = code.select(holds, upper, zero);
    ends->append(code.select(holds, lower, zero), upper);
    stretches.push_back({interval, {}});
    top = code.max(top, upper);
  }
  return top;
}

LogicalResult VisitWalk::run(function_ref<LogicalResult(Value bottom, Value top)> walkTiles,
                             WalkOrder order) {
  tile::SourceAttr source = op.getSource();
  length = item.getKvLen();
  if (source.getPooled())
    length = code.ceilDiv(length, source.getBlock());
  Value end = evaluateEndPoints(op.getTouched(), touched, code.index(0));
  evaluateEndPoints(op.getHidden(), hidden, code.index(0));

  bool ascending = order == WalkOrder::Ascending;
  LogicalResult result = success();
  auto walk = scf::WhileOp::create(code, TypeRange(code.getIndexType()),
                                   ValueRange(ascending ? code.index(0) : end));
  {
    OpBuilder::InsertionGuard guard(code);
    Block *condition = code.createBlock(&walk.getBefore(), {}, code.getIndexType(), code.getLoc());
    Value reached = condition->getArgument(0);
    Value goesOn = ends->goesOn(reached, end, order);
    scf::ConditionOp::create(code, goesOn, reached);
    Block *block = code.createBlock(&walk.getAfter(), {}, code.getIndexType(), code.getLoc());
    Value from = block->getArgument(0);
    // Up to the next end point, the same intervals are active.
    Value to = ends->next(from, end, order);
    Value bottom = ascending ? from : to, top = ascending ? to : from;
    code.ifThen(activate(ends->active(bottom, top)), [&] { result = walkTiles(bottom, top); });
    scf::YieldOp::create(code, to);
  }
  return result;
}

Value VisitWalk::settled(ArrayRef<Stretch> stretches) {
  Value any = code.i1(false);
  for (const Stretch &stretch : stretches)
    if (!stretch.conditional())
      any = code.logicalOr(any, stretch.active);
  return any;
}

Value VisitWalk::activate(ValueRange active) {
  Value anyTouched = code.i1(false);
  size_t number = 0;
  for (SmallVector<Stretch> *stretches : {&touched, &hidden})
    for (Stretch &stretch : *stretches) {
      stretch.active = active[number++];
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

  return anyTouched;
}

Value VisitWalk::holds(ArrayRef<Stretch> stretches, Value settled, Value tile, unsigned bits) {
  auto toAllBits = [&](Value truth) -> Value {
    return bits == 1 ? truth : arith::ExtSIOp::create(code, code.getIntegerType(bits), truth);
  };
  Value holds = toAllBits(settled);
  for (const Stretch &stretch : stretches) {
    if (!stretch.conditional())
      continue;
    Value here = toAllBits(stretch.active);
    for (const tile::LiteralUse &use : stretch.interval.getLiterals())
      here = code.logicalAnd(here, literalOnTile[use.id][use.negated ? 1 : 0]);
    if (IntegerSet guard = stretch.interval.getTileGuard()) {
      Value dims[] = {item.getTile(), tile};
      here = code.logicalAnd(here, toAllBits(evaluateSet(code, guard, dims, op.getSymbols(), 1)));
    }
    holds = code.logicalOr(holds, here);
  }
  return holds;
}

LogicalResult VisitWalk::testLiterals(Value firstKey, Value count) {
  return testLiteralsOfKeys(
      1, [&](tile::LiteralOp literal) { return testLiteral(literal, firstKey, count); });
}

LogicalResult VisitWalk::testLiteralsOfKeys(unsigned bits, LiteralTest test) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(code, code.getIntegerAttr(code.getIntegerType(bits), value));
  };
  if (std::optional<Code::Values> active = ends->activeAgain())
    activate(*active);
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
          FailureOr<Code::Values> result = test(literal);
          failedInside = failed(result);
          return failedInside ? Code::Values{constant(-1), constant(-1)} : *result;
        },
        [&]() -> Code::Values { return {constant(0), constant(0)}; });
    if (failedInside)
      return failure();
  }
  return success();
}

FailureOr<Code::Values> VisitWalk::testLiteral(tile::LiteralOp literal, Value firstKey,
                                               Value count) {
  int64_t queryCell = literal.getQueryCell(), keyCell = literal.getKeyCell();
  // Cells lower than a vector are tested on vectors of rows, others one by one.
  bool vectors = queryCell != 0 && queryCell < lanes;
  bool failedInside = false;

  auto evaluate = [&](Value position, Value key) -> Code::Values {
    unsigned width = vectors ? lanes : 1;
    RegionEvaluator evaluator(code, width);
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

  // One cell holds all rows, or all keys, of a tile whose size divides the cell's.
  tile::ScheduleAttr schedule = kernelInfo(op).schedule;
  bool oneRowCell = queryCell == 0 || queryCell % schedule.getRows() == 0;
  bool oneKeyCell = keyCell == 0 || keyCell % schedule.getKeys() == 0;

  auto overRows = [&](ValueRange found, Value key) -> Code::Values {
    if (vectors)
      return code.loop(code.roundDown(item.getRowsBegin(), lanes), item.getRowsEnd(), lanes, found,
                       [&](Value row, ValueRange carried) { return combine(carried, row, key); });
    Value first = firstRow(code, item), last = code.sub(endRow(code, item), code.index(1));
    if (oneRowCell)
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
  if (oneKeyCell && oneRowCell) {
    result = evaluate(firstRow(code, item), firstKey);
  } else if (oneKeyCell) {
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
