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

/// What an item stands for: the program's own items, or those of a loop over parts of them.
struct ItemShape {
  HeadKind head;
  int64_t rows; ///< of its row tile; 0 without a query axis
  int64_t keys; ///< of its tile of keys; 0 without a key axis
};
/// Nothing where the item is not the argument of a loop in a program.
std::optional<ItemShape> itemShape(mlir::Value item);
/// `item` has at least the axis of heads `atLeast`.
llvm::LogicalResult requireHead(mlir::Operation *op, mlir::Value item, HeadKind atLeast,
                                llvm::StringRef what);
/// `item` has rows.
llvm::LogicalResult requireRows(mlir::Operation *op, mlir::Value item, llvm::StringRef what);
/// The rows of `panel` are those of `item`.
llvm::LogicalResult requirePanelRows(mlir::Operation *op, mlir::Value item, PanelType panel);

/// Cells of a visit are one column of truth values, of the tile's rows or of one for all of them.
llvm::LogicalResult requireCells(mlir::Operation *op, FragmentType type);

} // namespace skim::tile

#endif // SKIM_DIALECT_TILE_PROGRAMOPS_H
