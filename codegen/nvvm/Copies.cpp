#include "codegen/nvvm/Copies.h"

#include "codegen/cpu/KernelArguments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {
// Arguments of the kernel.
constexpr unsigned kQueryMap = 4;
constexpr unsigned kKeyMap = 5;
constexpr unsigned kValueMap = 6;

constexpr int64_t kLanes = 32;
} // namespace

int64_t skim::nvvm::pageSize(Device &device) {
  return device.kernel->getAttrOfType<IntegerAttr>(kPageSizeAttr).getInt();
}

/// One box of a tensor map; `coordinates` from the innermost axis out.
static void copyBox(Device &device, unsigned map, Value destination, Value barrier,
                    ValueRange coordinates) {
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      device, destination, device.kernel.getArgument(map), coordinates, barrier,
      /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
      NVVM::TMALoadMode::TILE, /*isCTAOnly=*/true, NVVM::CTAGroupKindAttr(),
      /*predicate=*/Value());
}

static Value slotAddress(Device &device, const Ring &ring, Value number) {
  Value slot = device.slotOf(ring, number);
  return device.add(device.mul(slot, device.i32(ring.bytes)), device.i32(ring.data));
}

void skim::nvvm::copyQueryTile(Device &device, const SharedLayout &layout, Value number,
                               Value token, Value head) {
  const Ring &ring = layout.queries;
  Value barrier = device.filled(ring, device.slotOf(ring, number));
  device.arriveExpecting(barrier, ring.bytes);
  Value zero = device.i32(0);
  copyBox(device, kQueryMap, device.shared(slotAddress(device, ring, number)), barrier,
          {zero, token, head, zero});
}

/// The boxes of a tile of contiguous keys: one.
static void copyContiguous(Device &device, KeyTile &tile, unsigned map, Value slot, Value barrier) {
  device.ifThen(device.isLane(0), [&] {
    Value zero = device.i32(0);
    Value token = device.add(tile.firstKeyToken, device.toI32(tile.firstKey));
    copyBox(device, map, device.shared(slot), barrier,
            {zero, token, zero, device.toI32(tile.item.getKvHead())});
  });
}

/// The page of the request that holds key `key`, -1 where there is none: a box of that page is
/// filled with 0 and touches no memory.
static Value pageOf(Device &device, KeyTile &tile, Value key, int64_t page) {
  Value arguments = tile.item.getArguments();
  return device.choose(
      device.less(key, tile.item.getKvLen()),
      [&]() -> cpu::Code::Values {
        Value row = device.mul(tile.item.getRequest(),
                               loadArgument(device, arguments, cpu::Argument::BlockTableStride));
        Value entry = device.add(row, device.floorDiv(key, page));
        Value table = loadArgument(device, arguments, cpu::Argument::BlockTable);
        Value address = device.offset(table, device.mul(entry, device.index(4)));
        return {device.load(device.getI32Type(), address)};
      },
      [&]() -> cpu::Code::Values { return {device.i32(-1)}; })[0];
}

/// The pages of a tile of paged keys, each in the lane that copies it.
static SmallVector<Value> findPages(Device &device, KeyTile &tile, int64_t keys) {
  int64_t page = pageSize(device);
  if (page == 0)
    return {};
  if (page >= keys)
    return {pageOf(device, tile, tile.firstKey, page)};
  SmallVector<Value> found;
  for (int64_t first = 0; first < keys / page; first += kLanes) {
    Value position = device.toIndex(device.add(device.lane(), device.i32(first)));
    Value key = device.add(tile.firstKey, device.mul(position, device.index(page)));
    found.push_back(pageOf(device, tile, key, page));
  }
  return found;
}

