// What must be known of a mask to evaluate it in registers.
#ifndef SKIM_CODEGEN_NVVM_MASKSHAPE_H
#define SKIM_CODEGEN_NVVM_MASKSHAPE_H

#include "dialect/Tile/TileOps.h"

#include "mlir/IR/AffineExpr.h"

namespace skim::nvvm {

/// Which dimension of the set is the key.
std::optional<unsigned> keyDimension(tile::ContainsOp op, mlir::Value key);

/// An expression as `slope` * key + `rest`; `slope` is null where it is not a constant.
struct KeySlope {
  mlir::AffineExpr rest;
  mlir::AffineConstantExpr slope;
};
KeySlope slopeOf(mlir::AffineExpr expression, std::optional<unsigned> key, mlir::IntegerSet set);

/// The region of a `tile.mask`, evaluated for the keys of a tile or, `listed`, of a list.
class MaskShape {
public:
  MaskShape(mlir::Region &region, int64_t keys, bool listed)
      : region(region), keys(keys), listed(listed) {}

  /// Whether the mask is two bounds on the column for each row, and nothing more.
  bool isBounds() const { return isBounds(region.front().getTerminator()->getOperand(0)); }
  /// Whether something must be evaluated key by key.
  bool evaluatesKeys() const;

  /// Whether a set is affine in the key, so that it puts bounds on the columns of a row.
  bool hasBounds(tile::ContainsOp op) const;
  bool holdsWholeTiles(tile::LiteralOp literal) const;
  /// Whether a cell of keys holds whole groups of eight columns, for all threads alike.
  bool holdsGroups(tile::LiteralOp literal) const;
  /// Whether a literal is evaluated at the row and the key that the mask asks about.
  bool isOfElement(tile::LiteralValueOp op) const;

private:
  /// Whether a condition is a conjunction of such sets and of literals that hold for all keys of a
  /// tile or for none.
  bool isBounds(mlir::Value value) const;

  mlir::Region &region;
  int64_t keys; ///< of a tile
  bool listed;
};

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_MASKSHAPE_H
