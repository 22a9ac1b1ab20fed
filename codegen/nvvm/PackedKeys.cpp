#include "codegen/nvvm/PackedKeys.h"

#include "codegen/cpu/CellAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

tile::LoadCellOp skim::nvvm::byteOfKey(tile::LiteralOp literal, int64_t rows) {
  Block &body = literal.getBody().front();
  auto load = dyn_cast<tile::LoadCellOp>(body.front());
  if (!load || body.getTerminator()->getOperand(0) != load.getValue() ||
      load->getNextNode() != body.getTerminator())
    return {};
  bool plain = load.getValue().getType().isInteger(1) && load.getKeyCell() == 1 &&
               !load.getDiagonal() && load.getQueryCell() % rows == 0 &&
               load.getQuery() == body.getArgument(0) && load.getKey() == body.getArgument(1);
  return plain ? load : tile::LoadCellOp();
}

static std::optional<int64_t> bufferOf(tile::LoadCellOp load) {
  auto buffer = load->getAttrOfType<IntegerAttr>(kPackedKeysAttr);
  return buffer ? std::optional(buffer.getInt()) : std::nullopt;
}

std::vector<PackedKeys> skim::nvvm::packedKeysOf(tile::ProgramOp program) {
  std::vector<PackedKeys> all;
  program.walk([&](tile::LoadCellOp load) {
    std::optional<int64_t> buffer = bufferOf(load);
    if (!buffer)
      return;
    PackedKeys packed = {static_cast<int64_t>(load.getSlot()), *buffer};
    if (!llvm::is_contained(all, packed))
      all.push_back(packed);
  });
  return all;
}

Value skim::nvvm::packedRow(tile::LoadCellOp load, tile::ItemRecordOp item) {
  std::optional<int64_t> buffer = bufferOf(load);
  if (!buffer)
    return {};
  cpu::Code start = cpu::Code::after(item);
  return cpu::cellRow(start, item, tile::Space::Buffer, *buffer, load.getHead(),
                      /*queryCell=*/{}, /*elementBytes=*/1)
      .address;
}

Value skim::nvvm::loadPacked(Device &device, Value row, Value number) {
  constexpr int64_t kBytes = kPackedKeys / 8;
  constexpr unsigned kGlobalSpace = 1;
  Value address = LLVM::AddrSpaceCastOp::create(
      device, LLVM::LLVMPointerType::get(device.getContext(), kGlobalSpace),
      device.offset(row, device.mul(number, device.index(kBytes))));
  Type halves = VectorType::get({2}, device.getI64Type());
  return LLVM::LoadOp::create(device, halves, address, /*alignment=*/kBytes);
}

Value skim::nvvm::packedBits(Device &device, Value loaded) {
  Type wide = device.getIntegerType(kPackedKeys);
  auto half = [&](int64_t number) -> Value {
    Value narrow = LLVM::ExtractElementOp::create(device, loaded, device.i32(number));
    return arith::ExtUIOp::create(device, wide, narrow);
  };
  Value shift = arith::ConstantOp::create(device, device.getIntegerAttr(wide, kPackedKeys / 2));
  return device.logicalOr(half(0), arith::ShLIOp::create(device, half(1), shift));
}
