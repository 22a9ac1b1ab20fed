#include "codegen/cpu/ContributionLowering.h"

#include "codegen/cpu/ElementAccess.h"
#include "codegen/cpu/Items.h"
#include "codegen/cpu/RowAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <limits>

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

ContributionLowering::ContributionLowering(tile::ContributeOp op, const ReductionCells &cells,
                                           std::optional<tile::Reduction> kind, bool causal,
                                           const Target &target)
    : op(op), cells(cells), kind(kind), causal(causal), target(target), code(Code::before(op)),
      item(op.getItem().getDefiningOp<tile::ItemRecordOp>()),
      queryCell(static_cast<int64_t>(op.getQueryCell())),
      keyCell(static_cast<int64_t>(op.getKeyCell())) {
  if (kind)
    accumulator.emplace(code, *kind, cells.element);
  if (item)
    way = chooseWay();
}

bool ContributionLowering::readsScores() {
  bool reads = false;
  op.getBody().walk(
      [&](Operation *inside) { reads |= isa<tile::PanelValueOp, tile::LoadElementOp>(inside); });
  return reads;
}

bool ContributionLowering::joinsKeys() {
  return !cells.ofElements && !op.getDiagonal() && keyCell != cells.keyCell;
}

bool ContributionLowering::vectorsInOneCell() {
  auto tileRows = static_cast<int64_t>(item.getTileRows());
  int64_t lanes = target.lanes;
  return cells.queryCell == 0 || cells.queryCell % tileRows == 0 ||
         (cells.queryCell % lanes == 0 && tileRows % lanes == 0);
}

ContributionLowering::Way ContributionLowering::chooseWay() {
  bool onRows = queryCell == 1 && item.getTileRows() > 0 && !op.getElements();
  if (op.getDiagonal() && !cells.diagonal)
    return Way::OneByOne;
  if (onRows && cells.diagonal && !op.getDiagonal())
    return vectorsInOneCell() ? Way::Diagonals : Way::OneByOne;
  if (onRows && cells.queryCell == 1)
    return Way::RowLanes;
  if (!kind)
    return Way::Copies;
  bool inOrder = accumulator->orderFree() || !joinsKeys() || readsScores();
  return onRows && vectorsInOneCell() && inOrder ? Way::AcrossRows : Way::OneByOne;
}

LogicalResult ContributionLowering::run(bool finishCells) {
  FailureOr<tile::ItemRecordOp> record = itemRecord(op, op.getItem());
  if (failed(record))
    return failure();
  direct = finishCells;
  switch (way) {
  case Way::RowLanes:
    rowLanes();
    break;
  case Way::AcrossRows:
    acrossRows();
    break;
  case Way::Diagonals:
    diagonals();
    break;
  case Way::Copies:
  case Way::OneByOne:
    oneByOne();
    break;
  }
  op.erase();
  return evaluated;
}

Value ContributionLowering::undefined(unsigned lanes) {
  Value nan = arith::ConstantOp::create(
      code, code.getFloatAttr(cells.element, std::numeric_limits<double>::quiet_NaN()));
  return lanes == 1 ? nan : code.splat(nan, lanes);
}

Value ContributionLowering::keyLimit() {
  if (!causal || item.getTileRows() == 0)
    return item.getKeysEnd();
  Value visible = code.max(endRow(code, item), item.getKeysBegin());
  return code.min(visible, item.getKeysEnd());
}

std::pair<Value, Value> ContributionLowering::columns() {
  Value end = cells.columnsEnd;
  if (!cells.diagonal && !cells.ofElements && cells.keyCell > 0)
    end = code.ceilDiv(keyLimit(), cells.keyCell);
  return {cells.columnsBegin, end};
}

std::pair<Value, Value> ContributionLowering::cellsOf(Value column) {
  if (!joinsKeys())
    return {column, code.add(column, code.index(1))};
  Value end = code.ceilDiv(keyLimit(), keyCell);
  if (cells.keyCell == 0)
    return {code.floorDiv(item.getKeysBegin(), keyCell), end};
  Value parts = code.index(cells.keyCell / keyCell);
  Value first = code.mul(column, parts);
  return {first, code.min(code.add(first, parts), end)};
}

