#include "codegen/nvvm/Batches.h"

#include "codegen/cpu/KernelArguments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <skim/abi.h>

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;
using cpu::Argument;

// A batch starts with its flags, the number of its visits and the fields of the item.
static constexpr int64_t kFlagsOffset = 0;
static constexpr int64_t kCountOffset = 4;
static constexpr int64_t kItemOffset = 8;

static std::array<Value ItemFields::*, 8> fieldsOfItem() {
  return {&ItemFields::request,       &ItemFields::head,     &ItemFields::tile,
          &ItemFields::qLen,          &ItemFields::kvLen,    &ItemFields::firstToken,
          &ItemFields::firstKeyToken, &ItemFields::hasVisits};
}

static ItemFields loadFields(Device &device, Value offset) {
  ItemFields item;
  int64_t position = 0;
  for (Value ItemFields::*field : fieldsOfItem())
    item.*field = device.loadShared(offset, 4 * position++);
  return item;
}
static void storeFields(Device &device, Value offset, const ItemFields &item) {
  int64_t position = 0;
  for (Value ItemFields::*field : fieldsOfItem())
    device.storeShared(item.*field, offset, 4 * position++);
}

ItemFields skim::nvvm::readItem(Device &device, Value arguments, Value items, Value ordinal) {
  Type i32 = device.getI32Type();
  auto entry = [&](Value array, Value position, int64_t bytes, int64_t plus = 0) {
    Value offset = device.mul(device.toIndex(position), device.index(bytes));
    return device.load(i32, device.offset(device.offset(array, offset), plus));
  };
  ItemFields item;
  item.hasVisits = device.i32(0);
  constexpr auto bytes = static_cast<int64_t>(sizeof(skim_work_item));
  item.request = entry(items, ordinal, bytes, offsetof(skim_work_item, request));
  item.head = entry(items, ordinal, bytes, offsetof(skim_work_item, head));
  item.tile = entry(items, ordinal, bytes, offsetof(skim_work_item, tile));
  Value starts = cpu::loadArgument(device, arguments, Argument::CuSeqlensQ);
  item.firstToken = entry(starts, item.request, 4);
  item.qLen = device.sub(entry(starts, item.request, 4, 4), item.firstToken);
  item.kvLen = entry(cpu::loadArgument(device, arguments, Argument::KvLens), item.request, 4);
  Value keyStarts = cpu::loadArgument(device, arguments, Argument::CuSeqlensKv);
  item.firstKeyToken = device.choose(
      device.notNull(keyStarts),
      [&]() -> cpu::Code::Values { return {entry(keyStarts, item.request, 4)}; },
      [&]() -> cpu::Code::Values { return {device.i32(0)}; })[0];
  return item;
}

static Value recordOf(Device &device, const SharedLayout &layout, Value number) {
  Value slot = device.slotOf(layout.queries, number);
  return device.add(device.mul(slot, device.i32(SharedLayout::kItemBytes)),
                    device.i32(layout.itemRecords));
}
ItemFields skim::nvvm::loadItem(Device &device, const SharedLayout &layout, Value number) {
  return loadFields(device, recordOf(device, layout, number));
}
void skim::nvvm::storeItem(Device &device, const SharedLayout &layout, Value number,
                           const ItemFields &item) {
  storeFields(device, recordOf(device, layout, number), item);
}

/// Offset of the batch that the warp is at.
static Value batchStart(Device &device, const SharedLayout &layout) {
  Value slot = device.slotOf(layout.batches, device.getI32(frame(device, Frame::Batch)));
  return device.add(device.mul(slot, device.i32(layout.batches.bytes)),
                    device.i32(layout.batches.data));
}
static void nextBatch(Device &device) {
  Value batch = frame(device, Frame::Batch);
  device.set(batch, device.add(device.getI32(batch), device.i32(1)));
}
static Value visitOffset(Device &device, const SharedLayout &layout, Value position) {
  Value start = device.add(batchStart(device, layout), device.i32(SharedLayout::kBatchHeader));
  return device.add(start, device.mul(position, device.i32(SharedLayout::kVisitBytes)));
}

void skim::nvvm::beginBatch(Device &device, const SharedLayout &layout) {
  device.waitEmpty(layout.batches, device.getI32(frame(device, Frame::Batch)));
  device.set(frame(device, Frame::Fill), device.i32(0));
}

