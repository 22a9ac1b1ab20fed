// How panels and the sums of reductions lie in memory, for those who size the buffers and those who
// index them.
#ifndef SKIM_DIALECT_TILE_PANELLAYOUT_H
#define SKIM_DIALECT_TILE_PANELLAYOUT_H

#include "dialect/Tile/TileOps.h"

#include "llvm/Support/MathExtras.h"

namespace skim::tile {

/// Rows of a panel stand side by side: whole vectors and whole register blocks of every target.
constexpr int64_t kPanelRowAlignment = 64;
/// A cell of a reduction is a sum, a sum of squares and a count, in planes of their own.
constexpr int64_t kAccumulatorPlanes = 3;

/// Rows of a column in memory.
inline int64_t paddedRows(PanelType type) {
  return llvm::alignTo(type.getRows(), kPanelRowAlignment);
}

} // namespace skim::tile

#endif // SKIM_DIALECT_TILE_PANELLAYOUT_H
