// Verifiers and builders of the launch plan.
#include "dialect/Tile/TileOps.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

namespace skim::tile {

PlanInputOp PlanOp::getInput(StringRef name) {
  for (auto input : getBody().getOps<PlanInputOp>())
    if (input.getName() == name)
      return input;
  return {};
}

BufferOp PlanOp::addBuffer(mlir::Location loc, StringRef name, mlir::Type element,
                           int64_t cellElements, mlir::AffineMap extents, bool zeroed,
                           bool perWorker) {
  auto buffers = getBody().getOps<BufferOp>();
  int64_t slot = llvm::range_size(buffers);
  std::string unique = name.str();
  auto isTaken = [&](BufferOp buffer) { return buffer.getName() == unique; };
  for (unsigned number = 1; llvm::any_of(buffers, isTaken); ++number)
    unique = (name + "_" + llvm::Twine(number)).str();
  auto builder = mlir::OpBuilder::atBlockEnd(&getBody().front());
  return BufferOp::create(builder, loc, slot, unique, element, cellElements, extents, zeroed,
                          perWorker);
}

void PlanOp::addLaunch(mlir::Location loc, StringRef program) {
  auto builder = mlir::OpBuilder::atBlockEnd(&getBody().front());
  LaunchOp::create(builder, loc, program);
}

namespace {

/// plan_c2 and plan_c3 for the declarations of one kind.
template <typename OpT> LogicalResult verifyDeclarations(PlanOp plan, StringRef what) {
  int64_t next = 0;
  llvm::StringSet<> names;
  for (auto op : plan.getBody().template getOps<OpT>()) {
    if (int64_t(op.getSlot()) != next++)
      return op.emitOpError("expected slot ") << next - 1 << " but got " << op.getSlot();
    if (!names.insert(op.getName()).second)
      return op.emitOpError("expected one ")
             << what << " '" << op.getName() << "' but got a second";
  }
  return success();
}

} // namespace

LogicalResult PlanOp::verifyRegions() {
  // plan_c1
  for (mlir::Operation &op : getBody().front())
    if (!llvm::isa<PlanParameterOp, PlanInputOp, BufferOp, LaunchOp>(op))
      return op.emitOpError(
          "expected parameters, inputs, buffers and launches alone in a 'tile.plan'");
  if (failed(verifyDeclarations<PlanParameterOp>(*this, "parameter")) ||
      failed(verifyDeclarations<PlanInputOp>(*this, "input")) ||
      failed(verifyDeclarations<BufferOp>(*this, "buffer")))
    return failure();
  return success();
}

LogicalResult PlanParameterOp::verify() {
  // plan_parameter_c2
  if (getType().isInteger(1) && (getLeast() || getMost()))
    return emitOpError("expected no bounds of a bool");
  if (getLeast() && getMost() && *getLeast() > *getMost())
    return emitOpError("expected 'least' up to 'most' but got ")
           << getLeastAttr() << " and " << getMostAttr();
  // plan_parameter_c1
  std::optional<llvm::ArrayRef<double>> values = getDefaultValues();
  if (!values || values->size() == 1)
    return success();
  int64_t heads = llvm::cast<PlanOp>((*this)->getParentOp()).getProblem().getQueryHeads();
  if (getPerHead() && int64_t(values->size()) == heads)
    return success();
  return emitOpError("expected one default value")
         << (getPerHead() ? " or one for each of the " + std::to_string(heads) + " query heads"
                          : "")
         << " but got " << values->size();
}

LogicalResult PlanInputOp::verify() {
  // plan_input_c1
  if (getDiagonal() && getKeyCell() != 1)
    return emitOpError("expected cells of one key with 'diagonal' but got (")
           << getQueryCell() << ", " << getKeyCell() << ")";
  // plan_input_c4
  if ((getElement() == InputElement::Vector) != getElements().has_value())
    return emitOpError(getElements() ? "expected 'elements' with 'vec' alone"
                                     : "expected 'elements' with 'vec'");
  // plan_input_c5
  if (getWeightRows() && (!getElements() || getQueryCell() != 0 || getKeyCell() != 1))
    return emitOpError("expected a 'vec' with cells (0, 1) for 'weight_rows' but got cells (")
           << getQueryCell() << ", " << getKeyCell() << ")";
  if (getElement() != InputElement::ListCounts)
    return success();
  // plan_input_c2
  auto list = llvm::dyn_cast_or_null<PlanInputOp>((*this)->getPrevNode());
  if (!list || list.getElement() != InputElement::List)
    return emitOpError("expected a list in the slot before its counts");
  // plan_input_c3
  if (getHead() != list.getHead() || getQueryCell() != list.getQueryCell() || getKeyCell() != 0)
    return emitOpError("expected the heads of its list and cells (")
           << list.getQueryCell() << ", 0) but got cells (" << getQueryCell() << ", "
           << getKeyCell() << ")";
  return success();
}

LogicalResult BufferOp::verify() {
  // buffer_c1
  mlir::AffineMap extents = getExtents();
  if (extents.getNumDims() != 0 || extents.getNumSymbols() != 3 || extents.getNumResults() != 4)
    return emitOpError("expected extents with 0 dimensions, 3 symbols and 4 results but got ")
           << extents.getNumDims() << ", " << extents.getNumSymbols() << " and "
           << extents.getNumResults();
  if (!getPerWorker())
    return success();
  // buffer_c2
  if (getZeroed())
    return emitOpError("expected 'per_worker' without 'zeroed'");
  if (extents.getResult(0) != mlir::getAffineConstantExpr(1, getContext()))
    return emitOpError("expected a first extent of 1 with 'per_worker' but got ")
           << getExtentsAttr();
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(mlir::SymbolTableCollection &symbols) {
  // launch_c1
  if (!symbols.lookupNearestSymbolFrom<ProgramOp>(getOperation(), getProgramAttr()))
    return emitOpError("expected the name of a 'tile.program' but got '") << getProgram() << "'";
  return success();
}

} // namespace skim::tile