Value ContributionLowering::keyOf(Value cell) {
  if (op.getDiagonal())
    return code.add(cell, cells.firstDistance);
  if (cells.ofElements)
    return cell;
  return keyCell == 0 ? item.getKeysBegin() : code.mul(cell, code.index(keyCell));
}

Value ContributionLowering::evaluate(Value position, Value key, Value element, unsigned lanes,
                                     const RowLanes *rows, const ElementLanes *elements) {
  RegionEvaluator evaluator(code, lanes, &target);
  if (rows)
    evaluator.setRows(*rows);
  if (elements)
    evaluator.setElements(*elements);
  Code::Values arguments = {position, key}, values;
  if (element)
    arguments.push_back(element);
  if (failed(evaluator.evaluate(op.getBody(), arguments, values))) {
    evaluated = failure();
    return undefined(lanes);
  }
  return lanes == 1 ? values.front() : evaluator.toLanes(values.front());
}

Value ContributionLowering::evaluateRows(Value row, Value cell) {
  RowLanes rows = makeRowLanes(code, item, row, target.lanes);
  return evaluate(rows.positions, keyOf(cell), {}, target.lanes, &rows, nullptr);
}

Value ContributionLowering::hideMissingRows(Value values, Value row) {
  unsigned lanes = target.lanes;
  Value lane = code.add(code.splat(row, lanes), code.laneNumbers(lanes));
  Value exists = code.logicalAnd(code.lessOrEqual(code.splat(item.getRowsBegin(), lanes), lane),
                                 code.less(lane, code.splat(item.getRowsEnd(), lanes)));
  return code.select(exists, values, undefined(lanes));
}

void ContributionLowering::forEachExistingLane(Value row,
                                               function_ref<void(Value lane, Value row)> body) {
  Value begin = code.max(row, item.getRowsBegin());
  Value end = code.min(code.add(row, code.index(target.lanes)), item.getRowsEnd());
  code.loop(begin, end, 1, [&](Value existing) { body(code.sub(existing, row), existing); });
}

void ContributionLowering::storeLanes(Value values, Value row, Value column, int plane) {
  auto address = [&](Value existing) {
    Value position = code.add(tileStart(code, item), existing);
    return plane < 0 ? cells.result(code, position, column, {})
                     : cells.accumulator(code, static_cast<unsigned>(plane), position, column, {});
  };
  if (cells.ofPanel)
    return code.store(values, address(row));
  auto vector = cast<VectorType>(values.getType());
  Value frame = allocateInFrame(item, MemRefType::get(vector.getShape(), vector.getElementType()));
  code.storeVector(values, frame, code.index(0));
  forEachExistingLane(row, [&](Value lane, Value existing) {
    code.store(code.loadScalar(frame, lane), address(existing));
  });
}

Value ContributionLowering::loadLanes(Value row, Value column, unsigned plane) {
  Type f64 = code.getF64Type(), type = code.vectorType(target.lanes, f64);
  auto address = [&](Value existing) {
    Value position = code.add(tileStart(code, item), existing);
    return cells.accumulator(code, plane, position, column, {});
  };
  if (cells.ofPanel)
    return code.load(type, address(row));
  Value frame = allocateInFrame(item, MemRefType::get({static_cast<int64_t>(target.lanes)}, f64));
  forEachExistingLane(row, [&](Value lane, Value existing) {
    code.storeScalar(code.load(f64, address(existing)), frame, lane);
  });
  return code.loadVector(target.lanes, frame, code.index(0));
}

