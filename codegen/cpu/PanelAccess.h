// Panels in the scratch of a worker: rows side by side, column after column.
#ifndef SKIM_CODEGEN_CPU_PANELACCESS_H
#define SKIM_CODEGEN_CPU_PANELACCESS_H

#include "codegen/cpu/RegionEvaluator.h"

namespace skim::cpu {

/// How many columns a panel has for the item's request.
mlir::Value columnsOf(Code &code, tile::ItemRecordOp item, tile::PanelType type);
/// The row cells [begin, end) of the panel that have existing positions, counted within the tile.
mlir::Value rowCellsBegin(Code &code, tile::ItemRecordOp item, tile::PanelType type);
mlir::Value rowCellsEnd(Code &code, tile::ItemRecordOp item, tile::PanelType type);

/// The slice of a buffer of workers that belongs to the worker that runs the item. Fails with an
/// error on the user where it names no buffer, and where the function is not a kernel.
llvm::FailureOr<mlir::Value> scratchOf(mlir::Operation *user, tile::ItemRecordOp item,
                                       std::optional<uint64_t> slot, int64_t elementBytes);

/// The address of a panel's first cell, from the value that stands for it.
mlir::Value panelData(Code &code, mlir::Value panel);
/// Replaces the result of the operation that made a panel by the panel at `data`.
void replacePanel(Code &code, mlir::Value panel, mlir::Value data);
/// The address of a cell, both numbers scalars.
mlir::Value panelCell(Code &code, mlir::Value data, tile::PanelType type, mlir::Value column,
                      mlir::Value row);
/// How many bytes a panel takes for the item's request, and a cell of it.
mlir::Value panelBytes(Code &code, tile::ItemRecordOp item, tile::PanelType type);
int64_t panelElementBytes(tile::PanelType type);
/// The panel that belongs to the item's head in the stack at `data`.
mlir::Value panelOfHead(Code &code, tile::ItemRecordOp item, tile::PanelType type,
                        mlir::Value data);
/// The type of a cell in memory: bytes for i1.
mlir::Type panelElementInMemory(Code &code, tile::PanelType type);

/// The value at (query, key), scalars or vectors. `rows` tells which vector holds consecutive
/// positions.
mlir::Value loadPanelValue(Code &code, tile::PanelValueOp op, mlir::Value data, mlir::Value query,
                           mlir::Value key, const RowLanes &rows, unsigned lanes);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_PANELACCESS_H
