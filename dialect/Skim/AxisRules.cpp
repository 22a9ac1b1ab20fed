// Type rules: how axes meet, refine, and follow from affine expressions.
#include "dialect/Skim/TypeRules.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <numeric>

using namespace mlir;
using namespace skim::ir;

/// One position axis of both sides; 0 is absent.
static FailureOr<int64_t> meetBlocks(int64_t lhs, int64_t rhs, std::string (*name)(int64_t),
                                     RuleViolation &why) {
  if (lhs == rhs || rhs == 0)
    return lhs;
  if (lhs == 0)
    return rhs;
  why.message = "expected equal block sizes but got '" + name(lhs) + "' and '" + name(rhs) + "'";
  std::optional<int64_t> common = llvm::checkedMul(lhs / std::gcd(lhs, rhs), rhs);
  if (common) {
    bool divides = *common == lhs || *common == rhs;
    why.suggestion =
        (divides ? "coarsen the finer side with 'into: " : "coarsen both sides with 'into: ") +
        name(*common) + "'";
  }
  return failure();
}

FailureOr<Axes> skim::ir::meetAxes(const Axes &lhs, const Axes &rhs, RuleViolation &why) {
  FailureOr<int64_t> query = meetBlocks(lhs.query, rhs.query, queryAxisName, why);
  if (failed(query))
    return failure();
  FailureOr<int64_t> key = meetBlocks(lhs.key, rhs.key, keyAxisName, why);
  if (failed(key))
    return failure();
  Axes result{std::max(lhs.head, rhs.head), *query, *key, lhs.diagonal || rhs.diagonal};
  if (!result.diagonal || (result.key == 0 && result.query != 1))
    return result;
  // At token granularity any two of q, k and q - k name the pair.
  if (result.query > 1 || result.key > 1) {
    why.message = "axis 'q - k' does not meet '" +
                  (result.key > 1 ? keyAxisName(result.key) : queryAxisName(result.query)) + "'";
    why.suggestion =
        "distances meet positions at token granularity: leave 'q' and 'k' without blocks";
    return failure();
  }
  return Axes::tokens(result.head);
}

Axes skim::ir::refineAxes(const Axes &lhs, const Axes &rhs) {
  HeadAxis head = std::max(lhs.head, rhs.head);
  if (!rhs.hasPositions())
    return lhs.withHead(head);
  if (!lhs.hasPositions())
    return rhs.withHead(head);
  if (lhs.diagonal != rhs.diagonal)
    return Axes::tokens(head);
  return {head, std::gcd(lhs.query, rhs.query), std::gcd(lhs.key, rhs.key), lhs.diagonal};
}

/// B when `expr` is `dim floordiv B`.
static std::optional<int64_t> asBlockIndex(AffineExpr expr, unsigned dim) {
  if (auto dimExpr = dyn_cast<AffineDimExpr>(expr))
    return dimExpr.getPosition() == dim ? std::optional<int64_t>(1) : std::nullopt;
  auto division = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!division || division.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto divisor = dyn_cast<AffineConstantExpr>(division.getRHS());
  std::optional<int64_t> block = asBlockIndex(division.getLHS(), dim);
  int64_t product = 0;
  if (!divisor || !block || divisor.getValue() < 1 ||
      llvm::MulOverflow(*block, divisor.getValue(), product))
    return std::nullopt;
  return product;
}

/// The coarsest blocks of `dim` on which `expr` is sure to be constant; 0 when it does not depend
/// on it.
static int64_t getBlock(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (std::optional<int64_t> block = asBlockIndex(expr, dim))
    return *block;
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr))
    return std::gcd(getBlock(binary.getLHS(), dim), getBlock(binary.getRHS(), dim));
  return 1;
}

static Axes getAxes(AffineExpr expr, unsigned numSymbols) {
  MLIRContext *context = expr.getContext();
  expr = simplifyAffineExpr(expr, 2, numSymbols);
  AffineExpr q = getAffineDimExpr(0, context);
  AffineExpr k = getAffineDimExpr(1, context);
  if (expr.isFunctionOfDim(0) && expr.isFunctionOfDim(1)) {
    // A function of the distance d = q - k alone loses k when q is written as d + k.
    AffineExpr byDistance = simplifyAffineExpr(expr.replaceDims({q + k, k}), 2, numSymbols);
    if (!byDistance.isFunctionOfDim(1))
      return {HeadAxis::None, 0, 0, true};
  }
  return {HeadAxis::None, getBlock(expr, 0), getBlock(expr, 1), false};
}

bool skim::ir::isQuasiAffine(AffineExpr expr) {
  if (!expr.isPureAffine())
    return false;
  bool dividesByPositive = true;
  expr.walk([&](AffineExpr part) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (!binary || binary.getKind() == AffineExprKind::Add ||
        binary.getKind() == AffineExprKind::Mul)
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    dividesByPositive &= divisor && divisor.getValue() > 0;
  });
  return dividesByPositive;
}

Axes skim::ir::getAxes(AffineMap map) {
  Axes axes;
  for (AffineExpr expr : map.getResults())
    axes = refineAxes(axes, ::getAxes(expr, map.getNumSymbols()));
  return axes;
}

Axes skim::ir::getAxes(IntegerSet set) {
  Axes axes;
  for (AffineExpr expr : set.getConstraints())
    axes = refineAxes(axes, ::getAxes(expr, set.getNumSymbols()));
  return axes;
}

Axes skim::ir::getAxes(Type type) {
  if (auto map = dyn_cast<MapType>(type))
    return map.getAxes();
  return cast<SetType>(type).getAxes();
}

HeadAxis skim::ir::getHeadAxis(TypeRange types) {
  HeadAxis head = HeadAxis::None;
  for (Type type : types)
    head = std::max(head, getAxes(type).head);
  return head;
}