void ContributionLowering::rowLanes() {
  unsigned lanes = target.lanes;
  auto [first, end] = columns();
  code.loop(code.roundDown(item.getRowsBegin(), lanes), item.getRowsEnd(), lanes, [&](Value row) {
    code.loop(first, end, 1, [&](Value column) {
      if (!kind)
        return storeLanes(evaluateRows(row, column), row, column, -1);
      Code::Values start;
      if (direct)
        start = accumulator->identity(lanes);
      else
        for (unsigned plane = 0; plane < accumulator->planes(); ++plane)
          start.push_back(loadLanes(row, column, plane));
      auto [cell, endCell] = cellsOf(column);
      Code::Values total = code.loop(cell, endCell, 1, start, [&](Value at, ValueRange carried) {
        return accumulator->combine(carried, evaluateRows(row, at));
      });
      if (direct)
        return storeLanes(accumulator->finish(total), row, column, -1);
      for (auto [plane, value] : llvm::enumerate(total))
        storeLanes(value, row, column, static_cast<int>(plane));
    });
    if (!direct)
      return;
    code.loop(end, cells.columnsEnd, 1,
              [&](Value column) { storeLanes(undefined(lanes), row, column, -1); });
  });
}

void ContributionLowering::acrossRows() {
  unsigned lanes = target.lanes;
  auto [first, end] = columns();
  Value start = tileStart(code, item);
  Value rowsBegin = cells.row(code, firstRow(code, item));
  Value rowsEnd =
      code.add(cells.row(code, code.sub(endRow(code, item), code.index(1))), code.index(1));
  code.loop(rowsBegin, rowsEnd, 1, [&, first = first, end = end](Value cell) {
    Value begin = item.getRowsBegin(), stop = item.getRowsEnd();
    if (cells.queryCell > 0) {
      Value origin = code.sub(code.mul(cell, code.index(cells.queryCell)), start);
      begin = code.max(begin, origin);
      stop = code.min(stop, code.add(origin, code.index(cells.queryCell)));
    }
    begin = code.roundDown(begin, lanes);
    code.loop(first, end, 1, [&](Value column) {
      Code::Values initial = accumulator->identity(1);
      Type f64 = code.getF64Type();
      if (!direct)
        for (auto [plane, value] : llvm::enumerate(initial))
          value = code.load(f64, cells.accumulator(code, plane, cell, column, {}));
      auto [at, endAt] = cellsOf(column);
      Code::Values total =
          code.loop(at, endAt, 1, initial, [&](Value contributing, ValueRange outer) {
            return code.loop(begin, stop, lanes, outer, [&](Value row, ValueRange carried) {
              Value values = hideMissingRows(evaluateRows(row, contributing), row);
              return accumulator->combineLanes(carried, values);
            });
          });
      if (direct)
        return code.store(accumulator->finish(total), cells.result(code, cell, column, {}));
      for (auto [plane, value] : llvm::enumerate(total))
        code.store(value, cells.accumulator(code, plane, cell, column, {}));
    });
    if (!direct)
      return;
    code.loop(end, cells.columnsEnd, 1, [&](Value column) {
      code.store(undefined(1), cells.result(code, cell, column, {}));
    });
  });
}

void ContributionLowering::diagonals() {
  unsigned lanes = target.lanes;
  Value zero = code.index(0);
  code.loop(code.roundDown(item.getRowsBegin(), lanes), item.getRowsEnd(), lanes, [&](Value row) {
    RowLanes rows = makeRowLanes(code, item, row, lanes);
    Value cell = cells.row(code, rows.lead);
    Value lane = code.laneNumbers(lanes);
    Value number = code.add(code.splat(row, lanes), lane);
    Value exists = code.logicalAnd(code.lessOrEqual(code.splat(item.getRowsBegin(), lanes), number),
                                   code.less(number, code.splat(item.getRowsEnd(), lanes)));
    // Distances below the first belong to nothing.
    Value limit = code.sub(code.add(rows.start, code.index(lanes)), cells.firstDistance);
    limit = code.max(code.min(limit, keyLimit()), item.getKeysBegin());
    code.loop(item.getKeysBegin(), limit, 1, [&](Value key) {
      Value values = evaluate(rows.positions, key, {}, lanes, &rows, nullptr);
      Value column = cells.column(code, rows.start, key);
      Value distance = code.add(code.splat(column, lanes), lane);
      Value inside = code.logicalAnd(code.lessOrEqual(code.splat(zero, lanes), distance),
                                     code.less(distance, code.splat(cells.columnsEnd, lanes)));
      Value mask = code.logicalAnd(exists, inside);
      // A row and its key differ from others in the distance: lanes go to different cells.
      Type type = code.vectorType(lanes, code.getF64Type());
      Code::Values carried = accumulator->identity(lanes), addresses;
      for (auto [plane, value] : llvm::enumerate(carried)) {
        addresses.push_back(cells.accumulator(code, plane, cell, column, {}));
        value = LLVM::MaskedLoadOp::create(code, type, addresses.back(), mask, value, 8u);
      }
      for (auto [value, address] : llvm::zip(accumulator->combine(carried, values), addresses))
        LLVM::MaskedStoreOp::create(code, value, address, mask, 8u);
    });
  });
}

