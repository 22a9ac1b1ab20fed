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

/// Floor division of a scalar or a vector by a block size; 0 stands for an absent axis.
static Value cellIndex(Code &code, Value position, int64_t cell) {
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

/// The value in memory as what the operation gives: bytes as truth, int32 as index.
static Value convertLoaded(Code &code, Value loaded, Type element) {
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

FailureOr<Value> skim::cpu::loadCell(Code &code, tile::LoadCellOp op, Value query, Value key) {
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  Type element = op.getValue().getType();
  Type inMemory = element.isInteger(1) ? code.getIntegerType(8)
                  : element.isIndex()  ? code.getIntegerType(32)
                                       : element;
  int64_t bytes = inMemory.getIntOrFloatBitWidth() / 8;

  // What does not change within the item is loaded beside its record, out of all loops.
  Code start = Code::after(*item);
  BufferView buffer = loadBuffer(start, item->getArguments(), op.getSpace(), op.getSlot());
  Value elements = start.mul(item->getRequest(), buffer.strides[0]);
  elements = start.add(elements, start.mul(headOf(start, *item, op.getHead()), buffer.strides[1]));
  if (op.getQueryCell() != 0) {
    Value base = start.sub(item->getKvLen(), item->getQLen());
    Value origin = start.floorDiv(base, static_cast<int64_t>(op.getQueryCell()));
    elements = start.sub(elements, start.mul(origin, buffer.strides[2]));
  }
  Value row = start.offset(buffer.data, start.mul(elements, start.index(bytes)));

  auto vector = dyn_cast<VectorType>(query.getType());
  auto repeat = [&](Value scalar) {
    return vector ? code.splat(scalar, vector.getNumElements()) : scalar;
  };
  if (op.getDiagonal())
    key = code.max(code.sub(query, key), repeat(code.index(0)));
  Value position = code.mul(cellIndex(code, key, op.getKeyCell()), repeat(buffer.strides[3]));
  if (op.getQueryCell() != 0)
    position = code.add(
        position, code.mul(cellIndex(code, query, op.getQueryCell()), repeat(buffer.strides[2])));
  position = code.mul(position, repeat(code.index(bytes)));
  if (!vector)
    return convertLoaded(code, code.load(inMemory, code.offset(row, position)), element);

  unsigned lanes = vector.getNumElements();
  Value wide =
      arith::IndexCastOp::create(code, code.vectorType(lanes, code.getI64Type()), position);
  Type pointers = VectorType::get({lanes}, code.pointerType());
  Value addresses =
      LLVM::GEPOp::create(code, pointers, code.getI8Type(), row, ArrayRef<LLVM::GEPArg>{wide});
  Value all = arith::ConstantOp::create(
      code, DenseElementsAttr::get(code.vectorType(lanes, code.getI1Type()), true));
  Value gathered = LLVM::masked_gather::create(code, code.vectorType(lanes, inMemory), addresses,
                                               all, ValueRange{}, static_cast<uint32_t>(bytes));
  return convertLoaded(code, gathered, element);
}
