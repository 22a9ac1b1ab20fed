// Constraints of loads and stores.
#include "dialect/Tile/PackedHeads.h"
#include "dialect/Tile/ProgramOps.h"

using namespace mlir;
using namespace skim::tile;

static LogicalResult requireShape(Operation *op, int64_t rows, int64_t columns, int64_t gotRows,
                                  int64_t gotColumns) {
  if (rows == gotRows && columns == gotColumns)
    return success();
  return op->emitOpError() << "expected a tile of " << rows << "x" << columns << " but got "
                           << gotRows << "x" << gotColumns;
}

static int64_t rowsOfTile(ProgramOp program) {
  return program.getSchedule().getRows() *
         headsOfTile(program.getProblem(), program.getItems().getHead());
}

LogicalResult LoadQueriesOp::verify() {
  // load_queries_c1
  if (failed(requireItems(*this, ItemAxis::Queries, "loading queries")) ||
      failed(requireItems(*this, HeadKind::Kv, "loading queries")))
    return failure();
  // load_queries_c2
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (!program)
    return success();
  return requireShape(*this, rowsOfTile(program), program.getProblem().getHeadDim(),
                      getQueries().getType().getRows(), getQueries().getType().getColumns());
}

LogicalResult IssueLoadOp::verify() {
  // issue_load_c1
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (!program)
    return success();
  ProblemAttr problem = program.getProblem();
  int64_t columns = getOperand() == Operand::Keys ? problem.getHeadDim() : problem.getValueDim();
  return requireShape(*this, program.getSchedule().getKeys(), columns,
                      getTile().getType().getRows(), getTile().getType().getColumns());
}

LogicalResult LoadCellOp::verify() {
  // load_cell_c2
  if (getDiagonal() && getKeyCell() != 1)
    return emitOpError() << "expected cells of one key with 'diagonal' but got (" << getQueryCell()
                         << ", " << getKeyCell() << ")";
  if (getNoncausal() && !getDiagonal())
    return emitOpError() << "expected 'noncausal' with 'diagonal' alone";
  // load_cell_c3
  if (getValue().getType().isF64() && getSpace() != Space::Buffer)
    return emitOpError() << "expected an f64 to come from a buffer";
  if (getElement() && !getValue().getType().isF32())
    return emitOpError() << "expected an element of f32 but got " << getValue().getType();
  // load_cell_c1
  return requireHead(*this, getItem(), getHead(), "an array with heads");
}

LogicalResult StoreCellOp::verify() {
  // store_cell_c1
  if (failed(requireItems(*this, ItemAxis::Queries, "storing cells")))
    return failure();
  // store_cell_c2
  return requireCells(*this, getCells().getType());
}

LogicalResult FinishOp::verify() {
  // finish_c2
  if (failed(requireItems(*this, ItemAxis::Queries, "storing output")) ||
      failed(requireItems(*this, HeadKind::Kv, "storing output")))
    return failure();
  // finish_c1
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (!program)
    return success();
  return requireShape(*this, rowsOfTile(program), program.getProblem().getValueDim(),
                      getState().getType().getRows(), getState().getType().getColumns());
}
