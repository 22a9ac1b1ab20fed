#include "codegen/nvvm/KeyBytes.h"

#include "codegen/cpu/CellAccess.h"
#include "codegen/cpu/Items.h"
#include "codegen/nvvm/PackedKeys.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;
using cpu::Code;

static constexpr int64_t kLanes = 32;
static constexpr int64_t kBytes = kPackedKeys; ///< of a lane
/// Bytes of one load, and of the boundary that it needs.
static constexpr int64_t kLoadBytes = 16;
static constexpr int64_t kChunks = kBytes / kLoadBytes;

std::optional<ByteRow> skim::nvvm::byteRow(tile::LiteralOp literal, tile::ItemRecordOp item) {
  tile::LoadCellOp load = byteOfKey(literal, cpu::kernelInfo(item).schedule.getRows());
  if (!load)
    return std::nullopt;
  // Where the row starts is known outside of all loops.
  Code start = Code::after(item);
  auto queryCell = static_cast<int64_t>(load.getQueryCell());
  Value queryIndex;
  if (queryCell != 0) {
    Value base = start.sub(item.getKvLen(), item.getQLen());
    queryIndex = start.sub(cpu::cellIndex(start, cpu::firstRow(start, item), queryCell),
                           cpu::cellIndex(start, base, queryCell));
  }
  cpu::CellRow row = cpu::cellRow(start, item, load.getSpace(), load.getSlot(), load.getHead(),
                                  queryIndex, /*elementBytes=*/1);
  Value number = LLVM::PtrToIntOp::create(start, start.getI64Type(), row.address);
  Value mask = arith::ConstantOp::create(start, start.getI64IntegerAttr(kLoadBytes - 1));
  Value zero = arith::ConstantOp::create(start, start.getI64IntegerAttr(0));
  Value aligned = start.equal(arith::AndIOp::create(start, number, mask), zero);
  return ByteRow{literal, row.address,
                 start.logicalAnd(aligned, start.equal(row.stride, start.index(1)))};
}

