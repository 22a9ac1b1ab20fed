// Parsing, printing and constraints of the types.
#include "dialect/Tile/TileOps.h"

using namespace mlir;
using namespace skim::tile;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static LogicalResult verifyShape(EmitError emitError, int64_t rows, int64_t columns) {
  if (rows > 0 && columns > 0)
    return success();
  return emitError() << "expected a positive shape but got " << rows << "x" << columns;
}

static LogicalResult verifyElement(EmitError emitError, Type element) {
  if (element.isIntOrFloat())
    return success();
  return emitError() << "expected an integer or float element but got " << element;
}

/// Reads `64x128x`, or `64x128` where no element type follows.
static ParseResult parseShape(AsmParser &parser, SmallVectorImpl<int64_t> &shape,
                              bool elementFollows) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false, elementFollows))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(loc) << "expected two dimensions but got " << shape.size();
  return success();
}

LogicalResult SharedType::verify(EmitError emitError, int64_t rows, int64_t columns, Type element,
                                 int64_t swizzle, int64_t stages) {
  if (failed(verifyShape(emitError, rows, columns)) || failed(verifyElement(emitError, element)))
    return failure();
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expected a swizzle of 0, 32, 64 or 128 bytes but got " << swizzle;
  if (stages < 1)
    return emitError() << "expected at least one stage but got " << stages;
  return success();
}

Type SharedType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t, 2> shape;
  Type element;
  int64_t swizzle = 0, stages = 1;
  if (parser.parseLess() || parseShape(parser, shape, /*elementFollows=*/true) ||
      parser.parseType(element))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc nameLoc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return {};
    if (name != "swizzle" && name != "stages") {
      parser.emitError(nameLoc) << "expected swizzle or stages but got '" << name << "'";
      return {};
    }
    if (parser.parseInteger(name == "swizzle" ? swizzle : stages))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<SharedType>(loc, parser.getContext(), shape[0], shape[1], element,
                                       swizzle, stages);
}

void SharedType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << "x" << getElement();
  if (getSwizzle() != 0)
    printer << ", swizzle = " << getSwizzle();
  if (getStages() != 1)
    printer << ", stages = " << getStages();
  printer << ">";
}

LogicalResult FragmentType::verify(EmitError emitError, int64_t rows, int64_t columns,
                                   Type element) {
  return success(succeeded(verifyShape(emitError, rows, columns)) &&
                 succeeded(verifyElement(emitError, element)));
}

Type FragmentType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t, 2> shape;
  Type element;
  if (parser.parseLess() || parseShape(parser, shape, /*elementFollows=*/true) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  return parser.getChecked<FragmentType>(loc, parser.getContext(), shape[0], shape[1], element);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << "x" << getElement() << ">";
}

LogicalResult StateType::verify(EmitError emitError, int64_t rows, int64_t columns) {
  return verifyShape(emitError, rows, columns);
}

Type StateType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t, 2> shape;
  if (parser.parseLess() || parseShape(parser, shape, /*elementFollows=*/false) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<StateType>(loc, parser.getContext(), shape[0], shape[1]);
}

void StateType::print(AsmPrinter &printer) const {
  printer << "<" << getRows() << "x" << getColumns() << ">";
}

LogicalResult PanelType::verify(EmitError emitError, int64_t rows, int64_t query, int64_t key,
                                int64_t elements, Type element) {
  // panel_c1
  if (rows <= 0 || query <= 0)
    return emitError() << "expected positive 'rows' and 'query' but got " << rows << " and "
                       << query;
  if (key < 0 || elements < 0 || (key > 0 && elements > 0))
    return emitError() << "expected columns of 'key' or of 'elements' but got " << key << " and "
                       << elements;
  // panel_c2
  if (!element.isF32() && !element.isF64() && !element.isInteger(1))
    return emitError() << "expected an element of f32, f64 or i1 but got " << element;
  return success();
}

Type PanelType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t rows = 0, query = 0, key = 0, elements = 0;
  Type element;
  if (parser.parseLess() || parser.parseKeyword("rows") || parser.parseEqual() ||
      parser.parseInteger(rows) || parser.parseComma() || parser.parseKeyword("query") ||
      parser.parseEqual() || parser.parseInteger(query) || parser.parseComma())
    return {};
  for (auto [name, value] : {std::pair(StringRef("key"), &key), {"elements", &elements}})
    if (succeeded(parser.parseOptionalKeyword(name)) &&
        (parser.parseEqual() || parser.parseInteger(*value) || parser.parseComma()))
      return {};
  if (parser.parseType(element) || parser.parseGreater())
    return {};
  return parser.getChecked<PanelType>(loc, parser.getContext(), rows, query, key, elements,
                                      element);
}

void PanelType::print(AsmPrinter &printer) const {
  printer << "<rows = " << getRows() << ", query = " << getQuery();
  if (getKey() != 0)
    printer << ", key = " << getKey();
  if (getElements() != 0)
    printer << ", elements = " << getElements();
  printer << ", " << getElement() << ">";
}
