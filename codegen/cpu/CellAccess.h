// Reading and addressing cells of inputs and workspace buffers.
#ifndef SKIM_CODEGEN_CPU_CELLACCESS_H
#define SKIM_CODEGEN_CPU_CELLACCESS_H

#include "codegen/cpu/KernelArguments.h"

namespace skim::cpu {

/// Where a cell is read: scalars or vectors of index.
struct CellPosition {
  mlir::Value query, key;
  mlir::Value element;     ///< null for cells of one element
  mlir::Value leadElement; ///< where `element` holds consecutive numbers, the first
};
/// The value of a cell of the item's, a vector where one of the positions is.
mlir::Value loadCell(Code &code, tile::LoadCellOp op, tile::ItemRecordOp item, CellPosition at,
                     unsigned lanes);

/// Floor division of a position by a block size, a scalar or a vector; 0 stands for an absent axis.
mlir::Value cellIndex(Code &code, mlir::Value position, int64_t cell);

/// The value in memory as what operations see: bytes as truth, int32 as index.
mlir::Value convertLoaded(Code &code, mlir::Value loaded, mlir::Type element);

/// Loads elements of type `inMemory` from data[indices], a vector of index.
mlir::Value gather(Code &code, mlir::Value data, mlir::Value indices, mlir::Type inMemory);

/// The head along an array's head axis, 0 where it has none.
mlir::Value headOf(Code &code, tile::ItemRecordOp item, tile::HeadKind kind);

/// One row along the key-like axis: the address of its first cell, and the distance of
/// cells in elements.
struct CellRow {
  mlir::Value address;
  mlir::Value stride;
};
/// The row of an array that belongs to the item's request and head, and to cell `queryCell` counted
/// from the array's first (null: the array has no query axis).
CellRow cellRow(Code &code, tile::ItemRecordOp item, tile::Space space, int64_t slot,
                tile::HeadKind head, mlir::Value queryCell, int64_t elementBytes);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_CELLACCESS_H
