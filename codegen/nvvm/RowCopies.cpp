#include "codegen/nvvm/RowCopies.h"

#include "codegen/cpu/CellAccess.h"
#include "codegen/cpu/KernelArguments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;
using cpu::Argument;

namespace {

constexpr int64_t kLanes = 32;
/// Bytes of one copy.
constexpr int64_t kChunkBytes = 16;
/// Rows of a panel that the swizzle permutes together, each its own way.
constexpr int64_t kSwizzledRows = 8;
constexpr int64_t kElementBytes = 2;
constexpr unsigned kGlobalSpace = 1;
constexpr int64_t kNoRow = -1;

/// An operand in memory, for one KV head.
class Rows {
public:
  Rows(Device &device, KeyTile &tile) : device(device), tile(tile) {
    bool isKeys = tile.operand == tile::Operand::Keys;
    tile::ItemRecordOp item = tile.item;
    auto load = [&](Argument ofKeys, Argument ofValues) {
      return loadArgument(device, item.getArguments(), isKeys ? ofKeys : ofValues);
    };
    data = load(Argument::KeyData, Argument::ValueData);
    pageStride = load(Argument::KeyPageStride, Argument::ValuePageStride);
    tokenStride = load(Argument::KeyTokenStride, Argument::ValueTokenStride);
    headStride = load(Argument::KeyHeadStride, Argument::ValueHeadStride);
  }

  /// Where key `key`'s row starts, in units of 16 bytes from `data`; kNoRow where there is no key.
  Value row(Value key) {
    Value exists = device.logicalAnd(device.lessOrEqual(device.index(0), key),
                                     device.less(key, tile.item.getKvLen()));
    return device.choose(
        exists,
        [&]() -> cpu::Code::Values {
          Value head = device.mul(tile.item.getKvHead(), headStride);
          return {device.toI32(
              device.floorDiv(device.add(head, slotOf(key)), kChunkBytes / kElementBytes))};
        },
        [&]() -> cpu::Code::Values { return {device.i32(kNoRow)}; })[0];
  }

  Value data;

private:
  /// Elements from the start of the operand to the row of head 0.
  Value slotOf(Value key) {
    int64_t page = pageSize(device);
    if (page == 0)
      return device.mul(device.add(device.toIndex(tile.firstKeyToken), key), tokenStride);
    Value arguments = tile.item.getArguments();
    Value block = device.floorDiv(key, page);
    Value entry =
        device.add(device.mul(tile.item.getRequest(),
                              loadArgument(device, arguments, Argument::BlockTableStride)),
                   block);
    Value table = loadArgument(device, arguments, Argument::BlockTable);
    Value address = device.offset(table, device.mul(entry, device.index(4)));
    // The entry of two tiles below: consecutive tiles are visited from the last to the first.
    int64_t tileKeys = cpu::kernelInfo(tile.item).schedule.getKeys();
    Value below = device.min(device.floorDiv(device.index(2 * tileKeys), page), block);
    device.prefetch(device.offset(address, device.mul(below, device.index(-4))));
    Value number = device.toIndex(device.load(device.getI32Type(), address));
    Value within = device.sub(key, device.mul(block, device.index(page)));
    return device.add(device.mul(number, pageStride), device.mul(within, tokenStride));
  }

  Device &device;
  KeyTile &tile;
  Value pageStride, tokenStride, headStride;
};

Value offsetBy(Device &device, Value pointer, LLVM::GEPArg bytes) {
  return LLVM::GEPOp::create(device, pointer.getType(), device.getI8Type(), pointer, bytes);
}
Value offsetBy(Device &device, Value pointer, int64_t bytes) {
  return offsetBy(device, pointer, LLVM::GEPArg(static_cast<int32_t>(bytes)));
}

/// The rows of a tile: each lane finds every thirty-second.
SmallVector<Value> findRows(Device &device, int64_t keys,
                            llvm::function_ref<Value(Value inTile)> rowOf) {
  SmallVector<Value> found;
  for (int64_t first = 0; first < keys; first += kLanes)
    found.push_back(rowOf(device.add(device.lane(), device.i32(first))));
  return found;
}

/// Starts to copy the rows that the lanes have found, in units of 16 bytes from `data`, to a slot
/// that starts at `start`. Each lane hands its rows to those that copy one.
void copyFound(Device &device, Value data, ArrayRef<Value> found, Value start, int64_t keys,
               const Panels &panels) {
  // With n chunks in a row of a panel, lane n r + c copies chunk c of row r of those that are
  // copied at once. The swizzle exchanges chunks within 128 bytes: of rows of 64, two have one
  // pattern.
  Value lane = device.lane();
  int64_t chunks = panels.rowBytes / kChunkBytes, rowsAtOnce = kLanes / chunks;
  Value rowOfLane = device.shiftRight(lane, llvm::Log2_64(chunks));
  Value chunk = device.bitAnd(lane, chunks - 1);
  Type global = LLVM::LLVMPointerType::get(device.getContext(), kGlobalSpace);
  Value source = LLVM::AddrSpaceCastOp::create(device, global, data);
  source = offsetBy(device, source, device.mul(chunk, device.i32(kChunkBytes)));
  SmallVector<Value> destinations;
  for (int64_t first = 0; first < kSwizzledRows; first += rowsAtOnce) {
    Value row = device.add(rowOfLane, device.i32(first));
    Value pattern = device.shiftRight(row, llvm::Log2_64(kSwizzledRows / chunks));
    Value swizzled = arith::XOrIOp::create(device, chunk, pattern);
    destinations.push_back(device.shared(
        device.add(start, device.add(device.mul(row, device.i32(panels.rowBytes)),
                                     device.mul(swizzled, device.i32(kChunkBytes))))));
  }
  for (int64_t row = 0; row < keys; row += rowsAtOnce) {
    Value from = device.add(rowOfLane, device.i32(row % kLanes));
    Value unit =
        NVVM::ShflOp::create(device, device.getI32Type(), device.i32(-1), found[row / kLanes], from,
                             device.i32(kLanes - 1), NVVM::ShflKind::idx, UnitAttr());
    Value missing = device.equal(unit, device.i32(kNoRow));
    Value bytes = device.select(missing, device.i32(0), device.i32(kChunkBytes));
    Value wide = arith::ExtUIOp::create(device, device.getI64Type(),
                                        device.select(missing, device.i32(0), unit));
    Value scaled = arith::ShLIOp::create(
        device, wide,
        arith::ConstantOp::create(device, device.getI64IntegerAttr(llvm::Log2_64(kChunkBytes))));
    Value at = offsetBy(device, source, scaled);
    int64_t within = row % kSwizzledRows;
    Value to = destinations[within / rowsAtOnce];
    for (int64_t panel = 0; panel < panels.count; ++panel)
      NVVM::CpAsyncOp::create(
          device, offsetBy(device, to, (row - within + panel * keys) * panels.rowBytes),
          offsetBy(device, at, panel * panels.rowBytes), static_cast<uint32_t>(kChunkBytes),
          NVVM::LoadCacheModifierKind::CG, bytes);
  }
}

} // namespace

