// Rings: bulk tensor copies, waits and releases.
#include "codegen/cpu/Items.h"
#include "codegen/cpu/KernelArguments.h"
#include "codegen/nvvm/Batches.h"
#include "codegen/nvvm/Copies.h"
#include "codegen/nvvm/Passes.h"
#include "codegen/nvvm/RowCopies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_LOWERCOPIES
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

static const Ring &ringOf(const SharedLayout &layout, tile::Operand operand) {
  return operand == tile::Operand::Keys ? layout.keys : layout.values;
}

/// Whether some keys and values are copied row by row.
static bool copiesSomeRows(Operation *op) {
  tile::ScheduleAttr schedule = cpu::kernelInfo(op).schedule;
  return schedule.getGatherKeys() || schedule.getCopyRows();
}

static LogicalResult lower(hopper::CopyQueriesOp op) {
  Device device = Device::before(op);
  FailureOr<tile::ItemRecordOp> item = cpu::itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  SharedLayout layout = sharedLayout(op);
  Value number = device.getI32(frame(device, Frame::Item));
  device.waitEmpty(layout.queries, number);
  ItemFields fields = batchItem(device, layout);
  device.ifThen(device.isLane(0), [&] {
    storeItem(device, layout, number, fields);
    Value row = device.sub(cpu::tileStart(device, *item), cpu::basePosition(device, *item));
    Value token = device.add(fields.firstToken, device.toI32(row));
    copyQueryTile(device, layout, number, token, fields.head);
  });
  op.erase();
  return success();
}

/// Hands the positions of a listed visit to the consumers.
static void storePositions(Device &device, const SharedLayout &layout, Value number, Value from,
                           int64_t keys) {
  Value to = visitPositions(device, layout, number);
  device.loop(device.toIndex(device.lane()), device.index(keys), 32, [&](Value position) {
    Value offset = device.mul(device.toI32(position), device.i32(4));
    device.storeShared(device.loadShared(device.add(from, offset)), device.add(to, offset));
  });
}

/// `positions` of the visit, null where none is a list. `takeSlot` waits for the slot and writes
/// the visit's record.
static void copyTile(Device &device, const SharedLayout &layout, KeyTile &tile, Value number,
                     Value positions, llvm::function_ref<void()> takeSlot) {
  auto copyConsecutive = [&] {
    if (cpu::kernelInfo(tile.item).schedule.getCopyRows())
      return copyRowsOfTile(device, layout, tile, number, /*positions=*/{}, takeSlot);
    copyKeyTile(device, layout, tile, number, takeSlot);
  };
  if (!positions)
    return copyConsecutive();
  device.ifElse(device.equal(positions, device.i32(0)), copyConsecutive, [&] {
    copyRowsOfTile(device, layout, tile, number, positions, [&] {
      takeSlot();
      if (tile.operand == tile::Operand::Keys)
        storePositions(device, layout, number, positions,
                       cpu::kernelInfo(tile.item).schedule.getKeys());
    });
  });
}

/// Writes the visit's record, which consumers read.
static void storeRecord(Device &device, const SharedLayout &layout, tile::VisitRecordOp visit,
                        Value number) {
  device.ifThen(device.isLane(0), [&] {
    int64_t pooled = visit.getSource().getPooled() ? kPooled : 0;
    Value flags =
        device.select(visit.getMasked(), device.i32(kMasked | pooled), device.i32(pooled));
    if (Value positions = visit.getPositions()) {
      Value count =
          arith::ShLIOp::create(device, device.toI32(visit.getCount()), device.i32(kCountShift));
      Value isList = device.logicalNot(device.equal(positions, device.i32(0)));
      flags = arith::OrIOp::create(device, flags,
                                   device.select(isList, device.i32(kListed), device.i32(0)));
      flags = arith::OrIOp::create(device, flags, count);
    }
    flags = arith::OrIOp::create(device, flags, device.getI32(frame(device, Frame::Last)));
    storeVisit(device, layout, number, device.toI32(visit.getFirstKey()), flags);
  });
}

static LogicalResult lower(hopper::CopyOp op) {
  Device device = Device::before(op);
  FailureOr<tile::VisitRecordOp> visit = cpu::visitRecord(op, op.getVisit());
  if (failed(visit))
    return failure();
  FailureOr<tile::ItemRecordOp> item = cpu::itemRecord(op, visit->getItem());
  if (failed(item))
    return failure();
  SharedLayout layout = sharedLayout(op);
  const Ring &ring = ringOf(layout, op.getOperand());
  Value positions = visit->getPositions();
  KeyTile tile{op.getOperand(), *item, visit->getFirstKey(), visit->getCount(),
               device.getI32(frame(device, Frame::KeyToken))};
  auto takeSlot = [&] {
    device.waitEmpty(ring, op.getNumber());
    if (op.getOperand() == tile::Operand::Keys)
      storeRecord(device, layout, *visit, op.getNumber());
  };
  if (visit->getSource().getPooled())
    copyMeans(device, layout, tile, op.getNumber(), visit->getSource(), takeSlot);
  else
    copyTile(device, layout, tile, op.getNumber(), positions, takeSlot);
  op.erase();
  return success();
}

