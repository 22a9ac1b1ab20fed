// Constraints of covers, lists, selections, positions and pools.
#include "dialect/Tile/ProgramOps.h"
#include "dialect/Tile/Syntax.h"

using namespace mlir;
using namespace skim::tile;

/// Items run along queries whose tile height is the query cell, or along nothing where there
/// is no query cell.
static LogicalResult requireRowOfCells(Operation *op, int64_t queryCell) {
  if (queryCell == 0)
    return requireItems(op, ItemAxis::None, "a row without a query axis");
  if (failed(requireItems(op, ItemAxis::Queries, "a row of a query cell")))
    return failure();
  auto program = op->getParentOfType<ProgramOp>();
  if (program && program.getSchedule().getRows() != queryCell)
    return op->emitOpError() << "expected a schedule with 'rows = " << queryCell << "' but got "
                             << program.getSchedule().getRows();
  return success();
}

ParseResult skim::tile::parseOptionalCells(OpAsmParser &parser, IntegerAttr &queryCell,
                                           IntegerAttr &keyCell) {
  int64_t query = 1, key = 1;
  if (succeeded(parser.parseOptionalKeyword("cells")) &&
      (parser.parseLParen() || parser.parseInteger(query) || parser.parseComma() ||
       parser.parseInteger(key) || parser.parseRParen()))
    return failure();
  queryCell = parser.getBuilder().getI64IntegerAttr(query);
  keyCell = parser.getBuilder().getI64IntegerAttr(key);
  return success();
}

void skim::tile::printOptionalCells(OpAsmPrinter &printer, AnyOp, IntegerAttr queryCell,
                                    IntegerAttr keyCell) {
  if (queryCell.getInt() != 1 || keyCell.getInt() != 1)
    printer << "cells (" << queryCell.getInt() << ", " << keyCell.getInt() << ")";
}

LogicalResult AnyOp::verify() {
  // any_c3
  return requireCells(*this, getCells().getType());
}

LogicalResult AnyOp::verifyRegions() {
  // any_c1, any_c2
  Type index = IndexType::get(getContext()), i1 = IntegerType::get(getContext(), 1);
  return verifyScalarRegion(getBody(), {index, index}, i1);
}

LogicalResult ScatterListOp::verify() {
  // scatter_list_c1
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (program && program.getItems().getHead() != getHead())
    return emitOpError() << "expected work items with 'head = " << stringifyHeadKind(getHead())
                         << "' but got '" << stringifyHeadKind(program.getItems().getHead()) << "'";
  // scatter_list_c2
  return requireRowOfCells(*this, getQueryCell());
}

LogicalResult SelectOp::verify() {
  // select_c3
  if (getDiagonal() && getKeyCell() != 1)
    return emitOpError() << "expected cells of one distance with 'diagonal' but got ("
                         << getQueryCell() << ", " << getKeyCell() << ")";
  if (getNoncausal() && !getDiagonal())
    return emitOpError() << "expected 'noncausal' with 'diagonal' alone";
  // select_c4
  return requireRowOfCells(*this, getQueryCell());
}

LogicalResult SelectOp::verifyRegions() {
  // select_c1, select_c2
  Type index = IndexType::get(getContext());
  SmallVector<Type, 2> yielded = {Float32Type::get(getContext()),
                                  IntegerType::get(getContext(), 1)};
  return verifyScalarRegion(getBody(), {index, index}, yielded);
}

LogicalResult StorePositionsOp::verify() {
  // store_positions_c3
  return requireItems(*this, ItemAxis::None, "a row of positions");
}

LogicalResult StorePositionsOp::verifyRegions() {
  // store_positions_c1, store_positions_c2
  Type index = IndexType::get(getContext()), i1 = IntegerType::get(getContext(), 1);
  return verifyScalarRegion(getBody(), {index, index}, i1);
}

LogicalResult PoolOp::verify() {
  // pool_c1
  if (failed(requireItems(*this, ItemAxis::Keys, "pooling")))
    return failure();
  return requireItems(*this, HeadKind::Kv, "pooling");
}
