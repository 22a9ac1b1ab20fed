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

std::optional<ItemShape> skim::tile::itemShape(Value item) {
  auto argument = dyn_cast<BlockArgument>(item);
  if (!argument)
    return std::nullopt;
  Operation *loop = argument.getOwner()->getParentOp();
  auto ofHeads = [](Value outer, HeadGroup heads) {
    std::optional<ItemShape> shape = itemShape(outer);
    if (shape)
      shape->head = heads == HeadGroup::KvHeads ? HeadKind::Kv : HeadKind::Query;
    return shape;
  };
  if (auto heads = dyn_cast_or_null<ForEachHeadOp>(loop))
    return ofHeads(heads.getItem(), heads.getHeads());
  if (auto stack = dyn_cast_or_null<StackPanelsOp>(loop))
    return ofHeads(stack.getItem(), stack.getHeads());
  if (auto reduce = dyn_cast_or_null<ReducePositionsOp>(loop))
    return reduce.getItem() ? ofHeads(reduce.getItem(), *reduce.getHeads()) : std::nullopt;
  if (auto tiles = dyn_cast_or_null<ForEachRowTileOp>(loop)) {
    std::optional<ItemShape> shape = itemShape(tiles.getItem());
    if (shape)
      shape->rows = static_cast<int64_t>(tiles.getRows());
    return shape;
  }
  auto program = loop ? loop->getParentOfType<ProgramOp>() : ProgramOp();
  if (!program)
    return std::nullopt;
  ItemAxis axis = program.getItems().getAxis();
  return ItemShape{program.getItems().getHead(),
                   axis == ItemAxis::Queries ? program.getSchedule().getRows() : 0,
                   axis == ItemAxis::Keys ? program.getSchedule().getKeys() : 0};
}

LogicalResult skim::tile::requireHead(Operation *op, Value item, HeadKind atLeast, StringRef what) {
  std::optional<ItemShape> shape = itemShape(item);
  if (!shape || shape->head >= atLeast)
    return success();
  return op->emitOpError() << what << " needs work items by "
                           << (atLeast == HeadKind::Query ? "query head" : "KV head")
                           << " but the program has 'head = " << stringifyHeadKind(shape->head)
                           << "'";
}

LogicalResult skim::tile::requireRows(Operation *op, Value item, StringRef what) {
  std::optional<ItemShape> shape = itemShape(item);
  if (!shape || shape->rows > 0)
    return success();
  return op->emitOpError() << what << " needs work items with 'axis = queries' but the program has "
                           << "'axis = " << (shape->keys > 0 ? "keys" : "none") << "'";
}

LogicalResult UniformOp::verify() {
  switch (getKind()) {
  // uniform_c1
  case UniformKind::Head:
    return requireHead(*this, getItem(), HeadKind::Query, "'head'");
  case UniformKind::KvHead:
    return requireHead(*this, getItem(), HeadKind::Kv, "'kv_head'");
  // uniform_c2
  case UniformKind::FirstRow:
  case UniformKind::EndRow:
    return requireRows(*this, getItem(), stringifyUniformKind(getKind()));
  default:
    return success();
  }
}

LogicalResult ParameterOp::verify() {
  // parameter_c1
  if (getPerHead())
    return requireHead(*this, getItem(), HeadKind::Query, "'per_head'");
  return success();
}

LogicalResult skim::tile::requireCells(Operation *op, FragmentType type) {
  auto program = op->getParentOfType<ProgramOp>();
  bool rowsFit =
      type.getRows() == 1 || !program || type.getRows() == program.getSchedule().getRows();
  if (type.getColumns() != 1 || !rowsFit || !type.getElement().isInteger(1))
    return op->emitOpError() << "expected one column of i1 with 1 or all rows of the tile but got "
                             << type;
  return success();
}