/// Tells visits of block means apart, whose numbers of keys are those of blocks.
static void lower(Device &device, hopper::PooledVisitOp op, tile::ItemRecordOp item, Value first,
                  Value flags, Value masked) {
  tile::SourceAttr source = op.getSource();
  int64_t keys = cpu::kernelInfo(item).schedule.getKeys();
  Value firstBlock = device.toIndex(first);
  Value left = device.sub(device.ceilDiv(item.getKvLen(), source.getBlock()), firstBlock);
  Value means = tile::VisitRecordOp::create(device, device.getType<tile::VisitType>(), op.getItem(),
                                            firstBlock, device.min(device.index(keys), left),
                                            masked, source, /*positions=*/Value());
  Value pooled = device.logicalNot(device.equal(device.bitAnd(flags, kPooled), device.i32(0)));
  op.replaceAllUsesWith(ValueRange{pooled, means});
  op.erase();
}

/// The loader's loop over the batches of an item.
static LogicalResult lower(hopper::ForEachPublishedOp op) {
  if (!op.getCarry().empty())
    return op.emitOpError() << "carries values; run 'skim-nvvm-pipeline-products' first";
  Device device = Device::before(op);
  FailureOr<tile::ItemRecordOp> item = cpu::itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  SharedLayout layout = sharedLayout(op);
  Value visits = frame(device, Frame::Visit);
  int64_t keys = cpu::kernelInfo(op).schedule.getKeys();

  auto batches = scf::WhileOp::create(device, TypeRange(), ValueRange());
  {
    OpBuilder::InsertionGuard guard(device);
    device.createBlock(&batches.getBefore());
    Value flags = awaitBatch(device, layout);
    Value last = device.logicalNot(device.equal(device.bitAnd(flags, kLastOfItem), device.i32(0)));
    Value count = device.toIndex(batchCount(device, layout));
    device.loop(device.index(0), count, 1, [&](Value position) {
      auto [first, visitFlags] = batchVisit(device, layout, device.toI32(position));
      Value firstKey = device.toIndex(first);
      Value existing = device.min(device.index(keys), device.sub(item->getKvLen(), firstKey));
      Value positions;
      if (cpu::kernelInfo(op).schedule.getGatherKeys()) {
        Value isList =
            device.logicalNot(device.equal(device.bitAnd(visitFlags, kListed), device.i32(0)));
        positions = device.select(isList, listOffset(device, layout, first), device.i32(0));
        firstKey = device.select(isList, device.index(0), firstKey);
        existing = device.select(isList, device.toIndex(device.shiftRight(visitFlags, kCountShift)),
                                 existing);
      }
      Value masked =
          device.logicalNot(device.equal(device.bitAnd(visitFlags, kMasked), device.i32(0)));
      Value visit = tile::VisitRecordOp::create(
          device, device.getType<tile::VisitType>(), op.getItem(), firstKey, existing, masked,
          tile::SourceAttr::get(op.getContext(), false, 0, 0, 1), positions);
      Value number = device.getI32(visits);
      Value behind = device.equal(device.add(position, device.index(1)), count);
      Value isLast = device.logicalAnd(behind, last);
      device.set(frame(device, Frame::Last),
                 device.select(isLast, device.i32(kLastVisit), device.i32(0)));
      for (auto pooled : llvm::make_early_inc_range(op.getBody().getOps<hopper::PooledVisitOp>()))
        lower(device, pooled, *item, first, visitFlags, masked);
      op.getBody().getArgument(0).replaceAllUsesWith(visit);
      op.getBody().getArgument(1).replaceAllUsesWith(number);
      Block &body = op.getBody().front();
      Operation *yield = body.getTerminator();
      device.getInsertionBlock()->getOperations().splice(
          device.getInsertionPoint(), body.getOperations(), body.begin(), yield->getIterator());
      device.set(visits, device.add(number, device.i32(1)));
    });
    releaseBatch(device, layout);
    scf::ConditionOp::create(device, device.logicalNot(last), ValueRange());
    device.createBlock(&batches.getAfter());
    scf::YieldOp::create(device);
  }
  op.erase();
  return success();
}

