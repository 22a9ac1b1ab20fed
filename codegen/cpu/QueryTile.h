// The queries of an item's rows, rows side by side.
#ifndef SKIM_CODEGEN_CPU_QUERYTILE_H
#define SKIM_CODEGEN_CPU_QUERYTILE_H

#include "codegen/cpu/Code.h"
#include "codegen/cpu/Target.h"

namespace skim::cpu {

/// Calls `store(values, element, row)` with f32 values, one or a vector of consecutive rows, so
/// that every element of rows [begin, end) of the item's tile is stored once: 0 where a row does
/// not exist. Both ends are multiples of the target's lanes.
void transposeQueries(
    Code &code, const Target &target, tile::ItemRecordOp item, mlir::Value begin, mlir::Value end,
    llvm::function_ref<void(mlir::Value values, mlir::Value element, mlir::Value row)> store);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_QUERYTILE_H
