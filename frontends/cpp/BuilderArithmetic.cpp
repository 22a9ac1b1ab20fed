// The pattern builder: arithmetic on positions and maps.
#include "frontends/cpp/AffineForm.h"
#include "frontends/cpp/Builder.h"
#include "frontends/cpp/Describe.h"

using namespace mlir;
using namespace skim;
using namespace skim::ir;

/// Positions, as opposed to uniform values and arrays of indices.
static bool isPosition(Value value) {
  auto op = value.getDefiningOp<PositionOp>();
  return op && !op.getType().isUniform();
}

Value PatternBuilder::failTooLarge(Location loc) {
  return fail(loc, "the index expression may not fit in 64 bits",
              "positions and indices of a launch reach 2^31: use smaller factors");
}

Value PatternBuilder::failTooLong(Location loc) {
  return fail(loc, "the index expression is too long once values that share parts are written out");
}

Value PatternBuilder::position(Location loc, AffineExprKind kind, AffineExpr lhs, AffineExpr rhs,
                               ArrayRef<Value> symbols) {
  if (!isBearable(lhs, rhs))
    return failTooLong(loc);
  if (!fitsIn64Bits(kind, lhs, rhs, symbols, bounds))
    return failTooLarge(loc);
  AffineExpr expr = getAffineBinaryOpExpr(kind, lhs, rhs);
  expr = simplifyAffineExpr(expr, 2, symbols.size());
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return indexConstant(loc, constant.getValue());
  return PositionOp::create(builder, loc, AffineMap::get(2, symbols.size(), expr), symbols);
}

/// The affine operation that `OpT` is; a subtraction adds the negative.
template <typename OpT> constexpr AffineExprKind affineKind() {
  if (std::is_same_v<OpT, MulOp>)
    return AffineExprKind::Mul;
  if (std::is_same_v<OpT, DivOp>)
    return AffineExprKind::FloorDiv;
  return std::is_same_v<OpT, ModOp> ? AffineExprKind::Mod : AffineExprKind::Add;
}

template <typename OpT> Value PatternBuilder::arithmetic(Location loc, Value lhs, Value rhs) {
  constexpr bool isDivision = std::is_same_v<OpT, DivOp> || std::is_same_v<OpT, ModOp>;
  constexpr bool isAffine = isDivision || std::is_same_v<OpT, AddOp> ||
                            std::is_same_v<OpT, SubOp> || std::is_same_v<OpT, MulOp>;
  if (!lhs || !rhs || failed(unify(loc, lhs, rhs)))
    return {};
  auto lhsType = mlir::cast<MapType>(lhs.getType());
  auto rhsType = mlir::cast<MapType>(rhs.getType());
  if (std::is_same_v<OpT, ModOp> && !(lhsType.isIndex() && rhsType.isIndex()))
    return fail(loc, "expected index operands of '%' but got " + describe(lhs) + " and " +
                         describe(rhs));
  std::optional<int64_t> lhsConstant = getConstantIndex(lhs);
  std::optional<int64_t> rhsConstant = getConstantIndex(rhs);
  bool bothIndex = lhsType.isIndex() && rhsType.isIndex();
  if (isDivision && bothIndex && rhsConstant && *rhsConstant < 1)
    return fail(loc, "expected a positive divisor but got " + llvm::Twine(*rhsConstant));
  if (isAffine && bothIndex && (isPosition(lhs) || isPosition(rhs))) {
    if ((isDivision && !rhsConstant) ||
        (std::is_same_v<OpT, MulOp> && !lhsConstant && !rhsConstant)) {
      Value other = isDivision || !isPosition(rhs) ? rhs : lhs;
      llvm::StringRef role = isDivision ? "divisor" : "factor";
      return fail(loc,
                  llvm::Twine("positions are ") + (isDivision ? "divided" : "multiplied") +
                      " by constants only, but the " + role + " is " + describe(other),
                  mlir::cast<MapType>(other.getType()).isUniform()
                      ? "declare the " + role + " 'constexpr'"
                      : "");
    }
    Symbols symbols;
    std::optional<AffineExpr> lhsForm = getAffineForm(lhs, symbols, bounds);
    std::optional<AffineExpr> rhsForm = getAffineForm(rhs, symbols, bounds);
    if (lhsForm && rhsForm)
      return position(loc, affineKind<OpT>(), *lhsForm,
                      std::is_same_v<OpT, SubOp> ? -*rhsForm : *rhsForm, symbols);
  }
  RuleViolation why;
  if (failed(inferBinary(lhsType, rhsType, why)))
    return fail(loc, why);
  Value result = builder.createOrFold<OpT>(loc, lhs, rhs);
  if (lhsConstant && rhsConstant && !getConstantIndex(result))
    return fail(loc, "the constant expression does not fit in 64 bits");
  if (bothIndex && !getConstantIndex(result) && bounds.of(result) > kLargestBound)
    return failTooLarge(loc);
  return result;
}

Value PatternBuilder::add(Location loc, Value lhs, Value rhs) {
  return arithmetic<AddOp>(loc, lhs, rhs);
}
Value PatternBuilder::sub(Location loc, Value lhs, Value rhs) {
  return arithmetic<SubOp>(loc, lhs, rhs);
}
Value PatternBuilder::mul(Location loc, Value lhs, Value rhs) {
  return arithmetic<MulOp>(loc, lhs, rhs);
}
Value PatternBuilder::div(Location loc, Value lhs, Value rhs) {
  return arithmetic<DivOp>(loc, lhs, rhs);
}
Value PatternBuilder::mod(Location loc, Value lhs, Value rhs) {
  return arithmetic<ModOp>(loc, lhs, rhs);
}
Value PatternBuilder::minimum(Location loc, Value lhs, Value rhs) {
  return arithmetic<MinOp>(loc, lhs, rhs);
}
Value PatternBuilder::maximum(Location loc, Value lhs, Value rhs) {
  return arithmetic<MaxOp>(loc, lhs, rhs);
}

template <typename OpT> Value PatternBuilder::unary(Location loc, Value value, bool onIndex) {
  if (!value)
    return {};
  MapType map = asMap(loc, value, "a number");
  if (!map)
    return {};
  if (map.isBool() || (map.isIndex() && !onIndex))
    value = toReal(loc, value, "a number");
  if (!value)
    return {};
  Value result = builder.createOrFold<OpT>(loc, value.getType(), value);
  if (getConstantIndex(value) && !getConstantIndex(result))
    return fail(loc, "the constant expression does not fit in 64 bits");
  return result;
}

Value PatternBuilder::neg(Location loc, Value value) {
  if (value && isPosition(value)) {
    Symbols symbols;
    if (std::optional<AffineExpr> form = getAffineForm(value, symbols, bounds))
      return position(loc, AffineExprKind::Mul, *form, builder.getAffineConstantExpr(-1), symbols);
  }
  return unary<NegOp>(loc, value, true);
}

Value PatternBuilder::abs(Location loc, Value value) { return unary<AbsOp>(loc, value, true); }
Value PatternBuilder::relu(Location loc, Value value) { return unary<ReluOp>(loc, value, true); }
Value PatternBuilder::exp(Location loc, Value value) { return unary<ExpOp>(loc, value, false); }
Value PatternBuilder::log(Location loc, Value value) { return unary<LogOp>(loc, value, false); }
Value PatternBuilder::tanh(Location loc, Value value) { return unary<TanhOp>(loc, value, false); }
