// Loops over parts of an item: its heads, its tiles of rows.
#include "codegen/cpu/Items.h"
#include "codegen/cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERITEMS
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

/// Moves the body of `op` into the loop that is being written, `part` in place of its argument.
static LogicalResult inlineBody(Code &code, Operation *op, tile::ItemRecordOp part) {
  Block &body = op->getRegion(0).front();
  body.getArgument(0).replaceAllUsesWith(part);
  Block *block = code.getInsertionBlock();
  block->getOperations().splice(code.getInsertionPoint(), body.getOperations());
  lowerItemUsers(part);
  return evaluateItemScalars(*block);
}

/// Whether the item of `op` has a head of its own: its program's items have one, or it is that of a
/// loop around.
static bool isOfOneHead(tile::ForEachHeadOp op) {
  return op->getParentOfType<tile::ForEachHeadOp>() ||
         kernelInfo(op).items.getHead() != tile::HeadKind::None;
}

static LogicalResult lower(tile::ForEachHeadOp op, bool ofOneHead) {
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  Code code = Code::before(op);
  KernelInfo info = kernelInfo(op);
  int64_t heads = info.problem.getQueryHeads(), group = heads / info.problem.getKvHeads();
  bool ofKvHeads = op.getHeads() == tile::HeadGroup::KvHeads;
  Value first = code.index(0), end = code.index(ofKvHeads ? info.problem.getKvHeads() : heads);
  if (op.getHeads() == tile::HeadGroup::Group && ofOneHead) {
    first = code.mul(item->getKvHead(), code.index(group));
    end = code.add(first, code.index(group));
  }
  LogicalResult inlined = success();
  code.loop(first, end, 1, [&](Value head) {
    auto part = cast<tile::ItemRecordOp>(code.clone(**item));
    Code before = Code::before(part);
    part.getHeadMutable().assign(ofKvHeads ? before.mul(head, before.index(group)) : head);
    part.getKvHeadMutable().assign(ofKvHeads ? head : before.floorDiv(head, group));
    inlined = inlineBody(code, op, part);
  });
  op.erase();
  return inlined;
}

static LogicalResult lower(tile::ForEachRowTileOp op) {
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  Code code = Code::before(op);
  auto height = static_cast<int64_t>(op.getRows());
  // The existing positions of the outer item.
  Value first = firstPosition(code, *item);
  Value end = item->getTileRows() > 0 ? endRow(code, *item) : item->getKvLen();
  Value firstTile = code.floorDiv(first, height);
  if (Value from = op.getFirst())
    firstTile = code.max(firstTile, code.floorDiv(from, height));
  LogicalResult inlined = success();
  code.loop(firstTile, code.ceilDiv(end, height), 1, [&](Value tile) {
    auto part = cast<tile::ItemRecordOp>(code.clone(**item));
    Code before = Code::before(part);
    Value rows = before.index(height), start = before.mul(tile, rows);
    part.getTileMutable().assign(tile);
    part.getRowsBeginMutable().assign(before.max(before.sub(first, start), before.index(0)));
    part.getRowsEndMutable().assign(before.min(before.sub(end, start), rows));
    part.setTileRows(height);
    inlined = inlineBody(code, op, part);
  });
  op.erase();
  return inlined;
}

namespace {

struct LowerItemsPass : skim::cpu::impl::LowerItemsBase<LowerItemsPass> {
  void runOnOperation() override {
    // Outer loops first: the inner ones run over parts of theirs.
    SmallVector<Operation *> loops;
    DenseSet<Operation *> ofOneHead;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<tile::ForEachHeadOp, tile::ForEachRowTileOp>(op))
        loops.push_back(op);
      if (auto heads = dyn_cast<tile::ForEachHeadOp>(op); heads && isOfOneHead(heads))
        ofOneHead.insert(op);
    });
    for (Operation *op : loops) {
      auto heads = dyn_cast<tile::ForEachHeadOp>(op);
      if (failed(heads ? lower(heads, ofOneHead.contains(op))
                       : lower(cast<tile::ForEachRowTileOp>(op))))
        return signalPassFailure();
    }
  }
};

} // namespace
