#ifndef SKIM_PASSES_ALGEBRA_TILE_PROJECTION_H
#define SKIM_PASSES_ALGEBRA_TILE_PROJECTION_H

#include "passes/algebra/Conjunction.h"
#include "passes/algebra/LinearForm.h"
#include "passes/algebra/TileVisits.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"

namespace skim {

/// Variables of the space of tiles: t, u, then the symbols, then divisions and what is eliminated.
constexpr unsigned kQueryTile = 0;
constexpr unsigned kKeyTile = 1;

/// Turns conjunctions over pairs (q, k) into conjunctions over tiles (t, u) that hold a pair of
/// them, where q = rows * t + i and k = keys * u + j, 0 <= i < rows and 0 <= j < keys.
class TileProjection {
public:
  /// `positions` is the finished space of the conjunctions to be projected.
  TileProjection(const LinearSpace &positions, const FormulaSymbols &symbols, TileShape shape,
                 unsigned largestCount);

  /// Appends the projection of `pairs`, whose q and k also lie in `domain`, a conjunction over
  /// tiles. Fails when it would take too many conjunctions.
  mlir::LogicalResult project(const Conjunction &pairs, const Conjunction &domain,
                              Disjuncts &tiles);

  /// Rewrites conditions on floor((u + ...) / m) alone as conditions on u + ..., so that they
  /// become bounds of u.
  void openKeyTileDivisions(Conjunction &tiles);

  /// Form over tiles and in-tile offsets of a form over positions.
  LinearForm map(const LinearForm &form) const;
  const LinearSpace &getSpace() const { return space; }

private:
  bool openKeyTileDivision(LinearForm &form);
  void mapDivision(const LinearSpace::Division &division);
  bool isEliminated(unsigned variable) const {
    return variable < eliminated.size() && eliminated.test(variable);
  }
  unsigned addEliminated();

  unsigned largestCount;
  TileShape shape;
  LinearSpace space;
  llvm::SmallBitVector eliminated;
  unsigned rowOffset = 0;
  unsigned keyOffset = 0;
  /// For each variable of the positions, its form over tiles.
  std::vector<LinearForm> images;
  /// Bounds of the in-tile offsets and of divisions that became eliminated variables.
  Conjunction definitions;
};

/// Writes forms over tiles as affine expressions, with the given expressions in the place of t and
/// u.
class ExpressionWriter {
public:
  ExpressionWriter(const LinearSpace &space, mlir::AffineExpr queryTile, mlir::AffineExpr keyTile)
      : space(space), queryTile(queryTile), keyTile(keyTile) {}

  mlir::AffineExpr write(const LinearForm &form) const;
  /// False when the form, or a part of it, may leave 62 bits while variables keep within
  /// kLargestSymbol.
  bool fits(const LinearForm &form) const;

private:
  Integer largestMagnitude(const LinearForm &form) const;

  const LinearSpace &space;
  mlir::AffineExpr queryTile;
  mlir::AffineExpr keyTile;
};

} // namespace skim

#endif // SKIM_PASSES_ALGEBRA_TILE_PROJECTION_H
