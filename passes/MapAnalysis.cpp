#include "passes/MapAnalysis.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>

using mlir::Operation;
using mlir::Value;

namespace skim {
namespace {

using Operands = llvm::SmallVector<Value>;

/// Calls `visit` once on each operation that `value` is computed from, as far as the operands lead
/// that it returns.
void walkSources(Value value, llvm::function_ref<Operands(Operation *)> visit) {
  llvm::SetVector<Operation *> reached;
  auto reach = [&](Value source) {
    if (Operation *op = source.getDefiningOp())
      reached.insert(op);
  };
  reach(value);
  for (size_t next = 0; next != reached.size(); ++next)
    llvm::for_each(visit(reached[next]), reach);
}

/// Whether `holds` for some operation that `value` is computed from.
bool someSource(Value value, llvm::function_ref<bool(Operation *)> holds) {
  bool found = false;
  walkSources(value, [&](Operation *op) {
    found = found || holds(op);
    return found ? Operands() : Operands(op->getOperands());
  });
  return found;
}

/// The operands whose undefined cells make the result's undefined.
Operands strictOperands(Operation *op) {
  if (llvm::isa<ir::WhereOp, ir::LastOp, ir::SmoothOp, ir::CastOp, ir::LinearOp>(op))
    return {op->getOperand(0)};
  Operands operands;
  for (Value operand : op->getOperands())
    if (llvm::isa<ir::MapType>(operand.getType()))
      operands.push_back(operand);
  return operands;
}

} // namespace

ir::Axes axesOf(Value value) {
  if (auto map = llvm::dyn_cast<ir::MapType>(value.getType()))
    return map.getAxes();
  return llvm::cast<ir::SetType>(value.getType()).getAxes();
}

bool isVector(Value value) {
  auto map = llvm::dyn_cast<ir::MapType>(value.getType());
  return map && map.isVec();
}

bool isScored(Value value) {
  return someSource(value, [&](Operation *op) {
    if (auto stored = llvm::dyn_cast<tile::StoredMapOp>(op))
      return stored.getScored();
    return llvm::isa<ir::OperandOp, ir::LinearOp>(op) ||
           (llvm::isa<ir::InputOp>(op) && isVector(op->getResult(0)));
  });
}

bool isHeavy(Operation *op) {
  if (auto cast = llvm::dyn_cast<ir::CastOp>(op))
    return cast.getKind() == ir::CastKind::Int8 || cast.getKind() == ir::CastKind::Int4;
  return llvm::isa<ir::DotOp, ir::ReduceOp, ir::SmoothOp, ir::LinearOp>(op);
}

bool joinsHeads(Operation *op) {
  return llvm::isa<ir::ReduceOp>(op) &&
         axesOf(op->getOperand(0)).head != axesOf(op->getResult(0)).head;
}

bool isFine(const ir::Axes &axes) {
  return !axes.diagonal && axes.query != 0 && kCoarsestFineRows % axes.query == 0;
}

bool isPanelSet(Operation *op) {
  if (llvm::isa<ir::TopKOp, ir::TopPOp>(op))
    return isFine(axesOf(op->getResult(0))) && needsPanels(op->getOperand(0));
  if (auto cover = llvm::dyn_cast<ir::CoverOp>(op))
    return isFine({.query = static_cast<int64_t>(cover.getQuery().value_or(1))}) &&
           needsPanels(cover.getSet());
  return false;
}

bool needsPanels(Value value) { return someSource(value, isHeavy); }

int64_t rowsOfPanels(Value value) {
  int64_t rows = 1;
  walkSources(value, [&](Operation *op) {
    ir::Axes axes = axesOf(op->getResult(0));
    // Fine cells divide each other.
    if (isFine(axes) && (isHeavy(op) || isPanelSet(op)))
      rows = std::max(rows, axes.query);
    return Operands(op->getOperands());
  });
  return rows;
}

bool isCausal(Value map) {
  bool causal = false;
  walkSources(map, [&](Operation *op) -> Operands {
    ir::Axes axes = axesOf(op->getResult(0));
    bool bothAxes = axes.query != 0 && axes.key != 0;
    if (auto stored = llvm::dyn_cast<tile::StoredMapOp>(op))
      causal |= stored.getCausal();
    else if (llvm::isa<ir::InputOp, ir::DotOp>(op) && bothAxes)
      causal = true;
    else if (!llvm::isa<ir::ReduceOp>(op) || bothAxes)
      return strictOperands(op);
    return {};
  });
  return causal;
}

Value lastRows(Value map) {
  Value count;
  walkSources(map, [&](Operation *op) -> Operands {
    if (axesOf(op->getResult(0)).query != 1)
      return {};
    if (auto last = llvm::dyn_cast<ir::LastOp>(op))
      count = last.getCount();
    return count ? Operands() : strictOperands(op);
  });
  return count;
}

std::optional<SplitDot> splitDot(ir::DotOp dot) {
  mlir::OpOperand *lhs = &dot.getLhsMutable(), *rhs = &dot.getRhsMutable();
  ir::Axes left = axesOf(lhs->get()), right = axesOf(rhs->get());
  if (right.query != 0) {
    std::swap(lhs, rhs);
    std::swap(left, right);
  }
  bool splits = left.query != 0 && left.key == 0 && !left.diagonal && right.query == 0 &&
                right.key != 0 && !right.diagonal;
  if (!splits)
    return std::nullopt;
  return SplitDot{lhs, rhs};
}

bool isWeight(ir::InputOp input) {
  return llvm::any_of(input->getUsers(), [&](Operation *user) {
    auto linear = llvm::dyn_cast<ir::LinearOp>(user);
    return linear && linear.getWeight() == input.getResult();
  });
}

int64_t elementsOf(Value map, tile::PlanOp plan) {
  int64_t elements = 1;
  walkSources(map, [&](Operation *op) -> Operands {
    Value result = op->getResult(0);
    if (!isVector(result))
      return {};
    if (auto operand = llvm::dyn_cast<ir::OperandOp>(op))
      elements = operand.getKind() == ir::OperandKind::Value ? plan.getProblem().getValueDim()
                                                             : plan.getProblem().getHeadDim();
    else if (auto stored = llvm::dyn_cast<tile::StoredMapOp>(op))
      elements = static_cast<int64_t>(stored.getElements());
    else if (auto input = llvm::dyn_cast<ir::InputOp>(op))
      elements = plan.getInput(input.getName()).getElements().value_or(1);
    else if (auto linear = llvm::dyn_cast<ir::LinearOp>(op))
      elements = plan.getInput(linear.getWeight().getDefiningOp<ir::InputOp>().getName())
                     .getWeightRows()
                     .value_or(1);
    else
      return strictOperands(op);
    return {};
  });
  return elements;
}

} // namespace skim
