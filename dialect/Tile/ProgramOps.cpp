// Constraints of programs, work items and uniform values.
#include "dialect/Tile/ProgramOps.h"

using namespace mlir;
using namespace skim::tile;

LogicalResult ProgramOp::verifyRegions() {
  // program_c1
  Block &block = getBody().front();
  if (!llvm::hasSingleElement(block) || !isa<ForEachWorkItemOp>(block.front()))
    return emitOpError() << "expected its body to be one 'tile.for_each_work_item'";
  return success();
}

ParseResult ForEachWorkItemOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument item;
  item.type = ItemType::get(parser.getContext());
  Region *body = result.addRegion();
  return failure(parser.parseArgument(item) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*body, item));
}

void ForEachWorkItemOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printRegionArgument(getItem(), {}, /*omitType=*/true);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ForEachWorkItemOp::verifyRegions() {
  // for_each_work_item_c1
  Block &block = getBody().front();
  if (block.getNumArguments() != 1 || !isa<ItemType>(block.getArgument(0).getType()))
    return emitOpError() << "expected a body with one argument of type '!tile.item'";
  return success();
}

LogicalResult skim::tile::requireItems(Operation *op, HeadKind atLeast, StringRef what) {
  auto program = op->getParentOfType<ProgramOp>();
  if (!program || program.getItems().getHead() >= atLeast)
    return success();
  return op->emitOpError() << what << " needs work items by "
                           << (atLeast == HeadKind::Query ? "query head" : "KV head")
                           << " but the program has 'head = "
                           << stringifyHeadKind(program.getItems().getHead()) << "'";
}

LogicalResult skim::tile::requireItems(Operation *op, ItemAxis axis, StringRef what) {
  auto program = op->getParentOfType<ProgramOp>();
  if (!program || program.getItems().getAxis() == axis)
    return success();
  return op->emitOpError() << what << " needs work items with 'axis = " << stringifyItemAxis(axis)
                           << "' but the program has 'axis = "
                           << stringifyItemAxis(program.getItems().getAxis()) << "'";
}

LogicalResult UniformOp::verify() {
  switch (getKind()) {
  // uniform_c1
  case UniformKind::Head:
    return requireItems(*this, HeadKind::Query, "'head'");
  case UniformKind::KvHead:
    return requireItems(*this, HeadKind::Kv, "'kv_head'");
  // uniform_c2
  case UniformKind::FirstRow:
  case UniformKind::EndRow:
    return requireItems(*this, ItemAxis::Queries, stringifyUniformKind(getKind()));
  default:
    return success();
  }
}

LogicalResult ParameterOp::verify() {
  // parameter_c1
  if (getPerHead())
    return requireItems(*this, HeadKind::Query, "'per_head'");
  return success();
}
