#include "codegen/nvvm/Batches.h"

#include "codegen/cpu/KernelArguments.h"
#include "codegen/nvvm/KeyStores.h"
#include "dialect/Tile/PackedHeads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <skim/abi.h>

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;
using cpu::Argument;

// A batch starts with its flags, the number of its visits and the fields of the item.
static constexpr int64_t kFlagsOffset = 0;
static constexpr int64_t kCountOffset = 4;
static constexpr int64_t kItemOffset = 8;

static std::array<Value ItemFields::*, 9> fieldsOfItem() {
  return {&ItemFields::request,       &ItemFields::head,      &ItemFields::tile,
          &ItemFields::qLen,          &ItemFields::kvLen,     &ItemFields::firstToken,
          &ItemFields::firstKeyToken, &ItemFields::hasVisits, &ItemFields::keyNorm};
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
  item.keyNorm = device.i32(0);
  constexpr auto bytes = static_cast<int64_t>(sizeof(skim_work_item));
  item.request = entry(items, ordinal, bytes, offsetof(skim_work_item, request));
  cpu::KernelInfo info = cpu::kernelInfo(&device.kernel.getBody().front().front());
  item.head = device.mul(entry(items, ordinal, bytes, offsetof(skim_work_item, head)),
                         device.i32(tile::headsOfTile(info.problem, info.items.getHead())));
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

/// What the function that is written was compiled for.
static cpu::KernelInfo infoOfKernel(Device &device) {
  return cpu::kernelInfo(&device.kernel.getBody().front().front());
}

Value skim::nvvm::kvHeadOf(Device &device, const ItemFields &item) {
  tile::ProblemAttr problem = infoOfKernel(device).problem;
  return device.floorDiv(device.toIndex(item.head), problem.getQueryHeads() / problem.getKvHeads());
}

tile::ItemRecordOp skim::nvvm::createItemRecord(Device &device, Value arguments,
                                                const ItemFields &item) {
  int64_t tileRows = infoOfKernel(device).schedule.getRows();
  Value zero = device.index(0);
  Value kvLen = device.toIndex(item.kvLen), qLen = device.toIndex(item.qLen);
  Value head = device.toIndex(item.head), tile = device.toIndex(item.tile);
  Value kvHead = kvHeadOf(device, item);
  Value start = device.mul(tile, device.index(tileRows));
  Value rowsBegin = device.max(device.sub(device.sub(kvLen, qLen), start), zero);
  Value rowsEnd = device.min(device.sub(kvLen, start), device.index(tileRows));
  return tile::ItemRecordOp::create(
      device, device.getType<tile::ItemType>(), arguments, device.toIndex(item.request), head,
      kvHead, cpu::loadArgument(device, arguments, cpu::Argument::Layer), tile, qLen, kvLen,
      rowsBegin, rowsEnd, tileRows, zero, kvLen, device.toIndex(item.firstToken), arguments);
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

static int64_t keysOfTile(Device &device) {
  return cpu::kernelInfo(&device.kernel.getBody().front().front()).schedule.getKeys();
}
Value skim::nvvm::listOffset(Device &device, const SharedLayout &layout, Value first) {
  Value start = device.add(batchStart(device, layout), device.i32(SharedLayout::kListOffset));
  return device.add(start, device.mul(first, device.i32(4)));
}

/// Makes visits of the full lists of the batch. Of the last one, `rest` keys exist, where that is
/// given and not 0.
static void visitLists(Device &device, const SharedLayout &layout, Value rest) {
  int64_t keys = keysOfTile(device);
  Value fill = frame(device, Frame::Fill);
  Value filled = device.getI32(fill),
        maskedLists = device.getI32(frame(device, Frame::MaskedLists));
  Value lists = device.shiftRight(device.getI32(frame(device, Frame::Listed)), llvm::Log2_64(keys));
  Value lane = device.lane();
  device.ifThen(device.less(lane, lists), [&] {
    Value count = device.i32(keys);
    if (rest) {
      Value cut = device.logicalAnd(device.equal(lane, device.sub(lists, device.i32(1))),
                                    device.logicalNot(device.equal(rest, device.i32(0))));
      count = device.select(cut, rest, count);
    }
    Value flags = arith::ShLIOp::create(device, count, device.i32(kCountShift));
    Value masked = device.bitAnd(arith::ShRUIOp::create(device, maskedLists, lane), kMasked);
    flags = arith::OrIOp::create(device, flags, masked);
    flags = arith::OrIOp::create(device, flags, device.i32(kListed));
    Value offset = visitOffset(device, layout, device.add(filled, lane));
    device.storeShared(device.mul(lane, device.i32(keys)), offset);
    device.storeShared(flags, offset, 4);
  });
  device.set(fill, device.add(filled, lists));
}

/// Publishes the batch and takes the keys that fill no list along into the next.
static void continueInNextBatch(Device &device, const SharedLayout &layout) {
  if (layout.listBytes == 0) {
    publishBatch(device, layout, 0);
    beginBatch(device, layout);
    return;
  }
  int64_t keys = keysOfTile(device);
  Value variable = frame(device, Frame::Listed), masked = frame(device, Frame::MaskedLists);
  visitLists(device, layout, {});
  Value listed = device.getI32(variable);
  Value rest = device.bitAnd(listed, keys - 1);
  Value from = listOffset(device, layout, device.sub(listed, rest));
  publishBatch(device, layout, 0);
  beginBatch(device, layout);
  Value to = listOffset(device, layout, device.i32(0));
  device.loop(device.toIndex(device.lane()), device.toIndex(rest), 32, [&](Value position) {
    Value offset = device.mul(device.toI32(position), device.i32(4));
    device.storeShared(device.loadShared(device.add(from, offset)), device.add(to, offset));
  });
  Value bits = arith::ShRUIOp::create(device, device.getI32(masked),
                                      device.shiftRight(listed, llvm::Log2_64(keys)));
  device.set(masked, bits);
  device.set(variable, rest);
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

/// How many lanes before this one hold a bit of `lanes`.
static Value rankIn(Device &device, Value lanes) {
  Value below = arith::ShLIOp::create(device, device.i32(1), device.lane());
  below = device.sub(below, device.i32(1));
  return math::CtPopOp::create(device, arith::AndIOp::create(device, lanes, below));
}
static Value isNotZero(Device &device, Value value) {
  return device.logicalNot(device.equal(value, device.i32(0)));
}

void skim::nvvm::appendVisits(Device &device, const SharedLayout &layout, Value visited,
                              Value firstKey, Value masked, bool pooled) {
  Value fill = frame(device, Frame::Fill);
  Value lanes = device.ballot(visited);
  Value rank = rankIn(device, lanes);
  // The visits that lists become at the end need room, too.
  int64_t room = SharedLayout::kBatchVisits - (layout.listBytes ? SharedLayout::kMostLists : 0);
  Value full = device.less(device.i32(room - 32), device.getI32(fill));
  device.ifThen(device.logicalAnd(full, isNotZero(device, lanes)),
                [&] { continueInNextBatch(device, layout); });
  Value filled = device.getI32(fill);
  device.ifThen(visited, [&] {
    Value offset = visitOffset(device, layout, device.add(filled, rank));
    device.storeShared(firstKey, offset);
    int64_t flags = pooled ? kPooled : 0;
    device.storeShared(device.select(masked, device.i32(flags | kMasked), device.i32(flags)),
                       offset, 4);
  });
  device.set(fill, device.add(filled, math::CtPopOp::create(device, lanes)));
}

void skim::nvvm::appendKeys(Device &device, const SharedLayout &layout, Value firstKey,
                            ArrayRef<Value> kept, Value count, Value masked) {
  int64_t keys = keysOfTile(device);
  Type i32 = device.getI32Type();
  Value listed = frame(device, Frame::Listed), maskedLists = frame(device, Frame::MaskedLists);
  auto [before, total] = device.prefixSum(count);
  Value someMasked = device.any(masked);

  // As many keys at a time as the batch has room for: the keys [done, end) of all lanes' together.
  // `before`: how many come before what is left of the lane's.
  SmallVector<Value> initial = {device.i32(0), before};
  llvm::append_range(initial, kept);
  SmallVector<Type> types(initial.size(), i32);
  SmallVector<Location> locations(initial.size(), device.getLoc());
  auto parts = scf::WhileOp::create(device, types, initial);
  OpBuilder::InsertionGuard guard(device);
  Block *head = device.createBlock(&parts.getBefore(), {}, types, locations);
  scf::ConditionOp::create(device, device.less(head->getArgument(0), total), head->getArguments());
  Block *body = device.createBlock(&parts.getAfter(), {}, types, locations);
  Value done = body->getArgument(0);
  before = body->getArgument(1);
  Value full =
      device.less(device.i32(SharedLayout::kListedTiles * keys - 1), device.getI32(listed));
  device.ifThen(full, [&] { continueInNextBatch(device, layout); });
  Value first = device.getI32(listed);
  Value room = device.sub(device.i32(layout.listBytes / 4), first);
  Value end = device.min(total, device.add(done, room)), added = device.sub(end, done);
  Value start = LLVM::PtrToIntOp::create(
      device, i32, device.shared(listOffset(device, layout, device.sub(first, done))));
  cpu::Code::Values left = storeKeys(device, firstKey, start, before, end, total,
                                     ValueRange(body->getArguments()).drop_front(2));

  // The lists from that of the first key to that of the last.
  auto listOf = [&](Value position) { return device.shiftRight(position, llvm::Log2_64(keys)); };
  Value behind = device.add(first, added), last = listOf(device.sub(behind, device.i32(1)));
  Value below = arith::ShLIOp::create(device, device.i32(-1), listOf(first));
  Value bits = arith::ShLIOp::create(device, device.i32(2), last);
  bits = device.logicalAnd(device.sub(bits, device.i32(1)), below);
  bits = device.select(someMasked, bits, device.i32(0));
  device.set(maskedLists, device.logicalOr(device.getI32(maskedLists), bits));
  device.set(listed, behind);
  SmallVector<Value> rest = {end, device.max(before, end)};
  llvm::append_range(rest, left);
  scf::YieldOp::create(device, rest);
}

void skim::nvvm::finishLists(Device &device, const SharedLayout &layout) {
  int64_t keys = keysOfTile(device);
  Value listed = device.getI32(frame(device, Frame::Listed));
  Value rest = device.bitAnd(listed, keys - 1);
  // Positions of -1 fill the last list up; its mask leaves them out.
  device.ifThen(isNotZero(device, rest), [&] {
    Value end = device.add(device.sub(listed, rest), device.i32(keys));
    Value first = device.add(device.toIndex(listed), device.toIndex(device.lane()));
    device.loop(first, device.toIndex(end), 32, [&](Value position) {
      device.storeShared(device.i32(-1), listOffset(device, layout, device.toI32(position)));
    });
    device.set(frame(device, Frame::Listed), end);
  });
  visitLists(device, layout, rest);
  device.set(frame(device, Frame::Listed), device.i32(0));
  device.set(frame(device, Frame::MaskedLists), device.i32(0));
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
  Value slot = device.bitAnd(number, layout.visitSlots - 1);
  return device.add(device.mul(slot, device.i32(layout.visitBytes)),
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
Value skim::nvvm::visitPositions(Device &device, const SharedLayout &layout, Value number) {
  return device.add(visitRecord(device, layout, number), device.i32(SharedLayout::kVisitBytes));
}
