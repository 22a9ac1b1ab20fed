// Loops over parts of an item: its heads, its tiles of rows.
#include "codegen/cpu/Items.h"
#include "codegen/cpu/PanelAccess.h"
#include "codegen/cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

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
static bool isOfOneHead(Operation *op) {
  return op->getParentOfType<tile::ForEachHeadOp>() || op->getParentOfType<tile::StackPanelsOp>() ||
         kernelInfo(op).items.getHead() != tile::HeadKind::None;
}

/// The body of `op` for each of its heads, and behind it what `then` writes for that head.
template <typename Op>
static LogicalResult loopOverHeads(Code &code, Op op, tile::ItemRecordOp item, bool ofOneHead,
                                   function_ref<void(tile::ItemRecordOp)> then) {
  tile::HeadGroup heads = op.getHeads();
  if (heads == tile::HeadGroup::Group && !ofOneHead)
    heads = tile::HeadGroup::All;
  auto [first, end] = headsOf(code, item, heads);
  LogicalResult inlined = success();
  code.loop(first, end, 1, [&](Value head) {
    tile::ItemRecordOp part = itemOfHead(code, item, head, heads == tile::HeadGroup::KvHeads);
    inlined = inlineBody(code, op, part);
    then(part);
  });
  return inlined;
}

static LogicalResult lower(tile::ForEachHeadOp op, bool ofOneHead) {
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  Code code = Code::before(op);
  LogicalResult lowered = loopOverHeads(code, op, *item, ofOneHead, [](tile::ItemRecordOp) {});
  op.erase();
  return lowered;
}

/// Each panel is copied to its place in the stack as soon as it is made.
static LogicalResult lower(tile::StackPanelsOp op, bool ofOneHead) {
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  if (!op.getScratch())
    return op.emitOpError() << "expected scratch; run skim-assign-scratch";
  Code code = Code::before(op);
  SmallVector<Value> stacks;
  for (auto [slot, panel] : llvm::zip_equal(*op.getScratch(), op.getPanels())) {
    auto type = cast<tile::PanelType>(panel.getType());
    FailureOr<Value> data = scratchOf(op, *item, slot, panelElementBytes(type));
    if (failed(data))
      return failure();
    stacks.push_back(*data);
  }
  Operation *yield = op.getBody().front().getTerminator();
  SmallVector<Value> made(yield->getOperands());
  yield->erase();
  LogicalResult lowered = loopOverHeads(code, op, *item, ofOneHead, [&](tile::ItemRecordOp part) {
    for (auto [stack, panel] : llvm::zip_equal(stacks, made)) {
      auto type = cast<tile::PanelType>(panel.getType());
      Value bytes =
          arith::IndexCastOp::create(code, code.getI64Type(), panelBytes(code, part, type));
      // One after the other: compilers differ in which argument they make first.
      Value from = panelData(code, panel);
      LLVM::MemcpyOp::create(code, panelOfHead(code, part, type, stack), from, bytes,
                             /*isVolatile=*/false);
    }
  });
  for (auto [panel, stack] : llvm::zip_equal(op.getPanels(), stacks))
    replacePanel(code, panel, stack);
  op.erase();
  return lowered;
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
      if (isa<tile::ForEachHeadOp, tile::StackPanelsOp, tile::ForEachRowTileOp>(op))
        loops.push_back(op);
      if (isa<tile::ForEachHeadOp, tile::StackPanelsOp>(op) && isOfOneHead(op))
        ofOneHead.insert(op);
    });
    for (Operation *op : loops) {
      auto lowered =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<tile::ForEachHeadOp, tile::StackPanelsOp>(
                  [&](auto heads) { return lower(heads, ofOneHead.contains(op)); })
              .Default([](Operation *tiles) { return lower(cast<tile::ForEachRowTileOp>(tiles)); });
      if (failed(lowered))
        return signalPassFailure();
    }
  }
};

} // namespace
