#include "dialect/Skim/SkimTypes.h"

#include "dialect/Skim/SkimDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace skim::ir;

#define GET_TYPEDEF_CLASSES
#include "dialect/Skim/SkimTypes.cpp.inc"

void SkimDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Skim/SkimTypes.cpp.inc"
      >();
}

/// An optional `/ block` after `q` or `k`.
static ParseResult parseBlock(AsmParser &parser, int64_t &block) {
  block = 1;
  if (failed(parser.parseOptionalSlash()))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(block))
    return failure();
  if (block < 1)
    return parser.emitError(loc, "expected a positive block size but got ") << block;
  return success();
}

static ParseResult parseAxis(AsmParser &parser, Axes &axes) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  // Axes are written once each, in the order head, query, key or distance.
  auto misplaced = [&](bool isMisplaced) -> ParseResult {
    if (isMisplaced)
      return parser.emitError(loc, "axis '")
             << name << "' is repeated or out of order: expected head, query, key";
    return success();
  };
  bool afterKey = axes.key != 0 || axes.diagonal;
  if (name == "head" || name == "kv_head") {
    if (misplaced(axes.head != HeadAxis::None || axes.query != 0 || afterKey))
      return failure();
    axes.head = name == "head" ? HeadAxis::Head : HeadAxis::KvHead;
    return success();
  }
  if (name == "k")
    return failure(misplaced(afterKey) || parseBlock(parser, axes.key));
  if (name != "q")
    return parser.emitError(loc,
                            "expected an axis ('head', 'kv_head', 'q', 'k' or 'q - k') but got '")
           << name << "'";
  if (succeeded(parser.parseOptionalMinus())) {
    axes.diagonal = true;
    return failure(parser.parseKeyword("k") || misplaced(afterKey));
  }
  return failure(misplaced(axes.query != 0 || afterKey) || parseBlock(parser, axes.query));
}

static ParseResult parseAxisList(AsmParser &parser, Axes &axes) {
  do {
    if (parseAxis(parser, axes))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

static LogicalResult verifyAxes(function_ref<InFlightDiagnostic()> emitError, const Axes &axes) {
  if (axes.query < 0 || axes.key < 0)
    return emitError() << "expected block sizes of at least 1";
  if (axes.diagonal && axes.key != 0)
    return emitError() << "axis 'q - k' cannot stand beside '" << keyAxisName(axes.key)
                       << "': at token granularity write 'q, k'";
  if (axes.diagonal && axes.query == 1)
    return emitError() << "axis 'q - k' cannot stand beside 'q': write 'q, k'";
  return success();
}

Type MapType::parse(AsmParser &parser) {
  Axes axes;
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalColon()) && (parseAxisList(parser, axes) || parser.parseColon()))
    return {};
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return {};
  std::optional<Element> element = parseElement(name);
  if (!element) {
    parser.emitError(loc, "expected an element type ('vec', 'f32', 'index' or 'bool') but got '")
        << name << "'";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<MapType>(parser.getContext(), axes, *element);
}

void MapType::print(AsmPrinter &printer) const {
  std::string axes = toString(getAxes());
  printer << '<' << axes << (axes.empty() ? ": " : " : ") << toString(getElement()) << '>';
}

LogicalResult MapType::verify(function_ref<InFlightDiagnostic()> emitError, Axes axes, Element) {
  return verifyAxes(emitError, axes);
}

Type SetType::parse(AsmParser &parser) {
  Axes axes;
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalGreater()) &&
      (parseAxisList(parser, axes) || parser.parseGreater()))
    return {};
  return parser.getChecked<SetType>(parser.getContext(), axes);
}

void SetType::print(AsmPrinter &printer) const { printer << '<' << toString(getAxes()) << '>'; }

LogicalResult SetType::verify(function_ref<InFlightDiagnostic()> emitError, Axes axes) {
  return verifyAxes(emitError, axes);
}
