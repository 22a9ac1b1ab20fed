// What the maps of a pattern are like: whether they score, what they can be computed beside, where
// they are known to be undefined.
#ifndef SKIM_PASSES_MAPANALYSIS_H
#define SKIM_PASSES_MAPANALYSIS_H

#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace skim {

/// The axes of a map or a set.
ir::Axes axesOf(mlir::Value value);

/// Whether the value is a map of vectors.
bool isVector(mlir::Value value);
/// Whether the value depends on Q, K, V or on vectors that the caller gives: then it is a number of
/// the target's own, with the margins of rule 9.
bool isScored(mlir::Value value);

/// Whether the value at one position takes many numbers to compute: products, reductions,
/// smoothing, products with a weight, casts whose step depends on a whole vector.
bool isHeavy(mlir::Operation *op);

/// Whether the operation is a reduction that joins heads, alone or with positions.
bool joinsHeads(mlir::Operation *op);

/// The most positions of a row block that is computed row by row.
inline constexpr int64_t kCoarsestFineRows = 16;
/// Whether cells with these axes are computed row by row where they are used: their rows divide
/// every tile of rows. Coarser and other cells, and distances, are computed once and stored.
bool isFine(const ir::Axes &axes);

/// Whether a set's operation decides for each fine row by what is computed there: a selection or a
/// cover over heavy maps.
bool isPanelSet(mlir::Operation *op);

/// Whether an operation that `value` is computed from is heavy, or a selection or cover over heavy
/// maps.
bool needsPanels(mlir::Value value);

/// The number of rows whose multiples a tile of rows must have so that what `value` needs can be
/// computed for it: the rows of the largest cell that is computed row by row.
int64_t rowsOfPanels(mlir::Value value);

/// Whether, in a causal pattern, a cell is undefined when all its keys lie behind its last row.
bool isCausal(mlir::Value map);

/// The count of the `last` that makes rows before it undefined; null where none is known to.
mlir::Value lastRows(mlir::Value map);

/// A product of vectors over rows with vectors over keys, which has a kernel of its own.
struct SplitDot {
  mlir::OpOperand *rows;
  mlir::OpOperand *keys;
};
std::optional<SplitDot> splitDot(ir::DotOp dot);

/// Whether a `linear` multiplies by the input.
bool isWeight(ir::InputOp input);

/// How many elements a map's vectors have; 1 for numbers.
int64_t elementsOf(mlir::Value map, tile::PlanOp plan);

} // namespace skim

#endif // SKIM_PASSES_MAPANALYSIS_H
