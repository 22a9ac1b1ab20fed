// Attributes, types and operations of the `tile` dialect.
#ifndef SKIM_DIALECT_TILE_TILEOPS_H
#define SKIM_DIALECT_TILE_TILEOPS_H

#include "dialect/Tile/TileDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/Tile/TileEnums.h.inc"

namespace skim::tile {

/// A literal that an interval needs: somewhere on the tile it is true, or false when negated.
struct LiteralUse {
  unsigned id;
  bool negated;

  bool operator==(const LiteralUse &) const = default;
};
// LLVM's hashing finds it by this name.
llvm::hash_code hash_value(const LiteralUse &use); // NOLINT(readability-identifier-naming)

} // namespace skim::tile

#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.h.inc"

namespace skim::tile {

/// Whether `op` may stand in a scalar region.
bool isScalarOperation(mlir::Operation &op);

/// Checks a scalar region: its arguments, that it holds scalar operations only, and the
/// types that it yields. Errors are reported on the region's operation.
llvm::LogicalResult verifyScalarRegion(mlir::Region &region, mlir::TypeRange arguments,
                                       mlir::TypeRange yielded);

} // namespace skim::tile

#endif // SKIM_DIALECT_TILE_TILEOPS_H