void skim::nvvm::beginBatches(Device &device, const SharedLayout &layout, const ItemFields &item) {
  beginBatch(device, layout);
  device.ifThen(device.isLane(0), [&] {
    storeFields(device, device.add(batchStart(device, layout), device.i32(kItemOffset)), item);
  });
}

void skim::nvvm::appendVisits(Device &device, const SharedLayout &layout, Value visited,
                              Value firstKey, Value masked) {
  Value fill = frame(device, Frame::Fill);
  Value lanes = device.ballot(visited);
  Value below = arith::ShLIOp::create(device, device.i32(1), device.lane());
  below = device.sub(below, device.i32(1));
  Value rank = math::CtPopOp::create(device, arith::AndIOp::create(device, lanes, below));
  Value full = device.less(device.i32(SharedLayout::kBatchVisits - 32), device.getI32(fill));
  Value some = device.logicalNot(device.equal(lanes, device.i32(0)));
  device.ifThen(device.logicalAnd(full, some), [&] {
    publishBatch(device, layout, 0);
    beginBatch(device, layout);
  });
  Value filled = device.getI32(fill);
  device.ifThen(visited, [&] {
    Value offset = visitOffset(device, layout, device.add(filled, rank));
    device.storeShared(firstKey, offset);
    device.storeShared(device.select(masked, device.i32(kMasked), device.i32(0)), offset, 4);
  });
  device.set(fill, device.add(filled, math::CtPopOp::create(device, lanes)));
}

void skim::nvvm::publishBatch(Device &device, const SharedLayout &layout, int64_t flags) {
  Value number = device.getI32(frame(device, Frame::Batch));
  device.syncWarp();
  device.ifThen(device.isLane(0), [&] {
    Value start = batchStart(device, layout);
    device.storeShared(device.i32(flags), start, kFlagsOffset);
    device.storeShared(device.getI32(frame(device, Frame::Fill)), start, kCountOffset);
    device.arrive(device.filled(layout.batches, device.slotOf(layout.batches, number)));
  });
  nextBatch(device);
}

Value skim::nvvm::awaitBatch(Device &device, const SharedLayout &layout) {
  device.waitFilled(layout.batches, device.getI32(frame(device, Frame::Batch)));
  return device.loadShared(batchStart(device, layout), kFlagsOffset);
}
Value skim::nvvm::batchCount(Device &device, const SharedLayout &layout) {
  return device.loadShared(batchStart(device, layout), kCountOffset);
}
ItemFields skim::nvvm::batchItem(Device &device, const SharedLayout &layout) {
  ItemFields item =
      loadFields(device, device.add(batchStart(device, layout), device.i32(kItemOffset)));
  item.hasVisits = device.select(device.equal(batchCount(device, layout), device.i32(0)),
                                 device.i32(0), device.i32(1));
  return item;
}
std::pair<Value, Value> skim::nvvm::batchVisit(Device &device, const SharedLayout &layout,
                                               Value position) {
  Value offset = visitOffset(device, layout, position);
  return {device.loadShared(offset), device.loadShared(offset, 4)};
}
void skim::nvvm::releaseBatch(Device &device, const SharedLayout &layout) {
  Value number = device.getI32(frame(device, Frame::Batch));
  device.syncWarp();
  device.ifThen(device.isLane(0), [&] {
    device.arrive(device.empty(layout.batches, device.slotOf(layout.batches, number)));
  });
  nextBatch(device);
}

void skim::nvvm::endItems(Device &device, const SharedLayout &layout) {
  Value number = device.getI32(frame(device, Frame::Item));
  device.waitEmpty(layout.queries, number);
  device.ifThen(device.isLane(0), [&] {
    device.storeShared(device.i32(-1), recordOf(device, layout, number));
    device.arrive(device.filled(layout.queries, device.slotOf(layout.queries, number)));
  });
}

static Value visitRecord(Device &device, const SharedLayout &layout, Value number) {
  Value slot = device.slotOf(layout.keys, number);
  return device.add(device.mul(slot, device.i32(SharedLayout::kVisitBytes)),
                    device.i32(layout.visitRecords));
}
void skim::nvvm::storeVisit(Device &device, const SharedLayout &layout, Value number,
                            Value firstKey, Value flags) {
  Value record = visitRecord(device, layout, number);
  device.storeShared(firstKey, record);
  device.storeShared(flags, record, 4);
}
std::pair<Value, Value> skim::nvvm::loadVisit(Device &device, const SharedLayout &layout,
                                              Value number) {
  Value record = visitRecord(device, layout, number);
  return {device.loadShared(record), device.loadShared(record, 4)};
}
