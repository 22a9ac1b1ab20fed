// Checks against the program that an operation stands in. An operation outside of a program, as
// in the middle of a lowering, passes them.
#ifndef SKIM_DIALECT_TILE_PROGRAMOPS_H
#define SKIM_DIALECT_TILE_PROGRAMOPS_H

#include "dialect/Tile/TileOps.h"

namespace skim::tile {

/// The program's items have at least the axis of heads `atLeast`.
llvm::LogicalResult requireItems(mlir::Operation *op, HeadKind atLeast, llvm::StringRef what);
/// The program's items run along `axis`.
llvm::LogicalResult requireItems(mlir::Operation *op, ItemAxis axis, llvm::StringRef what);

} // namespace skim::tile

#endif // SKIM_DIALECT_TILE_PROGRAMOPS_H
