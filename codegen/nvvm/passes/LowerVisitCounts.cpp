// Counts of visits to kernels in which a warp takes an item.
#include "codegen/cpu/Items.h"
#include "codegen/cpu/VisitWalk.h"
#include "codegen/nvvm/Batches.h"
#include "codegen/nvvm/KernelFunction.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <skim/abi.h>

namespace skim::nvvm {
#define GEN_PASS_DEF_LOWERVISITCOUNTS
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

constexpr int64_t kLanes = 32;

/// Writes the count of one `tile.for_each_visit`: each lane adds the visits that it finds.
class VisitCounter {
public:
  VisitCounter(Device &device, tile::ForEachVisitOp op, tile::ItemRecordOp item, Value found)
      : op(op), device(device), walk(device, op, item, /*lanes=*/1), found(found) {}

  LogicalResult write() {
    device.setInsertionPoint(op);
    LogicalResult result = walk.run([&](Value bottom, Value top) {
      LogicalResult tested = success();
      device.ifElse(
          walk.isSettled(),
          [&] {
            Value tiles = device.toI32(device.sub(top, bottom));
            add(device.select(device.isLane(0), tiles, device.i32(0)));
          },
          [&] { tested = testTiles(bottom, top); });
      return tested;
    });
    op.erase();
    return result;
  }

private:
  void add(Value visits) { device.set(found, device.add(device.getI32(found), visits)); }

  LogicalResult testTiles(Value bottom, Value top) {
    LogicalResult tested = success();
    Value first = device.add(bottom, device.toIndex(device.lane()));
    int64_t keys = cpu::kernelInfo(op).schedule.getKeys();
    device.loop(first, top, kLanes, [&](Value tile) {
      Value firstKey = device.mul(tile, device.index(keys));
      Value left = device.sub(walk.sourceLength(), firstKey);
      tested = walk.testLiterals(firstKey, device.min(device.index(keys), left));
      if (succeeded(tested))
        add(device.select(walk.isTouched(tile), device.i32(1), device.i32(0)));
    });
    return tested;
  }

  tile::ForEachVisitOp op;
  Device &device;
  cpu::VisitWalk walk;
  Value found; ///< the lane's variable
};

} // namespace

static Value createCount(Device &device) {
  OpBuilder::InsertionGuard guard(device);
  device.setInsertionPointToStart(&device.kernel.getBody().front());
  return LLVM::AllocaOp::create(device, device.pointerType(), device.getI32Type(), device.i32(1));
}

static void storeCount(Device &device, Value items, Value ordinal, Value found) {
  Value sum = device.getI32(found);
  for (int64_t mask = 1; mask < kLanes; mask *= 2)
    sum = device.add(sum, device.exchange(sum, mask));
  Value item = device.mul(device.toIndex(ordinal), device.index(sizeof(skim_work_item)));
  device.ifThen(device.isLane(0), [&] {
    device.store(sum, device.offset(device.offset(items, item), offsetof(skim_work_item, visits)));
  });
}

static LogicalResult lowerProgram(tile::ProgramOp program) {
  auto source = cast<tile::ForEachWorkItemOp>(program.getBody().front().front());
  LogicalResult lowered = success();
  createWarpKernel(program, [&](Device &device, Value arguments, Value items, Value ordinal) {
    Value found = createCount(device);
    device.set(found, device.i32(0));
    tile::ItemRecordOp record =
        createItemRecord(device, arguments, readItem(device, arguments, items, ordinal));
    source.getItem().replaceAllUsesWith(record);
    Block *block = device.getInsertionBlock();
    SmallVector<tile::ForEachVisitOp> walks(source.getBody().getOps<tile::ForEachVisitOp>());
    block->getOperations().splice(device.getInsertionPoint(),
                                  source.getBody().front().getOperations());
    cpu::lowerItemUsers(record);
    lowered = cpu::evaluateItemScalars(*block);
    Block::iterator end = device.getInsertionPoint();
    for (tile::ForEachVisitOp walk : walks)
      if (succeeded(lowered))
        lowered = VisitCounter(device, walk, record, found).write();
    device.setInsertionPoint(block, end);
    storeCount(device, items, ordinal, found);
  });
  program.erase();
  return lowered;
}

namespace {

struct LowerVisitCountsPass : skim::nvvm::impl::LowerVisitCountsBase<LowerVisitCountsPass> {
  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>()))
      if (isCounting(program) && failed(lowerProgram(program)))
        return signalPassFailure();
  }
};

} // namespace
