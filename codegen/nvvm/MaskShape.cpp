#include "codegen/nvvm/MaskShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

/// Cells of keys in a tile, up to which literals are evaluated all at once.
static constexpr int64_t kMostCells = 4;

/// Whether the expression divides something that depends on the key.
static bool dividesKey(AffineExpr expression, unsigned key) {
  bool divides = false;
  expression.walk([&](AffineExpr part) {
    AffineExprKind kind = part.getKind();
    bool division = kind == AffineExprKind::Mod || kind == AffineExprKind::FloorDiv ||
                    kind == AffineExprKind::CeilDiv;
    divides |= division && part.isFunctionOfDim(key);
  });
  return divides;
}

std::optional<unsigned> skim::nvvm::keyDimension(tile::ContainsOp op, Value key) {
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    if (dim == key)
      return i;
  return std::nullopt;
}

KeySlope skim::nvvm::slopeOf(AffineExpr expression, std::optional<unsigned> key, IntegerSet set) {
  MLIRContext *context = set.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context), one = getAffineConstantExpr(1, context);
  if (!key)
    return {expression, cast<AffineConstantExpr>(zero)};
  if (dividesKey(expression, *key))
    return {expression, {}};
  AffineExpr dim = getAffineDimExpr(*key, context), rest = expression.replace(dim, zero);
  AffineExpr slope = simplifyAffineExpr(expression.replace(dim, one) - rest, set.getNumDims(),
                                        set.getNumSymbols());
  return {rest, dyn_cast<AffineConstantExpr>(slope)};
}

bool MaskShape::hasBounds(tile::ContainsOp op) const {
  if (listed)
    return false;
  // The key may be one of the dimensions; everything else must be known for the row.
  std::optional<unsigned> keyDim = keyDimension(op, region.getArgument(1));
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    if (i != keyDim && dim != region.getArgument(0) && dim.getParentRegion() == &region)
      return false;
  if (llvm::any_of(op.getSymbols(),
                   [&](Value value) { return value.getParentRegion() == &region; }))
    return false;
  IntegerSet set = op.getSet();
  for (auto [expression, equality] : llvm::zip(set.getConstraints(), set.getEqFlags())) {
    AffineConstantExpr slope = slopeOf(expression, keyDim, set).slope;
    if (!slope || (equality && std::abs(slope.getValue()) > 1))
      return false;
  }
  return true;
}

bool MaskShape::isBounds(Value value) const {
  Operation *op = value.getDefiningOp();
  if (auto contains = dyn_cast_or_null<tile::ContainsOp>(op))
    return hasBounds(contains);
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op))
    return isBounds(both.getLhs()) && isBounds(both.getRhs());
  auto use = dyn_cast_or_null<tile::LiteralValueOp>(op);
  return use && !listed && isOfElement(use) &&
         holdsWholeTiles(use.getLiteral().getDefiningOp<tile::LiteralOp>());
}

bool MaskShape::evaluatesKeys() const {
  if (listed)
    return true;
  Value key = region.getArgument(1);
  return !isBounds() && llvm::any_of(region.front().without_terminator(), [&](Operation &op) {
    if (auto contains = dyn_cast<tile::ContainsOp>(op); contains && hasBounds(contains))
      return false;
    if (auto use = dyn_cast<tile::LiteralValueOp>(op); use && isOfElement(use)) {
      auto literal = use.getLiteral().getDefiningOp<tile::LiteralOp>();
      auto keyCell = static_cast<int64_t>(literal.getKeyCell());
      return !holdsWholeTiles(literal) && !(holdsGroups(literal) && keys / keyCell <= kMostCells);
    }
    return llvm::is_contained(op.getOperands(), key);
  });
}

bool MaskShape::holdsWholeTiles(tile::LiteralOp literal) const {
  auto keyCell = static_cast<int64_t>(literal.getKeyCell());
  return keyCell == 0 || keyCell % keys == 0;
}
bool MaskShape::holdsGroups(tile::LiteralOp literal) const {
  auto keyCell = static_cast<int64_t>(literal.getKeyCell());
  return keyCell % 8 == 0 && keys % keyCell == 0;
}
bool MaskShape::isOfElement(tile::LiteralValueOp op) const {
  return op.getQuery() == region.getArgument(0) && op.getKey() == region.getArgument(1);
}
