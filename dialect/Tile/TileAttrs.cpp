// Parsing, printing and constraints of the attributes.
#include "dialect/Tile/TileOps.h"

#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace skim::tile;

llvm::hash_code skim::tile::hash_value(const LiteralUse &use) {
  return llvm::hash_combine(use.id, use.negated);
}

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static LogicalResult requirePositive(EmitError emitError, StringRef name, int64_t value) {
  if (value > 0)
    return success();
  return emitError() << "expected a positive '" << name << "' but got " << value;
}

LogicalResult ProblemAttr::verify(EmitError emitError, int64_t queryHeads, int64_t kvHeads,
                                  int64_t headDim, int64_t valueDim, Type operand, Type out) {
  // problem_c1
  if (failed(requirePositive(emitError, "query_heads", queryHeads)) ||
      failed(requirePositive(emitError, "kv_heads", kvHeads)) ||
      failed(requirePositive(emitError, "head_dim", headDim)) ||
      failed(requirePositive(emitError, "value_dim", valueDim)))
    return failure();
  // problem_c2
  if (queryHeads % kvHeads != 0)
    return emitError() << "expected 'kv_heads' to divide 'query_heads' but got " << kvHeads
                       << " and " << queryHeads;
  // problem_c3
  for (auto [name, type] : {std::pair("operand", operand), std::pair("out", out)})
    if (!type.isF32() && !type.isBF16() && !type.isF16())
      return emitError() << "expected '" << name << "' to be f32, bf16 or f16 but got " << type;
  return success();
}

LogicalResult ScheduleAttr::verify(EmitError emitError, int64_t rows, int64_t keys, int64_t stages,
                                   int64_t consumers, bool /*gatherKeys*/, bool /*copyRows*/,
                                   int64_t producerRegisters, int64_t consumerRegisters) {
  // schedule_c1
  if (failed(requirePositive(emitError, "rows", rows)) ||
      failed(requirePositive(emitError, "keys", keys)) ||
      failed(requirePositive(emitError, "stages", stages)) ||
      failed(requirePositive(emitError, "consumers", consumers)))
    return failure();
  // schedule_c2
  for (auto [name, registers] : {std::pair("producer_registers", producerRegisters),
                                 std::pair("consumer_registers", consumerRegisters)})
    if (registers < 0)
      return emitError() << "expected '" << name << "' not to be negative but got " << registers;
  return success();
}

LogicalResult IntervalAttr::verify(EmitError emitError, AffineMap lower, AffineMap upper,
                                   IntegerSet guard, IntegerSet tileGuard,
                                   ArrayRef<LiteralUse> literals) {
  // interval_c1
  if (!lower || !upper)
    return emitError() << "expected a 'lower' and an 'upper' bound";
  for (AffineMap map : {lower, upper})
    if (map.getNumDims() != 1 || map.getNumResults() == 0)
      return emitError() << "expected bounds of one dimension with at least one result but got "
                         << AffineMapAttr::get(map);
  // interval_c2
  if (guard && guard.getNumDims() != 1)
    return emitError() << "expected 'guard' to have one dimension but got " << guard.getNumDims();
  if (tileGuard && tileGuard.getNumDims() != 2)
    return emitError() << "expected 'tile_guard' to have two dimensions but got "
                       << tileGuard.getNumDims();
  // interval_c3
  unsigned symbols = lower.getNumSymbols();
  if (upper.getNumSymbols() != symbols || (guard && guard.getNumSymbols() != symbols) ||
      (tileGuard && tileGuard.getNumSymbols() != symbols))
    return emitError() << "expected all bounds and guards to have the same number of symbols";
  return success();
}

/// literals = [0, not 1]
static ParseResult parseLiterals(AsmParser &parser, SmallVectorImpl<LiteralUse> &literals) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    bool negated = succeeded(parser.parseOptionalKeyword("not"));
    unsigned id = 0;
    if (parser.parseInteger(id))
      return failure();
    literals.push_back({id, negated});
    return success();
  });
}

Attribute IntervalAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  AffineMap lower, upper;
  IntegerSet guard, tileGuard;
  SmallVector<LiteralUse> literals;
  auto parseField = [&]() -> ParseResult {
    SMLoc fieldLoc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "literals")
      return parseLiterals(parser, literals);
    if (name == "lower" || name == "upper") {
      AffineMapAttr map;
      if (parser.parseAttribute(map))
        return failure();
      (name == "lower" ? lower : upper) = map.getValue();
      return success();
    }
    if (name == "guard" || name == "tile_guard") {
      IntegerSetAttr set;
      if (parser.parseAttribute(set))
        return failure();
      (name == "guard" ? guard : tileGuard) = set.getValue();
      return success();
    }
    return parser.emitError(fieldLoc)
           << "expected lower, upper, guard, tile_guard or literals but got '" << name << "'";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  return parser.getChecked<IntervalAttr>(loc, parser.getContext(), lower, upper, guard, tileGuard,
                                         ArrayRef<LiteralUse>(literals));
}

void IntervalAttr::print(AsmPrinter &printer) const {
  printer << "<lower = " << AffineMapAttr::get(getLower())
          << ", upper = " << AffineMapAttr::get(getUpper());
  if (getGuard())
    printer << ", guard = " << IntegerSetAttr::get(getGuard());
  if (getTileGuard())
    printer << ", tile_guard = " << IntegerSetAttr::get(getTileGuard());
  if (!getLiterals().empty()) {
    printer << ", literals = [";
    llvm::interleaveComma(getLiterals(), printer, [&](const LiteralUse &use) {
      printer << (use.negated ? "not " : "") << use.id;
    });
    printer << "]";
  }
  printer << ">";
}

LogicalResult SourceAttr::verify(EmitError emitError, bool pooled, int64_t keys, int64_t values,
                                 int64_t block) {
  if (pooled && (keys < 0 || values < 0))
    return emitError() << "expected slots of buffers but got " << keys << " and " << values;
  if (pooled && block < 1)
    return emitError() << "expected a positive 'block' but got " << block;
  return success();
}

Attribute SourceAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef kind;
  int64_t keys = 0, values = 0, block = 1;
  if (parser.parseLess() || parser.parseKeyword(&kind))
    return {};
  if (kind != "tokens" && kind != "pooled") {
    parser.emitError(loc) << "expected tokens or pooled but got '" << kind << "'";
    return {};
  }
  if (kind == "pooled" &&
      (parser.parseKeyword("keys") || parser.parseEqual() || parser.parseInteger(keys) ||
       parser.parseComma() || parser.parseKeyword("values") || parser.parseEqual() ||
       parser.parseInteger(values) || parser.parseComma() || parser.parseKeyword("block") ||
       parser.parseEqual() || parser.parseInteger(block)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<SourceAttr>(loc, parser.getContext(), kind == "pooled", keys, values,
                                       block);
}

void SourceAttr::print(AsmPrinter &printer) const {
  if (!getPooled()) {
    printer << "<tokens>";
    return;
  }
  printer << "<pooled keys = " << getKeys() << ", values = " << getValues()
          << ", block = " << getBlock() << ">";
}