void ContributionLowering::takeOne(Value row, Value column, Value element, Value value) {
  if (!kind)
    return code.store(value, cells.result(code, row, column, element));
  Code::Values carried;
  Type f64 = code.getF64Type(), type = f64;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), f64);
  for (unsigned plane = 0; plane < accumulator->planes(); ++plane)
    carried.push_back(code.load(type, cells.accumulator(code, plane, row, column, element)));
  for (auto [plane, next] : llvm::enumerate(accumulator->combine(carried, value)))
    code.store(next, cells.accumulator(code, plane, row, column, element));
}

void ContributionLowering::oneByOne() {
  Value zero = code.index(0), one = code.index(1);
  Value firstRowCell = zero, endRowCell = one, first = firstPosition(code, item);
  if (queryCell > 0) {
    Value end = item.getTileRows() > 0 ? endRow(code, item) : item.getKvLen();
    firstRowCell = code.floorDiv(first, queryCell);
    endRowCell = code.ceilDiv(end, queryCell);
  }
  Value firstCell = zero, endCell = one;
  bool joinsDistances = op.getDiagonal() && !cells.diagonal;
  if (joinsDistances) {
    if (cells.noncausal)
      firstCell = code.sub(one, item.getQLen());
    endCell = item.getKvLen();
  } else if (op.getDiagonal() || cells.ofElements) {
    firstCell = cells.columnsBegin;
    endCell = cells.columnsEnd;
  } else if (keyCell > 0) {
    firstCell = code.floorDiv(item.getKeysBegin(), keyCell);
    endCell = code.ceilDiv(keyLimit(), keyCell);
  }
  code.loop(firstRowCell, endRowCell, 1, [&](Value rowCell) {
    Value position = first;
    if (queryCell > 0)
      position = code.max(first, code.mul(rowCell, code.index(queryCell)));
    Value row = cells.row(code, position);
    code.loop(firstCell, endCell, 1, [&](Value cell) {
      Value key = keyOf(cell);
      bool countsDistance = cells.diagonal && !op.getDiagonal();
      Value column = joinsDistances     ? zero
                     : op.getDiagonal() ? cell
                                        : cells.column(code, position, key);
      auto take = [&] {
        if (!op.getElements())
          return takeOne(row, column, {}, evaluate(position, key, {}, 1, nullptr, nullptr));
        ElementLanes lanesOfElements;
        // The vector at the query or key is found once for all its elements.
        op.getBody().walk([&](tile::LoadElementOp load) {
          Value at = load.getPosition() == op.getBody().getArgument(0)   ? position
                     : load.getPosition() == op.getBody().getArgument(1) ? key
                                                                         : Value();
          auto record = load.getItem().getDefiningOp<tile::ItemRecordOp>();
          if (at && record)
            lanesOfElements.addresses[load] = vectorAddress(code, record, load.getSource(), at);
        });
        forEachColumn(code, cells.elements, target.lanes, [&](Value element, unsigned lanes) {
          ElementLanes here = lanesOfElements;
          Value index = element;
          if (lanes > 1) {
            index = code.add(code.splat(element, lanes), code.laneNumbers(lanes));
            here.elements = index;
            here.lead = element;
          }
          takeOne(row, column, element, evaluate(position, key, index, lanes, nullptr, &here));
        });
      };
      if (!countsDistance)
        return take();
      Value inside =
          code.logicalAnd(code.lessOrEqual(zero, column), code.less(column, cells.columnsEnd));
      code.ifThen(inside, take);
    });
  });
}
