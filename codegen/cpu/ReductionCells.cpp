#include "codegen/cpu/ReductionCells.h"

#include "codegen/cpu/CellAccess.h"
#include "codegen/cpu/Items.h"
#include "codegen/cpu/KernelArguments.h"
#include "codegen/cpu/PanelAccess.h"
#include "dialect/Tile/PanelLayout.h"

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

static Type elementOf(Region &body) {
  Type element;
  body.walk([&](tile::ContributeOp op) {
    element = op.getBody().front().getTerminator()->getOperand(0).getType();
  });
  return element;
}

FailureOr<ReductionCells> ReductionCells::of(tile::ReducePanelOp op, Code &code) {
  FailureOr<tile::ItemRecordOp> record = itemRecord(op, op.getItem());
  if (failed(record))
    return failure();
  tile::PanelType type = op.getPanel().getType();
  ReductionCells cells;
  cells.item = *record;
  cells.ofPanel = true;
  cells.queryCell = type.getQuery();
  cells.keyCell = type.getKey();
  cells.ofElements = type.getElements() > 0;
  cells.element = type.getElement();
  int64_t padded = tile::paddedRows(type);
  Value firstCell = code.mul(record->getTile(), code.index(type.getRows()));
  cells.tileBegin = firstCell;
  cells.rowsBegin = code.add(firstCell, rowCellsBegin(code, *record, type));
  cells.rowsEnd = code.add(firstCell, rowCellsEnd(code, *record, type));
  cells.columnsBegin = code.index(0);
  cells.columnsEnd = columnsOf(code, *record, type);

  cells.results.bytes = cells.element.getIntOrFloatBitWidth() / 8;
  auto place = [&](Array &array, std::optional<uint64_t> slot, int64_t planes) -> LogicalResult {
    FailureOr<Value> scratch = scratchOf(op, *record, slot, array.bytes);
    if (failed(scratch))
      return failure();
    array.rowStride = code.index(1);
    array.planeStride = code.index(padded);
    array.columnStride = code.index(padded * planes);
    // Rows are numbered absolutely, and lie from the tile's first on.
    array.origin = code.offset(*scratch, code.mul(firstCell, code.index(-array.bytes)));
    return success();
  };
  if (failed(place(cells.results, op.getScratch(), 1)))
    return failure();
  if (op.getKind() &&
      failed(place(cells.accumulators, op.getAccumulators(), tile::kAccumulatorPlanes)))
    return failure();
  return cells;
}

