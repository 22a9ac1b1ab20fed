// Elements of the vectors of queries, keys and values.
#ifndef SKIM_CODEGEN_CPU_ELEMENTACCESS_H
#define SKIM_CODEGEN_CPU_ELEMENTACCESS_H

#include "codegen/cpu/Code.h"
#include "codegen/cpu/Target.h"

namespace skim::cpu {

/// The address of the vector at an existing position, of the item's head.
mlir::Value vectorAddress(Code &code, tile::ItemRecordOp item, tile::VectorSource source,
                          mlir::Value position);

/// `lanes` elements from `element` on of the vector at `address`, as f32; one lane gives a scalar.
mlir::Value loadVectorElements(Code &code, const Target &target, tile::ItemRecordOp item,
                               mlir::Value address, mlir::Value element, unsigned lanes);

/// One element a lane, at vectors of positions and elements.
mlir::Value loadElementsByLane(Code &code, const Target &target, tile::ItemRecordOp item,
                               tile::VectorSource source, mlir::Value positions,
                               mlir::Value elements, unsigned lanes);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_ELEMENTACCESS_H