/// Where slot `number` of a ring starts in shared memory.
static Value slotStart(Device &device, const Ring &ring, Value number) {
  Value slot = device.slotOf(ring, number);
  return device.add(device.mul(slot, device.i32(ring.bytes)), device.i32(ring.data));
}

void skim::nvvm::copyRowsOfTile(Device &device, const SharedLayout &layout, KeyTile &tile,
                                Value number, Value positions,
                                llvm::function_ref<void()> takeSlot) {
  cpu::KernelInfo info = cpu::kernelInfo(tile.item);
  int64_t keys = info.schedule.getKeys();
  bool isKeys = tile.operand == tile::Operand::Keys;
  const Ring &ring = isKeys ? layout.keys : layout.values;
  Panels panels(isKeys ? info.problem.getHeadDim() : info.problem.getValueDim());
  Value filled = device.filled(ring, device.slotOf(ring, number));
  Rows rows(device, tile);
  SmallVector<Value> found = findRows(device, keys, [&](Value inTile) {
    if (positions)
      return rows.row(device.toIndex(
          device.loadShared(device.add(positions, device.mul(inTile, device.i32(4))))));
    return rows.row(device.add(tile.firstKey, device.toIndex(inTile)));
  });
  takeSlot();
  copyFound(device, rows.data, found, slotStart(device, ring, number), keys, panels);
  // Each lane's copies count as one more arrival until they are done.
  NVVM::CpAsyncMBarrierArriveOp::create(device, filled, /*noinc=*/false);
  device.syncWarp();
  device.ifThen(device.isLane(0), [&] { device.arrive(filled); });
}

void skim::nvvm::copyMeans(Device &device, const SharedLayout &layout, KeyTile &tile, Value number,
                           tile::SourceAttr source, llvm::function_ref<void()> takeSlot) {
  cpu::KernelInfo info = cpu::kernelInfo(tile.item);
  int64_t keys = info.schedule.getKeys();
  bool isKeys = tile.operand == tile::Operand::Keys;
  const Ring &ring = isKeys ? layout.keys : layout.values;
  int64_t columns = isKeys ? info.problem.getHeadDim() : info.problem.getValueDim();
  cpu::CellRow means = cpu::cellRow(device, tile.item, tile::Space::Buffer,
                                    isKeys ? source.getKeys() : source.getValues(),
                                    tile::HeadKind::Kv, {}, kElementBytes);
  Value units = device.floorDiv(means.stride, kChunkBytes / kElementBytes);
  SmallVector<Value> found = findRows(device, keys, [&](Value inTile) {
    Value exists = device.less(device.toIndex(inTile), tile.count);
    Value block = device.add(tile.firstKey, device.toIndex(inTile));
    return device.select(exists, device.toI32(device.mul(block, units)), device.i32(kNoRow));
  });
  takeSlot();
  copyFound(device, means.address, found, slotStart(device, ring, number), keys, Panels(columns));
  // There are few of them. So that consumers need no fence for the visits around, the loader waits.
  NVVM::CpAsyncCommitGroupOp::create(device);
  NVVM::CpAsyncWaitGroupOp::create(device, 0);
  fenceRowCopies(device);
  device.syncWarp();
  device.ifThen(device.isLane(0),
                [&] { device.arrive(device.filled(ring, device.slotOf(ring, number))); });
}

void skim::nvvm::fenceRowCopies(Device &device) {
  NVVM::FenceProxyOp::create(
      device, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(device.getContext(), NVVM::SharedSpace::shared_cta));
}
