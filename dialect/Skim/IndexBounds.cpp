#include "dialect/Skim/IndexBounds.h"

#include "dialect/Skim/SkimOps.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace skim::ir;

static bool isIndexMap(Value value) {
  auto map = dyn_cast<MapType>(value.getType());
  return map && map.isIndex();
}

double IndexBounds::of(Value map) {
  // Operands first, without recursion: chains of `let` are as long as a file.
  SmallVector<Value> pending = {map};
  while (!pending.empty()) {
    Value value = pending.back();
    if (known.contains(value)) {
      pending.pop_back();
      continue;
    }
    size_t before = pending.size();
    Operation *op = value.getDefiningOp();
    if (op)
      llvm::copy_if(op->getOperands(), std::back_inserter(pending),
                    [&](Value operand) { return isIndexMap(operand) && !known.contains(operand); });
    if (pending.size() != before)
      continue;
    known[value] = op ? ofResult(op) : static_cast<double>(kLargestIndex);
    pending.pop_back();
  }
  return known.lookup(map);
}

double IndexBounds::ofResult(Operation *op) {
  auto operand = [&](unsigned i) { return known.lookup(op->getOperand(i)); };
  auto isConstant = [&](unsigned i) {
    return op->getOperand(i).getDefiningOp<ConstantOp>() != nullptr;
  };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([](ConstantOp constant) {
        return std::fabs(static_cast<double>(cast<IntegerAttr>(constant.getValue()).getInt()));
      })
      .Case([&](PositionOp position) {
        return of(position.getMap().getResult(0), position.getSymbols());
      })
      .Case<AddOp, SubOp>([&](auto) { return operand(0) + operand(1); })
      .Case([&](MulOp) {
        return isConstant(0) || isConstant(1) ? operand(0) * operand(1)
                                              : static_cast<double>(kLargestIndex);
      })
      .Case([&](ModOp) { return operand(1); })
      .Case<MinOp, MaxOp>([&](auto) { return std::max(operand(0), operand(1)); })
      .Case<DivOp, NegOp, AbsOp, ReluOp, WhereOp>([&](auto) { return operand(0); })
      .Case([&](ReduceOp reduce) {
        return reduce.getKind() == ReduceKind::Sum ? std::ldexp(operand(0), 31) : operand(0);
      })
      .Default([](Operation *) { return static_cast<double>(kLargestIndex); });
}

double IndexBounds::of(AffineExpr expr, ValueRange symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::fabs(static_cast<double>(constant.getValue()));
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return of(symbols[symbol.getPosition()]);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return static_cast<double>(kLargestIndex);
  double lhs = of(binary.getLHS(), symbols);
  double rhs = of(binary.getRHS(), symbols);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::Mod:
    return rhs;
  default:
    return lhs;
  }
}
