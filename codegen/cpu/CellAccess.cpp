#include "codegen/cpu/CellAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

Value skim::cpu::headOf(Code &code, tile::ItemRecordOp item, tile::HeadKind kind) {
  switch (kind) {
  case tile::HeadKind::Query:
    return item.getHead();
  case tile::HeadKind::Kv:
    return item.getKvHead();
  case tile::HeadKind::None:
    break;
  }
  return code.index(0);
}

CellRow skim::cpu::cellRow(Code &code, tile::ItemRecordOp item, tile::Space space, int64_t slot,
                           tile::HeadKind head, Value queryCell, int64_t elementBytes) {
  BufferView buffer = loadBuffer(code, item.getArguments(), space, slot);
  Value elements = code.mul(item.getRequest(), buffer.strides[0]);
  elements = code.add(elements, code.mul(headOf(code, item, head), buffer.strides[1]));
  if (queryCell)
    elements = code.add(elements, code.mul(queryCell, buffer.strides[2]));
  Value bytes = code.mul(elements, code.index(elementBytes));
  return {code.offset(buffer.data, bytes), buffer.strides[3]};
}

Value skim::cpu::cellIndex(Code &code, Value position, int64_t cell) {
  auto vector = dyn_cast<VectorType>(position.getType());
  if (!vector)
    return cell == 0 ? code.index(0) : code.floorDiv(position, cell);
  auto repeat = [&](int64_t value) {
    return code.splat(code.index(value), vector.getNumElements());
  };
  if (cell == 0)
    return repeat(0);
  if (cell == 1)
    return position;
  if (llvm::isPowerOf2_64(cell))
    return code.createOrFold<arith::ShRSIOp>(position, repeat(llvm::Log2_64(cell)));
  Value quotient = code.createOrFold<arith::DivSIOp>(position, repeat(cell));
  Value remainder = code.createOrFold<arith::RemSIOp>(position, repeat(cell));
  return code.select(code.less(remainder, repeat(0)), code.sub(quotient, repeat(1)), quotient);
}

Value skim::cpu::convertLoaded(Code &code, Value loaded, Type element) {
  auto vector = dyn_cast<VectorType>(loaded.getType());
  Type type = element;
  if (vector)
    type = code.vectorType(vector.getNumElements(), element);
  if (element.isInteger(1)) {
    Value zero =
        arith::ConstantOp::create(code, cast<TypedAttr>(code.getZeroAttr(loaded.getType())));
    return arith::CmpIOp::create(code, arith::CmpIPredicate::ne, loaded, zero);
  }
  if (element.isIndex())
    return arith::IndexCastOp::create(code, type, loaded);
  return loaded;
}

Value skim::cpu::gather(Code &code, Value data, Value indices, Type inMemory) {
  auto lanes = static_cast<unsigned>(cast<VectorType>(indices.getType()).getNumElements());
  int64_t bytes = inMemory.getIntOrFloatBitWidth() / 8;
  Value offsets = code.mul(indices, code.splat(code.index(bytes), lanes));
  Value wide = arith::IndexCastOp::create(code, code.vectorType(lanes, code.getI64Type()), offsets);
  Type pointers = VectorType::get({lanes}, code.pointerType());
  Value addresses =
      LLVM::GEPOp::create(code, pointers, code.getI8Type(), data, ArrayRef<LLVM::GEPArg>{wide});
  Value all = arith::ConstantOp::create(
      code, DenseElementsAttr::get(code.vectorType(lanes, code.getI1Type()), true));
  return LLVM::masked_gather::create(code, code.vectorType(lanes, inMemory), addresses, all,
                                     ValueRange{}, static_cast<uint32_t>(bytes));
}

/// The address of what does not change within the item: its request, its head and, along an axis
/// of query cells, the first of them.
static Value originOf(Code &start, tile::LoadCellOp op, tile::ItemRecordOp item,
                      const BufferView &buffer, int64_t bytes) {
  Value elements = start.mul(item.getRequest(), buffer.strides[0]);
  elements = start.add(elements, start.mul(headOf(start, item, op.getHead()), buffer.strides[1]));
  if (op.getQueryCell() != 0) {
    Value base = start.sub(item.getKvLen(), item.getQLen());
    Value origin = start.floorDiv(base, static_cast<int64_t>(op.getQueryCell()));
    elements = start.sub(elements, start.mul(origin, buffer.strides[2]));
  }
  return start.offset(buffer.data, start.mul(elements, start.index(bytes)));
}

Value skim::cpu::loadCell(Code &code, tile::LoadCellOp op, tile::ItemRecordOp item, CellPosition at,
                          unsigned lanes) {
  Type element = op.getValue().getType();
  Type inMemory = element.isInteger(1) ? code.getIntegerType(8)
                  : element.isIndex()  ? code.getIntegerType(32)
                                       : element;
  int64_t bytes = inMemory.getIntOrFloatBitWidth() / 8;
  // Loaded beside the item's record, out of all loops.
  Code start = Code::after(item);
  BufferView buffer = loadBuffer(start, item.getArguments(), op.getSpace(), op.getSlot());
  Value row = originOf(start, op, item, buffer, bytes);

  auto isVector = [](Value value) { return value && isa<VectorType>(value.getType()); };
  bool consecutive =
      at.leadElement && isVector(at.element) && !isVector(at.query) && !isVector(at.key);
  if (consecutive)
    at.element = at.leadElement;
  bool vectors = isVector(at.query) || isVector(at.key) || isVector(at.element);
  auto repeat = [&](Value value) {
    return vectors && !isVector(value) ? code.splat(value, lanes) : value;
  };
  Value key = repeat(at.key), query = repeat(at.query);
  if (op.getDiagonal()) {
    key = code.sub(query, key);
    // The smallest distance is 1 - kv_len + base, which is 1 - q_len.
    if (op.getNoncausal())
      key = code.add(key, repeat(code.sub(item.getQLen(), code.index(1))));
    key = code.max(key, repeat(code.index(0)));
  }
  Value position = code.mul(cellIndex(code, key, op.getKeyCell()), repeat(buffer.strides[3]));
  if (op.getQueryCell() != 0)
    position = code.add(
        position, code.mul(cellIndex(code, query, op.getQueryCell()), repeat(buffer.strides[2])));
  if (at.element)
    position = code.add(position, repeat(at.element));
  if (vectors)
    return convertLoaded(code, gather(code, row, position, inMemory), element);
  Type loaded = consecutive ? code.vectorType(lanes, inMemory) : inMemory;
  Value address = code.offset(row, code.mul(position, code.index(bytes)));
  return convertLoaded(code, code.load(loaded, address), element);
}
