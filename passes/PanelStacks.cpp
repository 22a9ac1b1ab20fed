// Panels of all heads that a reduction joins, where its vectors have rows and keys.
#include "passes/MapAnalysis.h"
#include "passes/Panels.h"
#include "passes/StageBuffers.h"

#include "llvm/ADT/SetVector.h"

using mlir::failed;
using mlir::failure;
using mlir::Location;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

namespace skim {

LogicalResult PanelBuilder::buildStacks(ir::ReduceOp reduce) {
  Location loc = reduce.getLoc();
  tile::HeadGroup heads = joinedHeads(axesOf(reduce.getInput()).head, axesOf(reduce).head);
  // A loop that becomes the stacks when it is known what these are.
  mlir::Block &block =
      createHeadLoop(builder, loc, item, axesOf(reduce.getInput()).head, axesOf(reduce).head);
  Operation *loop = block.getParentOp();
  InnerItem inner(pattern, plan, block);
  PanelBuilder panels(pattern, plan, block.getArgument(0), rows, inner.builder, inner.emitter);
  if (failed(panels.prepare(reduce.getInput())))
    return failure();
  // All that the vectors lead to and that has a panel then. What is joined over further heads on
  // the way reads the panels of those.
  llvm::SetVector<Operation *> reached;
  auto reach = [&](Value source) {
    if (Operation *op = source.getDefiningOp())
      reached.insert(op);
  };
  reach(reduce.getInput());
  llvm::SmallVector<Operation *> sources;
  llvm::SmallVector<Value> stacked;
  auto stack = [&](Operation *op, Value panel) {
    sources.push_back(op);
    stacked.push_back(panel);
  };
  for (size_t next = 0; next != reached.size(); ++next) {
    Operation *op = reached[next];
    if (Value panel = inner.emitter.getPanel(op->getResult(0))) {
      stack(op, panel);
      continue;
    }
    if (auto cast = llvm::dyn_cast<ir::CastOp>(op); cast && inner.emitter.getMagnitudes(cast))
      stack(op, inner.emitter.getMagnitudes(cast));
    if (joinsHeads(op)) {
      tile::HeadGroup more =
          joinedHeads(axesOf(op->getOperand(0)).head, axesOf(op->getResult(0)).head);
      heads = heads == more ? heads : tile::HeadGroup::All;
      if (failed(panels.prepare(op->getOperand(0))))
        return failure();
    }
    llvm::for_each(op->getOperands(), reach);
  }
  if (failed(inner.emitter.status()))
    return failure();
  if (stacked.empty()) {
    loop->erase();
    return success();
  }
  auto known = [&](Operation *op) {
    auto cast = llvm::dyn_cast<ir::CastOp>(op);
    Value stack = cast && !inner.emitter.getPanel(cast) ? emitter.getMagnitudeStack(cast)
                                                        : emitter.getStack(op->getResult(0));
    return stack ? stack.getDefiningOp<tile::StackPanelsOp>() : nullptr;
  };
  // Others that join heads may read the same stacks: they must find theirs in it.
  for (Operation *op : sources)
    if (auto other = known(op); other && other.getHeads() != heads)
      heads = tile::HeadGroup::All;
  tile::YieldOp::create(inner.builder, loc, stacked);
  auto stacks =
      tile::StackPanelsOp::create(builder, loc, mlir::TypeRange(mlir::ValueRange(stacked)), item,
                                  heads, mlir::DenseI64ArrayAttr());
  stacks.getBody().takeBody(loop->getRegion(0));
  loop->erase();
  for (auto [op, panel] : llvm::zip_equal(sources, stacks.getPanels())) {
    if (auto cast = llvm::dyn_cast<ir::CastOp>(op); cast && !inner.emitter.getPanel(cast))
      emitter.setMagnitudeStack(cast, panel);
    else
      emitter.setStack(op->getResult(0), panel);
  }
  return success();
}

} // namespace skim
