// Walking rows of keys and values through the block table.
#ifndef SKIM_CODEGEN_CPU_ROWACCESS_H
#define SKIM_CODEGEN_CPU_ROWACCESS_H

#include "codegen/cpu/Code.h"
#include "codegen/cpu/Target.h"

namespace skim::cpu {

/// Calls `body(j, address)` for tokens first + j, 0 <= j < count, of the item's request and KV
/// head, all of which exist. Runs of tokens that lie in one page are one loop.
void forEachTokenRow(Code &code, tile::ItemRecordOp item, tile::Operand operand, mlir::Value first,
                     mlir::Value count,
                     llvm::function_ref<void(mlir::Value j, mlir::Value address)> body);

/// The address of a token's key or value of the item's KV head; the token exists.
mlir::Value tokenAddress(Code &code, tile::ItemRecordOp item, tile::Operand operand,
                         mlir::Value token);
/// The address of the query of the item's head at an existing position.
mlir::Value queryAddress(Code &code, tile::ItemRecordOp item, mlir::Value position);

/// Copies one row of `columns` elements to tile[row] as f32.
void copyRow(Code &code, const Target &target, mlir::Type element, mlir::Value address,
             mlir::Value tile, mlir::Value row, int64_t columns);

/// Calls `body(column, lanes)` for whole vectors of columns, then `body(column, 1)` for the columns
/// that are left.
void forEachColumn(Code &code, int64_t columns, unsigned lanes,
                   llvm::function_ref<void(mlir::Value column, unsigned lanes)> body);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_ROWACCESS_H