static void copyPaged(Device &device, KeyTile &tile, unsigned map, ArrayRef<Value> found,
                      Value slot, Value barrier, int64_t keys, const Panels &panels) {
  int64_t page = pageSize(device);
  Value zero = device.i32(0);
  Value kvHead = device.toI32(tile.item.getKvHead());
  if (page >= keys) {
    device.ifThen(device.isLane(0), [&] {
      Value within = device.bitAnd(device.toI32(tile.firstKey), page - 1);
      copyBox(device, map, device.shared(slot), barrier, {zero, within, zero, kvHead, found[0]});
    });
    return;
  }
  // A page a lane, panel by panel.
  int64_t pages = keys / page;
  Value lane = device.lane();
  auto copyPage = [&](Value position, Value number) {
    Value first = device.mul(position, device.i32(page));
    Value row = device.add(slot, device.mul(first, device.i32(panels.rowBytes)));
    for (int64_t panel = 0; panel < panels.count; ++panel) {
      Value start = device.add(row, device.i32(panel * keys * panels.rowBytes));
      copyBox(device, map, device.shared(start), barrier,
              {zero, zero, device.i32(panel), kvHead, number});
    }
  };
  if (pages < kLanes)
    device.ifThen(device.less(lane, device.i32(pages)), [&] { copyPage(lane, found[0]); });
  else
    for (auto [i, number] : llvm::enumerate(found))
      copyPage(device.add(lane, device.i32(static_cast<int64_t>(i) * kLanes)), number);
}

/// Overwrites rows [count, keys) of a slot by 0, all lanes together.
static void clearRows(Device &device, Value slot, Value count, int64_t keys, const Panels &panels) {
  constexpr int64_t kChunk = 16;
  int64_t chunks = panels.rowBytes / kChunk;
  Type chunk = VectorType::get({4}, device.getI32Type());
  Value zero = arith::ConstantOp::create(device, cast<TypedAttr>(device.getZeroAttr(chunk)));
  Value end = device.index(keys * chunks);
  Value first = device.add(device.mul(count, device.index(chunks)), device.toIndex(device.lane()));
  device.loop(first, end, 32, [&](Value position) {
    Value offset = device.add(slot, device.mul(device.toI32(position), device.i32(kChunk)));
    for (int64_t panel = 0; panel < panels.count; ++panel)
      LLVM::StoreOp::create(
          device, zero,
          device.shared(device.add(offset, device.i32(panel * keys * panels.rowBytes))),
          /*alignment=*/kChunk);
  });
  // What generic stores wrote is read by the tensor cores.
  NVVM::FenceProxyOp::create(
      device, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(device.getContext(), NVVM::SharedSpace::shared_cta));
}

void skim::nvvm::copyKeyTile(Device &device, const SharedLayout &layout, KeyTile &tile,
                             Value number, llvm::function_ref<void()> takeSlot) {
  cpu::KernelInfo info = cpu::kernelInfo(tile.item);
  int64_t keys = info.schedule.getKeys();
  bool isKeys = tile.operand == tile::Operand::Keys;
  const Ring &ring = isKeys ? layout.keys : layout.values;
  Panels panels(isKeys ? info.problem.getHeadDim() : info.problem.getValueDim());
  unsigned map = isKeys ? kKeyMap : kValueMap;
  SmallVector<Value> pages = findPages(device, tile, keys);
  takeSlot();
  Value slot = slotAddress(device, ring, number);
  Value filled = device.filled(ring, device.slotOf(ring, number));
  Value cut = device.less(tile.count, device.index(keys));
  // The copy of a cut tile completes on a barrier of the loader's own, which then clears its rest.
  Value barrier = isKeys ? filled : Value(device.select(cut, device.shared(layout.tail), filled));
  device.ifThen(device.isLane(0), [&] { device.arriveExpecting(barrier, ring.bytes); });
  device.syncWarp();
  if (pageSize(device) == 0)
    copyContiguous(device, tile, map, slot, barrier);
  else
    copyPaged(device, tile, map, pages, slot, barrier, keys, panels);
  if (isKeys)
    return;
  device.ifThen(cut, [&] {
    Value tails = frame(device, Frame::Tail);
    device.waitFor(device.shared(layout.tail), device.bitAnd(device.getI32(tails), 1));
    device.set(tails, device.add(device.getI32(tails), device.i32(1)));
    clearRows(device, slot, tile.count, keys, panels);
    device.syncWarp();
    device.ifThen(device.isLane(0), [&] { device.arrive(filled); });
  });
}
