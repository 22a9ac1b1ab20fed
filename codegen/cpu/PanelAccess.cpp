#include "codegen/cpu/PanelAccess.h"

#include "codegen/cpu/CellAccess.h"
#include "codegen/cpu/Items.h"
#include "codegen/cpu/KernelArguments.h"
#include "dialect/Tile/PanelLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

Value skim::cpu::columnsOf(Code &code, tile::ItemRecordOp item, tile::PanelType type) {
  if (type.getKey() > 0)
    return code.ceilDiv(item.getKvLen(), type.getKey());
  return code.index(std::max<int64_t>(type.getElements(), 1));
}

Value skim::cpu::rowCellsBegin(Code &code, tile::ItemRecordOp item, tile::PanelType type) {
  return code.floorDiv(item.getRowsBegin(), type.getQuery());
}
Value skim::cpu::rowCellsEnd(Code &code, tile::ItemRecordOp item, tile::PanelType type) {
  return code.ceilDiv(item.getRowsEnd(), type.getQuery());
}

FailureOr<Value> skim::cpu::scratchOf(Operation *user, tile::ItemRecordOp item,
                                      std::optional<uint64_t> slot, int64_t elementBytes) {
  if (!slot)
    return user->emitOpError() << "expected scratch; run skim-assign-scratch";
  auto function = user->getParentOfType<func::FuncOp>();
  if (function.getNumArguments() < 5)
    return user->emitOpError() << "expected to stand in a kernel, whose last argument is its "
                                  "worker";
  Code code = Code::after(item);
  Value worker =
      arith::IndexCastOp::create(code, code.getIndexType(), function.getArguments().back());
  BufferView buffer =
      loadBuffer(code, item.getArguments(), tile::Space::Buffer, static_cast<int64_t>(*slot));
  Value elements = code.mul(worker, buffer.strides[0]);
  return code.offset(buffer.data, code.mul(elements, code.index(elementBytes)));
}

Value skim::cpu::panelData(Code &code, Value panel) {
  return UnrealizedConversionCastOp::create(code, code.pointerType(), panel).getResult(0);
}

void skim::cpu::replacePanel(Code &code, Value panel, Value data) {
  panel.replaceAllUsesWith(asTile(code, data, panel.getType()));
}

Type skim::cpu::panelElementInMemory(Code &code, tile::PanelType type) {
  Type element = type.getElement();
  return element.isInteger(1) ? code.getIntegerType(8) : element;
}

int64_t skim::cpu::panelElementBytes(tile::PanelType type) {
  return llvm::divideCeil(type.getElement().getIntOrFloatBitWidth(), 8);
}

Value skim::cpu::panelBytes(Code &code, tile::ItemRecordOp item, tile::PanelType type) {
  return code.mul(columnsOf(code, item, type),
                  code.index(tile::paddedRows(type) * panelElementBytes(type)));
}

Value skim::cpu::panelOfHead(Code &code, tile::ItemRecordOp item, tile::PanelType type,
                             Value data) {
  return code.offset(data, code.mul(item.getHead(), panelBytes(code, item, type)));
}

Value skim::cpu::panelCell(Code &code, Value data, tile::PanelType type, Value column, Value row) {
  Value cell = code.add(code.mul(column, code.index(tile::paddedRows(type))), row);
  return code.offset(data, code.mul(cell, code.index(panelElementBytes(type))));
}

/// The row cell of a position, counted within its tile: tiles start at multiples of their rows.
static Value rowCell(Code &code, tile::PanelType type, Value query) {
  Value cell = cellIndex(code, query, type.getQuery());
  auto vector = dyn_cast<VectorType>(cell.getType());
  auto repeat = [&](int64_t value) {
    Value scalar = code.index(value);
    return vector ? code.splat(scalar, vector.getNumElements()) : scalar;
  };
  int64_t rows = type.getRows();
  if (rows == 1)
    return repeat(0);
  if (llvm::isPowerOf2_64(rows))
    return code.createOrFold<arith::AndIOp>(cell, repeat(rows - 1));
  return code.sub(cell, code.mul(cellIndex(code, cell, rows), repeat(rows)));
}

static Value columnOf(Code &code, tile::PanelType type, Value key) {
  return type.getElements() > 0 ? key : cellIndex(code, key, type.getKey());
}

Value skim::cpu::loadPanelValue(Code &code, tile::PanelValueOp op, Value data, Value query,
                                Value key, const RowLanes &rows, unsigned lanes) {
  tile::PanelType type = op.getPanel().getType();
  Type element = type.getElement(), inMemory = panelElementInMemory(code, type);
  Value column = columnOf(code, type, key);
  bool keysDiffer = isa<VectorType>(column.getType());
  auto scalarAt = [&](Value position) {
    Value address = panelCell(code, data, type, column, rowCell(code, type, position));
    return convertLoaded(code, code.load(inMemory, address), element);
  };
  if (!isa<VectorType>(query.getType()) && !keysDiffer)
    return scalarAt(query);
  if (query == rows.positions && !keysDiffer) {
    // Tiles start at multiples of the vector's length: its rows lie side by side, or in one cell.
    if (type.getQuery() == 1 && type.getRows() % lanes == 0 && rows.aligned) {
      Value address = panelCell(code, data, type, column, rowCell(code, type, rows.start));
      return convertLoaded(code, code.load(code.vectorType(lanes, inMemory), address), element);
    }
    if (type.getQuery() % lanes == 0 && rows.aligned)
      return scalarAt(rows.lead);
  }
  auto repeat = [&](Value value) {
    return isa<VectorType>(value.getType()) ? value : code.splat(value, lanes);
  };
  Value row = repeat(rowCell(code, type, query));
  Value cell = code.add(
      code.mul(repeat(column), code.splat(code.index(tile::paddedRows(type)), lanes)), row);
  return convertLoaded(code, gather(code, data, cell, inMemory), element);
}
