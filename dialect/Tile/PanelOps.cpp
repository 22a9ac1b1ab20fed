// Loops over parts of an item, and constraints of the operations that make panels.
#include "dialect/Tile/ProgramOps.h"
#include "dialect/Tile/Syntax.h"

using namespace mlir;
using namespace skim::tile;

/// `%sub of %item`
static ParseResult parsePartOfItem(OpAsmParser &parser, OpAsmParser::Argument &part,
                                   OperationState &result) {
  OpAsmParser::UnresolvedOperand item;
  part.type = ItemType::get(parser.getContext());
  return failure(parser.parseArgument(part) || parser.parseKeyword("of") ||
                 parser.parseOperand(item) ||
                 parser.resolveOperand(item, part.type, result.operands));
}

static void printPartOfItem(OpAsmPrinter &printer, BlockArgument part, Value item) {
  printer << ' ';
  printer.printRegionArgument(part, {}, /*omitType=*/true);
  printer << " of " << item;
}

static LogicalResult verifyPartOfItem(Operation *op, Region &body) {
  Block &block = body.front();
  if (block.getNumArguments() == 1 && isa<ItemType>(block.getArgument(0).getType()))
    return success();
  return op->emitOpError() << "expected a body with one argument of type '!tile.item'";
}

/// `%sub of %item`, and which heads where it is not the group.
static ParseResult parseHeadsOfItem(OpAsmParser &parser, OpAsmParser::Argument &head,
                                    OperationState &result) {
  if (parsePartOfItem(parser, head, result))
    return failure();
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword, {"group", "all", "kv_heads"})))
    result.addAttribute("heads",
                        HeadGroupAttr::get(parser.getContext(), *symbolizeHeadGroup(keyword)));
  return success();
}

static void printHeadsOfItem(OpAsmPrinter &printer, BlockArgument head, Value item,
                             HeadGroup heads) {
  printPartOfItem(printer, head, item);
  if (heads != HeadGroup::Group)
    printer << ' ' << stringifyHeadGroup(heads);
}

ParseResult ForEachHeadOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument head;
  Region *body = result.addRegion();
  return failure(parseHeadsOfItem(parser, head, result) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*body, head));
}

void ForEachHeadOp::print(OpAsmPrinter &printer) {
  printHeadsOfItem(printer, getInner(), getItem(), getHeads());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"heads"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ForEachHeadOp::verifyRegions() {
  // for_each_head_c1
  return verifyPartOfItem(*this, getBody());
}

ParseResult StackPanelsOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument head;
  Region *body = result.addRegion();
  return failure(parseHeadsOfItem(parser, head, result) ||
                 parser.parseColonTypeList(result.types) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*body, head));
}

void StackPanelsOp::print(OpAsmPrinter &printer) {
  printHeadsOfItem(printer, getInner(), getItem(), getHeads());
  printer << " : " << getPanels().getTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"heads"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult StackPanelsOp::verify() {
  // stack_panels_c3
  size_t buffers = getScratch().value_or(ArrayRef<int64_t>()).size();
  if (!getScratch() || buffers == getNumResults())
    return success();
  return emitOpError() << "expected a buffer for each of " << getNumResults() << " stacks but got "
                       << buffers;
}

LogicalResult StackPanelsOp::verifyRegions() {
  // stack_panels_c1
  if (failed(verifyPartOfItem(*this, getBody())))
    return failure();
  // stack_panels_c2
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (yield && yield.getOperandTypes() == getPanels().getTypes())
    return success();
  return emitOpError() << "expected its body to yield (" << getPanels().getTypes() << ")";
}

ParseResult ForEachRowTileOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument tile;
  OpAsmParser::UnresolvedOperand first;
  int64_t rows = 0;
  Region *body = result.addRegion();
  if (parsePartOfItem(parser, tile, result) || parser.parseKeyword("rows") ||
      parser.parseInteger(rows))
    return failure();
  result.addAttribute(getRowsAttrName(result.name), parser.getBuilder().getI64IntegerAttr(rows));
  if (succeeded(parser.parseOptionalKeyword("from")) &&
      (parser.parseOperand(first) ||
       parser.resolveOperand(first, IndexType::get(parser.getContext()), result.operands)))
    return failure();
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*body, tile));
}

