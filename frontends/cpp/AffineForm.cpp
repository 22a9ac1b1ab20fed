#include "frontends/cpp/AffineForm.h"

#include "frontends/cpp/Builder.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace skim;
using namespace skim::ir;

static AffineExpr getSymbol(Value value, Symbols &symbols) {
  auto *known = llvm::find(symbols, value);
  unsigned position = known - symbols.begin();
  if (known == symbols.end())
    symbols.push_back(value);
  return getAffineSymbolExpr(position, value.getContext());
}

/// How many values one expression may be made of. Values that share parts grow exponentially when
/// written out; what is beyond stays a symbol.
constexpr unsigned kLargestForm = 512;

static std::optional<AffineExpr> getForm(Value value, Symbols &symbols, IndexBounds &bounds,
                                         unsigned &left);

/// The expression of an operation on two uniform values, when that is quasi-affine.
static std::optional<AffineExpr> getBinaryForm(Operation *op, Symbols &symbols, IndexBounds &bounds,
                                               unsigned &left) {
  std::optional<AffineExprKind> kind =
      llvm::TypeSwitch<Operation *, std::optional<AffineExprKind>>(op)
          .Case<AddOp, SubOp>([](auto) { return AffineExprKind::Add; })
          .Case([](MulOp) { return AffineExprKind::Mul; })
          .Case([](DivOp) { return AffineExprKind::FloorDiv; })
          .Case([](ModOp) { return AffineExprKind::Mod; })
          .Default([](Operation *) { return std::nullopt; });
  if (!kind)
    return std::nullopt;
  std::optional<int64_t> lhsConstant = PatternBuilder::getConstantIndex(op->getOperand(0));
  std::optional<int64_t> rhsConstant = PatternBuilder::getConstantIndex(op->getOperand(1));
  if (kind == AffineExprKind::Mul && !lhsConstant && !rhsConstant)
    return std::nullopt;
  if ((kind == AffineExprKind::FloorDiv || kind == AffineExprKind::Mod) &&
      (!rhsConstant || *rhsConstant < 1))
    return std::nullopt;
  std::optional<AffineExpr> lhs = getForm(op->getOperand(0), symbols, bounds, left);
  std::optional<AffineExpr> rhs = getForm(op->getOperand(1), symbols, bounds, left);
  if (!lhs || !rhs || !fitsIn64Bits(*kind, *lhs, *rhs, symbols, bounds))
    return std::nullopt;
  return getAffineBinaryOpExpr(*kind, *lhs, isa<SubOp>(op) ? -*rhs : *rhs);
}

static std::optional<AffineExpr> getForm(Value value, Symbols &symbols, IndexBounds &bounds,
                                         unsigned &left) {
  auto type = dyn_cast<MapType>(value.getType());
  if (!type || !type.isIndex())
    return std::nullopt;
  if (std::optional<int64_t> constant = PatternBuilder::getConstantIndex(value))
    return getAffineConstantExpr(*constant, value.getContext());
  if (auto position = value.getDefiningOp<PositionOp>()) {
    SmallVector<AffineExpr> replacements;
    for (Value symbol : position.getSymbols()) {
      std::optional<AffineExpr> form = getForm(symbol, symbols, bounds, left);
      if (!form)
        return std::nullopt;
      replacements.push_back(*form);
    }
    return position.getMap().getResult(0).replaceSymbols(replacements);
  }
  if (!type.isUniform())
    return std::nullopt;
  if (Operation *op = value.getDefiningOp(); op && left > 0) {
    --left;
    Symbols extended = symbols;
    if (std::optional<AffineExpr> form = getBinaryForm(op, extended, bounds, left)) {
      symbols = extended;
      return form;
    }
    if (isa<NegOp>(op))
      if (std::optional<AffineExpr> form = getForm(op->getOperand(0), symbols, bounds, left))
        return -*form;
  }
  return getSymbol(value, symbols);
}

std::optional<AffineExpr> skim::getAffineForm(Value value, Symbols &symbols, IndexBounds &bounds) {
  unsigned left = kLargestForm;
  return getForm(value, symbols, bounds, left);
}

/// Takes the length of `expr` from `left`; false where that is not enough.
static bool takeLength(AffineExpr expr, unsigned &left) {
  if (left == 0)
    return false;
  --left;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || (takeLength(binary.getLHS(), left) && takeLength(binary.getRHS(), left));
}

bool skim::isBearable(AffineExpr lhs, AffineExpr rhs) {
  unsigned left = 4 * kLargestForm;
  return takeLength(lhs, left) && takeLength(rhs, left);
}

bool skim::fitsIn64Bits(AffineExprKind kind, AffineExpr lhs, AffineExpr rhs, ValueRange symbols,
                        IndexBounds &bounds) {
  double lhsBound = bounds.of(lhs, symbols);
  double rhsBound = bounds.of(rhs, symbols);
  return (kind == AffineExprKind::Mul ? lhsBound * rhsBound : lhsBound + rhsBound) <= kLargestBound;
}
