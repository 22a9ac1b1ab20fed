#ifndef SKIM_PASSES_ALGEBRA_TILE_VISITS_H
#define SKIM_PASSES_ALGEBRA_TILE_VISITS_H

#include "passes/algebra/Formula.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace skim {

/// Query tile t holds the positions [t * rows, (t + 1) * rows), key tile u the keys [u * keys, (u +
/// 1) * keys).
struct TileShape {
  int64_t rows;
  int64_t keys;
};

/// The symbols that a formula's atoms may name: `count` of them, of which two have a meaning. The
/// rows that exist are base <= q < kvLength, the keys 0 <= k < kvLength.
struct FormulaSymbols {
  unsigned count;
  unsigned base;
  unsigned kvLength;
};

/// The closed forms are evaluated in 64-bit integers and are exact while every symbol, every
/// position and every tile number lies in [-kLargestSymbol, kLargestSymbol]. Clamping a larger
/// value would change what a pattern such as `q - k < window / 64` means, so values outside are to
/// be refused at launch.
constexpr int64_t kLargestSymbol = int64_t(1) << 31;

struct LiteralRef {
  unsigned id;
  bool negated;

  bool operator==(const LiteralRef &) const = default;
};

/// Key tiles [lower, upper) of query tile t, in closed form. Maps and sets share the symbols of the
/// formula; tile sizes are constants in them. `upper` may lie below `lower`: such an interval is
/// empty.
struct TileInterval {
  /// (t)[symbols] -> several results, of which the largest counts. Never empty.
  mlir::AffineMap lower;
  /// (t)[symbols] -> several results, of which the smallest counts; exclusive. Never empty.
  mlir::AffineMap upper;
  /// (t)[symbols]: the interval is empty unless it holds. `0 == 0` where there is no condition.
  mlir::IntegerSet guard;
  /// (t, u)[symbols]: condition on each key tile u of the interval; `0 == 0` where there is none.
  mlir::IntegerSet tileGuard;
  /// The interval is active on a tile only if each of these holds somewhere on the tile.
  mlir::SmallVector<LiteralRef, 2> literals;

  bool operator==(const TileInterval &) const = default;
};

/// True when the set is the `0 == 0` that stands for the absence of a condition.
bool holdsAlways(mlir::IntegerSet set);

/// The two sides of a relation, projected on tiles. Without literals the lists are exact:
///
/// - a tile lies in a `touched` interval if and only if some existing row of it sees some key of
/// it;
/// - a tile lies in a `hidden` interval if and only if some existing row of it does not see some
/// key of it, keys
///   past the end included.
///
/// With literals each interval stands for one conjunction and is exact in its affine part; as a
/// literal is asked for somewhere on the tile, both lists err towards masked tiles and never lose a
/// pair.
struct TileVisits {
  mlir::SmallVector<TileInterval> touched;
  mlir::SmallVector<TileInterval> hidden;

  /// One interval a line, in MLIR's notation for maps and sets.
  void print(mlir::raw_ostream &stream) const;
};

/// Projects `visible` (the kept pairs, causality and length already intersected) on tiles. All
/// intervals are clamped to the key tiles [0, ceil(kvLength / keys)) and are empty where the query
/// tile holds no existing row.
///
/// Fails with a diagnostic at `location` when either side needs more than `largestCount` intervals,
/// or when it cannot be projected exactly.
mlir::FailureOr<TileVisits> computeTileVisits(mlir::Location location, const Formula &visible,
                                              TileShape shape, const FormulaSymbols &symbols,
                                              unsigned largestCount = 64);

} // namespace skim

#endif // SKIM_PASSES_ALGEBRA_TILE_VISITS_H