void ForEachRowTileOp::print(OpAsmPrinter &printer) {
  printPartOfItem(printer, getInner(), getItem());
  printer << " rows " << getRows();
  if (Value first = getFirst())
    printer << " from " << first;
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getRowsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ForEachRowTileOp::verify() {
  // for_each_row_tile_c2
  std::optional<ItemShape> shape = itemShape(getItem());
  if (shape && shape->rows % static_cast<int64_t>(getRows()) != 0)
    return emitOpError() << "expected 'rows' to divide the " << shape->rows
                         << " rows of the item but got " << getRows();
  return success();
}

LogicalResult ForEachRowTileOp::verifyRegions() {
  // for_each_row_tile_c1
  return verifyPartOfItem(*this, getBody());
}

LogicalResult skim::tile::requirePanelRows(Operation *op, Value item, PanelType panel) {
  // panel_c3
  if (failed(requireRows(op, item, "a panel")))
    return failure();
  std::optional<ItemShape> shape = itemShape(item);
  if (!shape || shape->rows == panel.getRows() * panel.getQuery())
    return success();
  return op->emitOpError() << "expected a panel of the item's " << shape->rows << " rows but got "
                           << panel;
}

static LogicalResult requireElement(Operation *op, PanelType panel, bool holds, StringRef what) {
  if (holds)
    return success();
  return op->emitOpError() << "expected a panel with " << what << " but got " << panel;
}

LogicalResult LoadPanelOp::verify() {
  PanelType panel = getPanel().getType();
  // load_panel_c1
  if (failed(requireElement(*this, panel,
                            panel.getElements() > 0 && panel.getQuery() == 1 &&
                                panel.getElement().isF32(),
                            "element columns of f32 and rows of one position")))
    return failure();
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (program && panel.getElements() != program.getProblem().getHeadDim())
    return emitOpError() << "expected " << program.getProblem().getHeadDim() << " elements but got "
                         << panel.getElements();
  // load_panel_c2
  if (failed(requireHead(*this, getItem(), HeadKind::Query, "loading queries")))
    return failure();
  return requirePanelRows(*this, getItem(), panel);
}

ParseResult skim::tile::parseVectorSource(OpAsmParser &parser, VectorSourceAttr &source,
                                          IntegerAttr &buffer) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<VectorSource> kind = symbolizeVectorSource(name);
  if (!kind)
    return parser.emitError(loc) << "expected keys, values or buffer but got '" << name << "'";
  source = VectorSourceAttr::get(parser.getContext(), *kind);
  int64_t slot = 0;
  if (*kind != VectorSource::Buffer)
    return success();
  if (parser.parseInteger(slot))
    return failure();
  buffer = parser.getBuilder().getI64IntegerAttr(slot);
  return success();
}

void skim::tile::printVectorSource(OpAsmPrinter &printer, DotPanelOp, VectorSourceAttr source,
                                   IntegerAttr buffer) {
  printer << stringifyVectorSource(source.getValue());
  if (buffer)
    printer << ' ' << buffer.getInt();
}

LogicalResult DotPanelOp::verify() {
  PanelType rows = getRows().getType(), panel = getPanel().getType();
  // dot_panel_c1
  if (failed(requireElement(*this, rows, rows.getElements() > 0 && rows.getElement().isF32(),
                            "element columns of f32")) ||
      failed(requireElement(*this, panel, panel.getKey() > 0 && panel.getElement().isF32(),
                            "key columns of f32")))
    return failure();
  if (rows.getRows() != panel.getRows() || rows.getQuery() != panel.getQuery())
    return emitOpError() << "expected panels of the same rows but got " << rows << " and " << panel;
  bool ofTokens = getSource() != VectorSource::Buffer;
  // dot_panel_c2
  if (ofTokens && (panel.getKey() != 1 || getHead() != HeadKind::Kv))
    return emitOpError() << "expected 'head = kv' and one key a column with tokens but got 'head = "
                         << stringifyHeadKind(getHead()) << "' and " << panel;
  // dot_panel_c3
  if (getSource() == VectorSource::Queries || ofTokens == getBuffer().has_value())
    return emitOpError() << "expected keys, values or a buffer with its slot";
  // dot_panel_c4
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (program && ofTokens) {
    ProblemAttr problem = program.getProblem();
    int64_t elements =
        getSource() == VectorSource::Keys ? problem.getHeadDim() : problem.getValueDim();
    if (rows.getElements() != elements)
      return emitOpError() << "expected rows of " << elements << " elements but got " << rows;
  }
  // dot_panel_c5
  if (failed(requireHead(*this, getItem(), getHead(), "a source with heads")))
    return failure();
  return requirePanelRows(*this, getItem(), panel);
}

LogicalResult SmoothPanelOp::verify() {
  // smooth_panel_c1
  PanelType panel = getPanel().getType();
  if (failed(requireElement(*this, panel, panel.getKey() > 0 && panel.getElement().isF32(),
                            "key columns of f32")))
    return failure();
  return requirePanelRows(*this, getItem(), panel);
}

LogicalResult SelectPanelOp::verify() {
  // select_panel_c3
  PanelType panel = getPanel().getType();
  if (failed(requireElement(*this, panel, panel.getKey() > 0 && panel.getElement().isInteger(1),
                            "key columns of i1")))
    return failure();
  return requirePanelRows(*this, getItem(), panel);
}

LogicalResult SelectPanelOp::verifyRegions() {
  // select_panel_c1, select_panel_c2
  Type index = IndexType::get(getContext()), f32 = Float32Type::get(getContext());
  return verifyScalarRegion(getBody(), {index, index}, f32);
}

LogicalResult PanelValueOp::verify() {
  // panel_value_c1
  if (getValue().getType() != getPanel().getType().getElement())
    return emitOpError() << "expected a result of " << getPanel().getType().getElement()
                         << " but got " << getValue().getType();
  // panel_value_c2; of what panels became, nothing is known.
  Operation *maker = getPanel().getDefiningOp();
  if (isa_and_nonnull<UnrealizedConversionCastOp>(maker) ||
      isa_and_nonnull<StackPanelsOp>(maker) == static_cast<bool>(getItem()))
    return success();
  return emitOpError() << (getItem() ? "expected a stack of panels where it names an item"
                                     : "expected the item of a head, of which it reads a stack");
}

LogicalResult LoadElementOp::verify() {
  // load_element_c1
  if (getSource() == VectorSource::Buffer)
    return emitOpError() << "expected queries, keys or values but got buffer";
  HeadKind head = getSource() == VectorSource::Queries ? HeadKind::Query : HeadKind::Kv;
  return requireHead(*this, getItem(), head, stringifyVectorSource(getSource()));
}