/// An address in global memory, for loads and copies.
static Value inGlobalMemory(Device &device, Value address) {
  constexpr unsigned kGlobalSpace = 1;
  return LLVM::AddrSpaceCastOp::create(
      device, LLVM::LLVMPointerType::get(device.getContext(), kGlobalSpace), address);
}
static Value offsetBy(Device &device, Value pointer, int64_t bytes) {
  return LLVM::GEPOp::create(device, pointer.getType(), device.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

// A lane's 128 bytes lie side by side in a buffer, its chunks of 16 bytes permuted by the number of
// the lane: so lanes that read chunk c of their own meet in no bank.

void skim::nvvm::copyAhead(Device &device, const SharedLayout &layout, const ByteRow &row,
                           Value firstKey, Value lanes, Value number) {
  // Each copy is of consecutive bytes, those of four lanes.
  constexpr int64_t kLanesOfCopy = kLanes / kChunks;
  Value lane = device.lane();
  Value owner = device.shiftRight(lane, llvm::Log2_64(kChunks));
  Value chunk = device.bitAnd(lane, kChunks - 1);
  Value present = device.toI32(device.min(lanes, device.index(kLanes)));
  device.ifThen(row.aligned, [&] {
    Value start = device.offset(row.address, firstKey);
    Value source = inGlobalMemory(
        device, device.offset(start, device.toIndex(device.mul(lane, device.i32(kLoadBytes)))));
    Value buffer = device.mul(number, device.i32(SharedLayout::kAheadBytes));
    Value moved = arith::XOrIOp::create(device, chunk, owner);
    Value offset = device.add(device.mul(owner, device.i32(kBytes)),
                              device.mul(moved, device.i32(kLoadBytes)));
    // Four lanes on, one bit of the permutation changes.
    Value even = device.add(buffer, offset);
    Value odd = arith::XOrIOp::create(device, even, device.i32(kLanesOfCopy * kLoadBytes));
    for (int64_t copy = 0; copy < kChunks; ++copy) {
      int64_t first = copy * kLanes * kLoadBytes;
      Value left = device.sub(present, device.i32(copy * kLanesOfCopy));
      Value bytes = device.select(device.less(owner, left), device.i32(kLoadBytes), device.i32(0));
      Value to = device.add(copy % 2 == 0 ? even : odd, device.i32(layout.ahead + first));
      NVVM::CpAsyncOp::create(device, device.shared(to), offsetBy(device, source, first),
                              static_cast<uint32_t>(kLoadBytes), NVVM::LoadCacheModifierKind::CG,
                              bytes);
    }
  });
  NVVM::CpAsyncCommitGroupOp::create(device);
}

/// A chunk that is loaded again is not kept in registers in between.
static Value loadChunk(Device &device, Value address, bool again) {
  Type chunk = VectorType::get({kLoadBytes / 4}, device.getI32Type());
  return LLVM::LoadOp::create(device, chunk, address, /*alignment=*/kLoadBytes,
                              /*isVolatile=*/again);
}

static Value wideConstant(Device &device, int64_t value) {
  return arith::ConstantOp::create(
      device, device.getIntegerAttr(device.getIntegerType(kPackedKeys), value));
}

/// `load` gives the chunks, where `again` says whether it did before.
static Value pack(Device &device, llvm::function_ref<Code::Values(bool again)> load) {
  Value some = device.i32(0);
  // Eight bytes of 0 or 1, each times the bit that it becomes, add up to eight bits.
  auto packChunks = [&](ValueRange chunks, llvm::function_ref<Value(Value)> ones) {
    Value all = wideConstant(device, 0);
    for (auto [i, chunk] : llvm::enumerate(chunks))
      for (int64_t half : {0, 1}) {
        Value sum = device.i32(0);
        for (int64_t quad : {0, 1}) {
          Value bytes = LLVM::ExtractElementOp::create(device, chunk, device.i32(2 * half + quad));
          sum = device.dotBytes(ones(bytes), quad == 0 ? 0x08040201 : 0x80402010, sum);
        }
        Value wide = arith::ExtUIOp::create(device, all.getType(), sum);
        int64_t first = static_cast<int64_t>(i) * kLoadBytes + 8 * half;
        all =
            device.logicalOr(all, arith::ShLIOp::create(device, wide, wideConstant(device, first)));
      }
    return all;
  };
  Value packed = packChunks(load(/*again=*/false), [&](Value bytes) {
    some = device.logicalOr(some, bytes);
    return bytes;
  });
  // Truths are mostly 0 or 1 in memory, but any other byte is true as well.
  Value others = device.bitAnd(some, 0xFEFEFEFE);
  return device.choose(
      device.equal(others, device.i32(0)), [&]() -> Code::Values { return {packed}; },
      [&]() -> Code::Values {
        return {packChunks(load(/*again=*/true), [&](Value bytes) {
          Value low = device.add(device.bitAnd(bytes, 0x7F7F7F7F), device.i32(0x7F7F7F7F));
          return device.bitAnd(device.shiftRight(device.logicalOr(low, bytes), 7), 0x01010101);
        })};
      })[0];
}

Value skim::nvvm::packBytes(Device &device, const ByteRow &row, Value firstKey) {
  return pack(device, [&](bool again) {
    Value address = inGlobalMemory(device, device.offset(row.address, firstKey));
    Code::Values chunks;
    for (int64_t i = 0; i < kBytes; i += kLoadBytes)
      chunks.push_back(loadChunk(device, offsetBy(device, address, i), again));
    return chunks;
  });
}

Value skim::nvvm::packCopiedBytes(Device &device, const SharedLayout &layout, Value number) {
  return pack(device, [&](bool again) {
    Value lane = device.lane();
    Value buffer = device.add(device.mul(number, device.i32(SharedLayout::kAheadBytes)),
                              device.mul(lane, device.i32(kBytes)));
    Value first =
        device.add(buffer, device.mul(device.bitAnd(lane, kChunks - 1), device.i32(kLoadBytes)));
    Code::Values chunks;
    for (int64_t chunk = 0; chunk < kChunks; ++chunk) {
      // The buffer starts at a multiple of its size: the bits of the chunk stand alone.
      Value offset = arith::XOrIOp::create(device, first, device.i32(chunk * kLoadBytes));
      chunks.push_back(
          loadChunk(device, device.shared(device.add(offset, device.i32(layout.ahead))), again));
    }
    return chunks;
  });
}