FailureOr<ReductionCells> ReductionCells::of(tile::ReduceCellsOp op, Code &code) {
  FailureOr<tile::ItemRecordOp> record = itemRecord(op, op.getItem());
  if (failed(record))
    return failure();
  tile::ItemRecordOp item = *record;
  ReductionCells cells;
  cells.item = item;
  cells.queryCell = static_cast<int64_t>(op.getQueryCell());
  cells.keyCell = static_cast<int64_t>(op.getKeyCell());
  cells.diagonal = op.getDiagonal();
  cells.noncausal = op.getNoncausal();
  cells.elements = static_cast<int64_t>(op.getElements().value_or(1));
  cells.element = elementOf(op.getBody());

  Value zero = code.index(0), one = code.index(1), base = basePosition(code, item);
  cells.rowsBegin = zero;
  cells.rowsEnd = one;
  Value origin = zero;
  if (cells.queryCell > 0) {
    bool ofTile = item.getTileRows() > 0;
    Value end = ofTile ? endRow(code, item) : item.getKvLen();
    origin = code.floorDiv(base, cells.queryCell);
    cells.rowsBegin = code.floorDiv(firstPosition(code, item), cells.queryCell);
    cells.rowsEnd = code.ceilDiv(end, cells.queryCell);
  }
  cells.firstDistance = zero;
  if (cells.diagonal && cells.noncausal)
    cells.firstDistance = code.sub(one, item.getQLen());
  cells.columnsBegin = zero;
  cells.columnsEnd = one;
  if (cells.diagonal) {
    cells.columnsEnd = code.sub(item.getKvLen(), cells.firstDistance);
  } else if (cells.keyCell > 0) {
    cells.columnsBegin = code.floorDiv(item.getKeysBegin(), cells.keyCell);
    cells.columnsEnd = code.ceilDiv(item.getKeysEnd(), cells.keyCell);
  }

  auto place = [&](Array &array, int64_t slot) {
    BufferView buffer = loadBuffer(code, item.getArguments(), tile::Space::Buffer, slot);
    Value head = headOf(code, item, op.getHead());
    Value elements =
        code.add(code.mul(item.getRequest(), buffer.strides[0]), code.mul(head, buffer.strides[1]));
    elements = code.sub(elements, code.mul(origin, buffer.strides[2]));
    array.rowStride = buffer.strides[2];
    array.columnStride = buffer.strides[3];
    array.origin = code.offset(buffer.data, code.mul(elements, code.index(array.bytes)));
  };
  cells.results.bytes = cells.element.getIntOrFloatBitWidth() / 8;
  place(cells.results, op.getSlot());
  if (op.getKind()) {
    // Scratch holds the rows of the item, each with the planes one after the other, so that columns
    // are side by side.
    FailureOr<Value> scratch = scratchOf(op, item, op.getAccumulators(), cells.accumulators.bytes);
    if (failed(scratch))
      return failure();
    auto slot = static_cast<int64_t>(*op.getAccumulators());
    auto &array = cells.accumulators;
    Value columns = loadBufferCapacity(code, item.getArguments(), tile::Space::Buffer, slot);
    array.columnStride = code.index(cells.elements);
    array.planeStride = code.mul(columns, code.index(cells.elements));
    array.rowStride = code.mul(array.planeStride, code.index(tile::kAccumulatorPlanes));
    Value before = code.mul(cells.rowsBegin, array.rowStride);
    array.origin = code.offset(*scratch, code.mul(before, code.index(-array.bytes)));
  }
  return cells;
}

Value ReductionCells::row(Code &code, Value position) const {
  return queryCell == 0 ? code.index(0) : code.floorDiv(position, queryCell);
}

Value ReductionCells::column(Code &code, Value position, Value key) const {
  if (diagonal)
    return code.sub(code.sub(position, key), firstDistance);
  if (ofElements)
    return key;
  return keyCell == 0 ? code.index(0) : code.floorDiv(key, keyCell);
}

Value ReductionCells::address(Code &code, const Array &array, unsigned plane, Value row,
                              Value column, Value element) const {
  Value index = code.add(code.mul(row, array.rowStride), code.mul(column, array.columnStride));
  if (element)
    index = code.add(index, element);
  if (plane > 0)
    index = code.add(index, code.mul(array.planeStride, code.index(plane)));
  return code.offset(array.origin, code.mul(index, code.index(array.bytes)));
}

Value ReductionCells::result(Code &code, Value row, Value column, Value element) const {
  return address(code, results, 0, row, column, element);
}

Value ReductionCells::accumulator(Code &code, unsigned plane, Value row, Value column,
                                  Value element) const {
  return address(code, accumulators, plane, row, column, element);
}

void ReductionCells::forEachRun(
    Code &code, const Target &target,
    function_ref<void(Value row, Value column, Value element, unsigned lanes)> body) const {
  unsigned lanes = target.lanes;
  if (ofPanel) {
    Value firstCell = code.add(tileBegin, code.roundDown(code.sub(rowsBegin, tileBegin), lanes));
    code.loop(columnsBegin, columnsEnd, 1, [&](Value column) {
      code.loop(firstCell, rowsEnd, lanes, [&](Value row) { body(row, column, {}, lanes); });
    });
    return;
  }
  Value begin = code.mul(columnsBegin, code.index(elements));
  Value count = code.sub(code.mul(columnsEnd, code.index(elements)), begin);
  Value whole = code.roundDown(count, lanes);
  code.loop(rowsBegin, rowsEnd, 1, [&](Value row) {
    auto run = [&](Value first, Value end, unsigned width) {
      code.loop(first, end, width, [&](Value i) {
        // The accumulators of consecutive columns lie side by side, and so do their results.
        body(row, code.index(0), code.add(begin, i), width);
      });
    };
    run(code.index(0), whole, lanes);
    run(whole, count, 1);
  });
}