static LogicalResult lower(hopper::NextVisitOp op) {
  Device device = Device::before(op);
  FailureOr<tile::ItemRecordOp> item = cpu::itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  SharedLayout layout = sharedLayout(op);
  int64_t keys = cpu::kernelInfo(op).schedule.getKeys();
  Value visits = frame(device, Frame::Visit);
  Value number = device.getI32(visits);
  device.set(visits, device.add(number, device.i32(1)));
  device.waitFilled(layout.keys, number);
  if (copiesSomeRows(op))
    fenceRowCopies(device);
  auto [first, flags] = loadVisit(device, layout, number);
  // The same for all lanes, which the compiler sees when it comes from a shuffle.
  flags = device.broadcast(flags);
  Value firstKey = device.toIndex(first);
  Value count = device.min(device.index(keys), device.sub(item->getKvLen(), firstKey));
  SmallVector<Value> results;
  if (op.getPositions()) {
    Value isList = device.logicalNot(device.equal(device.bitAnd(flags, kListed), device.i32(0)));
    count = device.toIndex(device.shiftRight(flags, kCountShift));
    results.push_back(device.select(isList, visitPositions(device, layout, number), device.i32(0)));
  }
  auto hasFlag = [&](int64_t flag) {
    return device.logicalNot(device.equal(device.bitAnd(flags, flag), device.i32(0)));
  };
  results.insert(results.begin(), {number, firstKey, count, hasFlag(kMasked), hasFlag(kLastVisit),
                                   hasFlag(kPooled)});
  op.replaceAllUsesWith(results);
  op.erase();
  return success();
}

static LogicalResult lower(hopper::HasVisitsOp op) {
  Device device = Device::before(op);
  SharedLayout layout = sharedLayout(op);
  Value number = device.getI32(frame(device, Frame::Item));
  Value visits = device.broadcast(loadItem(device, layout, number).hasVisits);
  op.replaceAllUsesWith(device.logicalNot(device.equal(visits, device.i32(0))));
  op.erase();
  return success();
}

/// The tile that a `hopper.await` or `hopper.await_queries` gives is its slot's offset.
static Value asTile(Device &device, Value offset, Type type) {
  return UnrealizedConversionCastOp::create(device, type, offset).getResult(0);
}

static LogicalResult lower(hopper::AwaitOp op) {
  Device device = Device::before(op);
  SharedLayout layout = sharedLayout(op);
  const Ring &ring = ringOf(layout, op.getOperand());
  if (op.getOperand() == tile::Operand::Values) {
    device.waitFilled(ring, op.getNumber());
    if (copiesSomeRows(op))
      fenceRowCopies(device);
  }
  Value slot = device.slotOf(ring, op.getNumber());
  Value offset = device.add(device.mul(slot, device.i32(ring.bytes)), device.i32(ring.data));
  op.replaceAllUsesWith(asTile(device, offset, op.getTile().getType()));
  op.erase();
  return success();
}

static LogicalResult lower(hopper::AwaitQueriesOp op) {
  Device device = Device::before(op);
  SharedLayout layout = sharedLayout(op);
  Value slot = device.slotOf(layout.queries, device.getI32(frame(device, Frame::Item)));
  Value offset = device.add(device.mul(slot, device.i32(layout.queries.bytes)),
                            device.i32(layout.queries.data));
  op.replaceAllUsesWith(asTile(device, offset, op.getQueries().getType()));
  op.erase();
  return success();
}

/// One lane for its warp. The wait for the products ahead of it is one of the whole warp, so all
/// lanes have read what they need of the slot.
static LogicalResult lower(hopper::ReleaseOp op) {
  Device device = Device::before(op);
  SharedLayout layout = sharedLayout(op);
  const Ring &ring = ringOf(layout, op.getOperand());
  device.arriveOnce(device.empty(ring, device.slotOf(ring, op.getNumber())), device.isLane(0));
  op.erase();
  return success();
}

static LogicalResult lower(hopper::ReleaseQueriesOp op) {
  Device device = Device::before(op);
  SharedLayout layout = sharedLayout(op);
  Value slot = device.slotOf(layout.queries, device.getI32(frame(device, Frame::Item)));
  // An item without visits waits for no product.
  device.syncWarp();
  device.arriveOnce(device.empty(layout.queries, slot), device.isLane(0));
  op.erase();
  return success();
}

namespace {

struct LowerCopiesPass : skim::nvvm::impl::LowerCopiesBase<LowerCopiesPass> {
  void runOnOperation() override {
    // Loops first: what stands in them finds its visit's record then.
    LogicalResult walks = success();
    auto lowerAll = [&](auto... kinds) {
      SmallVector<Operation *> ops;
      getOperation().walk([&](Operation *op) {
        if ((isa<decltype(kinds)>(op) || ...))
          ops.push_back(op);
      });
      for (Operation *op : ops)
        if (succeeded(walks))
          walks = TypeSwitch<Operation *, LogicalResult>(op).Case<decltype(kinds)...>(
              [](auto known) { return lower(known); });
    };
    lowerAll(hopper::ForEachPublishedOp());
    lowerAll(hopper::CopyQueriesOp(), hopper::CopyOp(), hopper::HasVisitsOp(),
             hopper::NextVisitOp(), hopper::AwaitOp(), hopper::AwaitQueriesOp(),
             hopper::ReleaseOp(), hopper::ReleaseQueriesOp());
    if (failed(walks))
      signalPassFailure();
  }
};

} // namespace
