// Reading and addressing cells of inputs and workspace buffers.
#ifndef SKIM_CODEGEN_CPU_CELLACCESS_H
#define SKIM_CODEGEN_CPU_CELLACCESS_H

#include "codegen/cpu/KernelArguments.h"

namespace skim::cpu {

/// The value of a cell at (query, key), both scalars or both vectors of index.
llvm::FailureOr<mlir::Value> loadCell(Code &code, tile::LoadCellOp op, mlir::Value query,
                                      mlir::Value key);

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
