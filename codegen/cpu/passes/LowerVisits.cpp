// Visits to loops over stretches of tiles.
#include "codegen/cpu/KernelArguments.h"
#include "codegen/cpu/Statistics.h"
#include "codegen/cpu/TargetPass.h"
#include "codegen/cpu/VisitWalk.h"

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERVISITS
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

namespace {

class VisitLowering {
public:
  VisitLowering(tile::ForEachVisitOp op, tile::ItemRecordOp item, const Target &target)
      : op(op), item(item), code(Code::before(op)), walk(code, op, item, target.lanes) {}

  LogicalResult run();

private:
  LogicalResult visitTile(Value tile);
  void inlineBody(Value firstKey, Value count, Value masked);

  tile::ForEachVisitOp op;
  tile::ItemRecordOp item;
  Code code;
  VisitWalk walk;
};

} // namespace

LogicalResult VisitLowering::run() {
  LogicalResult walked = walk.run([&](Value bottom, Value top) {
    LogicalResult result = success();
    code.loop(code.index(0), code.sub(top, bottom), 1, [&](Value step) {
      result = visitTile(code.sub(code.sub(top, code.index(1)), step));
    });
    return result;
  });
  if (failed(walked))
    return failure();
  op.replaceAllUsesWith(op.getCarry());
  op.erase();
  return success();
}

LogicalResult VisitLowering::visitTile(Value tile) {
  int64_t keys = kernelInfo(op).schedule.getKeys();
  Value firstKey = code.mul(tile, code.index(keys));
  Value count = code.min(code.index(keys), code.sub(walk.sourceLength(), firstKey));
  if (failed(walk.testLiterals(firstKey, count)))
    return failure();
  code.ifThen(walk.isTouched(tile), [&] { inlineBody(firstKey, count, walk.isHidden(tile)); });
  return success();
}

void VisitLowering::inlineBody(Value firstKey, Value count, Value masked) {
  bool computesScores = !op.getBody().getOps<tile::IssueDotOp>().empty();
  if (computesScores && !op.getSource().getPooled()) {
    addToCounter(code, item, Counter::TilesVisited, code.index(1));
    addToCounter(code, item, Counter::TilesMasked,
                 code.select(masked, code.index(1), code.index(0)));
  }
  Value visit = tile::VisitRecordOp::create(code, code.getType<tile::VisitType>(), item, firstKey,
                                            count, masked, op.getSource(), /*positions=*/Value());
  op.getVisit().replaceAllUsesWith(visit);
  // States are updated in place.
  for (auto [argument, initial] : llvm::zip(op.getCarriedArguments(), op.getCarry()))
    argument.replaceAllUsesWith(initial);
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  code.getInsertionBlock()->getOperations().splice(code.getInsertionPoint(), body.getOperations(),
                                                   body.begin(), yield->getIterator());
  yield->dropAllReferences();
}

namespace {

struct LowerVisitsPass : skim::cpu::impl::LowerVisitsBase<LowerVisitsPass> {
  using LowerVisitsBase::LowerVisitsBase;

  void runOnOperation() override {
    const Target *cpu = resolveTarget(*this, getOperation(), target);
    if (!cpu)
      return signalPassFailure();
    SmallVector<tile::ForEachVisitOp> visits;
    getOperation().walk([&](tile::ForEachVisitOp op) { visits.push_back(op); });
    for (tile::ForEachVisitOp op : visits) {
      FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
      if (failed(item) || failed(VisitLowering(op, *item, *cpu).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
