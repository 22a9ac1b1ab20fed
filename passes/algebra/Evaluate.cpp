#include "passes/algebra/Evaluate.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::AffineBinaryOpExpr;
using mlir::AffineConstantExpr;
using mlir::AffineDimExpr;
using mlir::AffineExpr;
using mlir::AffineExprKind;
using mlir::AffineSymbolExpr;
using mlir::IntegerSet;

namespace skim {
namespace {

struct Point {
  ArrayRef<int64_t> dims;
  ArrayRef<int64_t> symbols;
};

struct ActiveInterval {
  const TileInterval *interval;
  int64_t begin;
  int64_t end;
};

} // namespace

static int64_t evaluate(AffineExpr expression, const Point &point) {
  switch (expression.getKind()) {
  case AffineExprKind::Constant:
    return llvm::cast<AffineConstantExpr>(expression).getValue();
  case AffineExprKind::DimId:
    return point.dims[llvm::cast<AffineDimExpr>(expression).getPosition()];
  case AffineExprKind::SymbolId:
    return point.symbols[llvm::cast<AffineSymbolExpr>(expression).getPosition()];
  default:
    break;
  }
  auto binary = llvm::cast<AffineBinaryOpExpr>(expression);
  int64_t left = evaluate(binary.getLHS(), point);
  int64_t right = evaluate(binary.getRHS(), point);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(left, right);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(left, right);
  case AffineExprKind::Mod:
    return llvm::mod(left, right);
  default:
    llvm_unreachable("leaves are handled above");
  }
}

static bool holds(IntegerSet set, const Point &point) {
  for (auto [expression, isEquality] : llvm::zip(set.getConstraints(), set.getEqFlags())) {
    int64_t value = evaluate(expression, point);
    if (isEquality ? value != 0 : value < 0)
      return false;
  }
  return true;
}

static SmallVector<ActiveInterval> findActive(ArrayRef<TileInterval> intervals,
                                              const Point &point) {
  SmallVector<ActiveInterval> active;
  for (const TileInterval &interval : intervals) {
    if (!holds(interval.guard, point))
      continue;
    int64_t begin = evaluate(interval.lower.getResult(0), point);
    for (AffineExpr bound : interval.lower.getResults())
      begin = std::max(begin, evaluate(bound, point));
    int64_t end = evaluate(interval.upper.getResult(0), point);
    for (AffineExpr bound : interval.upper.getResults())
      end = std::min(end, evaluate(bound, point));
    if (begin < end)
      active.push_back({&interval, begin, end});
  }
  return active;
}

static bool hasTileConditions(const TileInterval &interval) {
  return !holdsAlways(interval.tileGuard) || !interval.literals.empty();
}

std::vector<Stretch> evaluateVisits(const TileVisits &visits, int64_t queryTile,
                                    ArrayRef<int64_t> symbols, LiteralOnTile literalOnTile) {
  Point point{.dims = queryTile, .symbols = symbols};
  SmallVector<ActiveInterval> touched = findActive(visits.touched, point);
  SmallVector<ActiveInterval> hidden = findActive(visits.hidden, point);

  SmallVector<int64_t> endPoints;
  for (const auto *list : {&touched, &hidden})
    for (const ActiveInterval &interval : *list)
      endPoints.append({interval.begin, interval.end});
  llvm::sort(endPoints, std::greater<>());
  endPoints.erase(llvm::unique(endPoints), endPoints.end());

  std::vector<Stretch> stretches;
  auto append = [&](int64_t begin, int64_t end, bool masked) {
    if (!stretches.empty() && stretches.back().begin == end && stretches.back().masked == masked)
      stretches.back().begin = begin;
    else
      stretches.push_back({begin, end, masked});
  };
  auto activeOn = [&](ArrayRef<ActiveInterval> list, int64_t keyTile) {
    return llvm::any_of(list, [&](const ActiveInterval &active) {
      return active.begin <= keyTile && keyTile < active.end &&
             holds(active.interval->tileGuard, {{queryTile, keyTile}, symbols}) &&
             llvm::all_of(
                 active.interval->literals,
                 [&](const LiteralRef &literal) { return literalOnTile(literal, keyTile); });
    });
  };
  for (unsigned index = 1; index < endPoints.size(); ++index) {
    int64_t begin = endPoints[index];
    int64_t end = endPoints[index - 1];
    auto varies = [&](const ActiveInterval &active) {
      return active.begin <= begin && end <= active.end && hasTileConditions(*active.interval);
    };
    // Without conditions on single tiles the first tile speaks for the stretch.
    if (!llvm::any_of(touched, varies) && !llvm::any_of(hidden, varies)) {
      if (activeOn(touched, begin))
        append(begin, end, activeOn(hidden, begin));
      continue;
    }
    for (int64_t keyTile = end - 1; keyTile >= begin; --keyTile)
      if (activeOn(touched, keyTile))
        append(keyTile, keyTile + 1, activeOn(hidden, keyTile));
  }
  return stretches;
}

std::vector<Stretch> evaluateVisits(const TileVisits &visits, int64_t queryTile,
                                    ArrayRef<int64_t> symbols) {
  return evaluateVisits(visits, queryTile, symbols,
                        [](const LiteralRef &, int64_t) { return true; });
}

bool evaluateFormula(const Formula &formula, int64_t query, int64_t key, ArrayRef<int64_t> symbols,
                     llvm::function_ref<bool(unsigned literal)> literalHolds) {
  auto evaluateOperand = [&](const Formula &operand) {
    return evaluateFormula(operand, query, key, symbols, literalHolds);
  };
  switch (formula.getKind()) {
  case Formula::Kind::True:
    return true;
  case Formula::Kind::False:
    return false;
  case Formula::Kind::And:
    return llvm::all_of(formula.getOperands(), evaluateOperand);
  case Formula::Kind::Or:
    return llvm::any_of(formula.getOperands(), evaluateOperand);
  case Formula::Kind::Not:
    return !evaluateOperand(formula.getOperands().front());
  case Formula::Kind::Affine:
    return holds(formula.getSet(), {{query, key}, symbols});
  case Formula::Kind::Literal:
    return literalHolds(formula.getLiteral());
  case Formula::Kind::Choice:
    for (auto [literal, operand] : llvm::zip(formula.getCaseLiterals(), formula.getOperands()))
      if (literalHolds(literal))
        return evaluateOperand(operand);
    return false;
  }
  llvm_unreachable("every kind of formula is handled above");
}

} // namespace skim
