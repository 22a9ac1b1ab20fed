// Regions over one position: which operations they may hold.
#include "dialect/Tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace skim::tile;

static bool isScalarType(Type type) {
  return type.isIndex() || type.isInteger(1) || type.isInteger(32) || type.isInteger(64) ||
         type.isF32() || type.isF64();
}

bool skim::tile::isScalarOperation(Operation &op) {
  if (isa<UniformOp, ParameterOp, SoftmaxScaleOp, LoadCellOp, LoadElementOp, ContainsOp,
          LiteralValueOp, PanelValueOp, ReduceElementsOp, ReducePositionsOp>(op))
    return true;
  StringRef dialect = op.getName().getDialectNamespace();
  return (dialect == "arith" || dialect == "math") && op.getNumRegions() == 0 &&
         op.getNumResults() == 1 && llvm::all_of(op.getOperandTypes(), isScalarType) &&
         llvm::all_of(op.getResultTypes(), isScalarType);
}

LogicalResult skim::tile::verifyScalarRegion(Region &region, TypeRange arguments,
                                             TypeRange yielded) {
  Operation *owner = region.getParentOp();
  Block &block = region.front();
  if (block.getArgumentTypes() != arguments)
    return owner->emitOpError() << "expected a region with arguments (" << arguments
                                << ") but got (" << block.getArgumentTypes() << ")";
  for (Operation &op : block.without_terminator())
    if (!isScalarOperation(op))
      return op.emitOpError() << "cannot stand in the scalar region of '" << owner->getName()
                              << "'";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getOperandTypes() != yielded)
    return owner->emitOpError() << "expected its region to yield (" << yielded << ") but got ("
                                << block.getTerminator()->getOperandTypes() << ")";
  return success();
}
