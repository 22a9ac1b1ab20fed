// Visits to batches, thirty-two tiles at a time.
#include "codegen/cpu/Items.h"
#include "codegen/cpu/VisitWalk.h"
#include "codegen/nvvm/KeyLister.h"
#include "codegen/nvvm/LaneEndPoints.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_LOWERSCHEDULER
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

constexpr int64_t kLanes = 32;
/// Intervals whose end points are values that each lane has.
constexpr size_t kMostIntervalsOfValues = 4;
using cpu::Code;

class SchedulerLowering {
public:
  SchedulerLowering(tile::ForEachVisitOp op, tile::ItemRecordOp item)
      : op(op), device(Device::before(op)), layout(sharedLayout(op)),
        listsKeys(!op.getBody().getOps<hopper::PublishKeysOp>().empty()),
        walk(device, op, item, /*lanes=*/1, endPoints()), item(item) {}

  LogicalResult run() {
    LogicalResult walked = walk.run(
        [&](Value bottom, Value top) {
          if (!listsKeys)
            return walkTiles(bottom, top);
          LogicalResult tiles = success(), keys = success();
          device.ifElse(
              walk.isSettled(), [&] { tiles = walkTiles(bottom, top); },
              [&] { keys = KeyLister(device, layout, walk, op, item).walkKeys(bottom, top); });
          return success(succeeded(tiles) && succeeded(keys));
        },
        listsKeys ? cpu::WalkOrder::Ascending : cpu::WalkOrder::Descending);
    if (failed(walked))
      return failure();
    if (listsKeys)
      finishLists(device, layout);
    op.erase();
    return success();
  }

private:
  bool pooled() { return op.getSource().getPooled(); }

  /// Few intervals are kept as values, which is faster; a search of keys has no registers for them.
  std::unique_ptr<cpu::EndPoints> endPoints() {
    if (!listsKeys && op.getTouched().size() + op.getHidden().size() <= kMostIntervalsOfValues)
      return std::make_unique<cpu::EndPoints>(device);
    return std::make_unique<LaneEndPoints>(device);
  }
  /// All tiles [bottom, top), each with a lane of its own.
  LogicalResult walkTiles(Value bottom, Value top) {
    LogicalResult result = success();
    Value lane = device.toIndex(device.lane());
    device.loop(device.index(0), device.sub(top, bottom), kLanes, [&](Value step) {
      Value number = device.add(step, lane);
      if (listsKeys) {
        Value tile = device.add(bottom, number);
        result = testTiles(tile, device.less(tile, top));
      } else {
        Value tile = device.sub(device.sub(top, device.index(1)), number);
        result = testTiles(tile, device.lessOrEqual(bottom, tile));
      }
    });
    return result;
  }

  /// Each lane tests its tile, where it has one.
  LogicalResult testTiles(Value tile, Value exists) {
    LogicalResult tested = success();
    int64_t keys = cpu::kernelInfo(op).schedule.getKeys();
    Value firstKey = device.mul(tile, device.index(keys));
    cpu::Code::Values answers = device.choose(
        exists,
        [&]() -> cpu::Code::Values {
          Value left = device.sub(walk.sourceLength(), firstKey);
          Value count = device.min(device.index(keys), left);
          tested = walk.testLiterals(firstKey, count);
          if (failed(tested))
            return {device.i1(false), device.i1(false)};
          // A tile that is cut by the last key needs its mask for the keys behind it.
          Value cut = device.less(left, device.index(keys));
          return {walk.isTouched(tile), device.logicalOr(walk.isHidden(tile), cut)};
        },
        [&]() -> cpu::Code::Values { return {device.i1(false), device.i1(false)}; });
    appendVisits(device, layout, answers[0], device.toI32(firstKey), answers[1], pooled());
    return tested;
  }

  tile::ForEachVisitOp op;
  Device device;
  SharedLayout layout;
  bool listsKeys; ///< and tiles only where most keys are kept; decides on the end points of `walk`
  cpu::VisitWalk walk;
  tile::ItemRecordOp item;
};

struct LowerSchedulerPass : skim::nvvm::impl::LowerSchedulerBase<LowerSchedulerPass> {
  void runOnOperation() override {
    SmallVector<tile::ForEachVisitOp> walks;
    getOperation().walk([&](tile::ForEachVisitOp op) {
      if (llvm::any_of(op.getBody().getOps(),
                       llvm::IsaPred<hopper::PublishOp, hopper::PublishKeysOp>))
        walks.push_back(op);
    });
    for (tile::ForEachVisitOp op : walks) {
      FailureOr<tile::ItemRecordOp> item = cpu::itemRecord(op, op.getItem());
      if (failed(item) || failed(SchedulerLowering(op, *item).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
