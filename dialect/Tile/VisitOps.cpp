// Constraints of visits and of the predicates over them.
#include "dialect/Tile/ProgramOps.h"

using namespace mlir;
using namespace skim::tile;

/// `NAME(%a, %b)` where NAME is the keyword; absent means none.
static ParseResult parseOperandGroup(OpAsmParser &parser, StringRef keyword,
                                     SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  return parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren);
}

/// `[interval<...>, ...]`. The intervals are parsed here and not as attributes with their prefix: a
/// dialect attribute cannot hold the `>=` of a guard in its text.
static ParseResult parseIntervals(OpAsmParser &parser, ArrayAttr &intervals) {
  SmallVector<Attribute> parsed;
  auto parseInterval = [&]() -> ParseResult {
    if (parser.parseKeyword("interval"))
      return failure();
    parsed.push_back(IntervalAttr::parse(parser, Type()));
    return success(parsed.back() != nullptr);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseInterval))
    return failure();
  intervals = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printIntervals(OpAsmPrinter &printer, ArrayAttr intervals) {
  printer << "[";
  llvm::interleaveComma(intervals, printer, [&](Attribute attribute) {
    printer << "interval";
    cast<IntervalAttr>(attribute).print(printer);
  });
  printer << "]";
}

ParseResult ForEachVisitOp::parse(OpAsmParser &parser, OperationState &result) {
  MLIRContext *context = parser.getContext();
  Properties &properties = result.getOrAddProperties<Properties>();
  OpAsmParser::Argument visit;
  visit.type = VisitType::get(context);
  OpAsmParser::UnresolvedOperand item;
  SmallVector<OpAsmParser::UnresolvedOperand> symbols, literals, carry;
  if (parser.parseArgument(visit) || parser.parseKeyword("of") || parser.parseOperand(item) ||
      parseOperandGroup(parser, "symbols", symbols) ||
      parseOperandGroup(parser, "literals", literals) || parser.parseKeyword("touched") ||
      parseIntervals(parser, properties.touched) || parser.parseKeyword("hidden") ||
      parseIntervals(parser, properties.hidden) || parser.parseKeyword("source") ||
      parser.parseAttribute(properties.source))
    return failure();

  SmallVector<OpAsmParser::Argument> arguments = {visit};
  SmallVector<Type> types;
  SMLoc carryLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("carry"))) {
    auto parseCarried = [&]() -> ParseResult {
      return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                     parser.parseOperand(carry.emplace_back()));
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseCarried) ||
        parser.parseColonTypeList(types))
      return failure();
    if (types.size() != carry.size())
      return parser.emitError(carryLoc)
             << "expected " << carry.size() << " types of states but got " << types.size();
    for (auto [argument, type] : llvm::zip(llvm::drop_begin(arguments), types))
      argument.type = type;
  }
  properties.operandSegmentSizes = {1, static_cast<int32_t>(symbols.size()),
                                    static_cast<int32_t>(literals.size()),
                                    static_cast<int32_t>(carry.size())};
  result.addTypes(types);
  Region *body = result.addRegion();
  return failure(parser.resolveOperand(item, ItemType::get(context), result.operands) ||
                 parser.resolveOperands(symbols, IndexType::get(context), result.operands) ||
                 parser.resolveOperands(literals, LiteralType::get(context), result.operands) ||
                 parser.resolveOperands(carry, types, carryLoc, result.operands) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*body, arguments));
}

void ForEachVisitOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printRegionArgument(getVisit(), {}, /*omitType=*/true);
  printer << " of " << getItem();
  if (!getSymbols().empty())
    printer << " symbols(" << getSymbols() << ")";
  if (!getLiterals().empty())
    printer << " literals(" << getLiterals() << ")";
  printer << " touched ";
  printIntervals(printer, getTouched());
  printer << " hidden ";
  printIntervals(printer, getHidden());
  printer << " source " << Attribute(getSource());
  if (!getCarry().empty()) {
    printer << " carry(";
    llvm::interleaveComma(llvm::zip(getCarriedArguments(), getCarry()), printer, [&](auto pair) {
      printer.printRegionArgument(std::get<0>(pair), {}, /*omitType=*/true);
      printer << " = " << std::get<1>(pair);
    });
    printer << ") : " << getCarry().getTypes();
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getTouchedAttrName(), getHiddenAttrName(), getSourceAttrName(), "operandSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ForEachVisitOp::verify() {
  for (ArrayAttr intervals : {getTouched(), getHidden()})
    for (Attribute attribute : intervals) {
      // for_each_visit_c5
      auto interval = dyn_cast<IntervalAttr>(attribute);
      if (!interval)
        return emitOpError() << "expected '#tile.interval' attributes but got " << attribute;
      // for_each_visit_c3
      if (interval.getLower().getNumSymbols() != getSymbols().size())
        return emitOpError() << "expected intervals of " << getSymbols().size()
                             << " symbols but got " << interval.getLower().getNumSymbols();
      for (const LiteralUse &use : interval.getLiterals())
        if (use.id >= getLiterals().size())
          return emitOpError() << "names literal " << use.id << " but has " << getLiterals().size();
    }
  // for_each_visit_c4
  return requireItems(*this, ItemAxis::Queries, "walking visits");
}

/// The body's argument that `state` descends from, or null.
static Value originOfState(Value state) {
  while (Operation *op = state.getDefiningOp()) {
    if (auto softmax = dyn_cast<OnlineSoftmaxOp>(op))
      state = softmax.getState();
    else if (auto accumulate = dyn_cast<AccumulateOp>(op))
      state = accumulate.getState();
    else
      return {};
  }
  return state;
}

LogicalResult ForEachVisitOp::verifyRegions() {
  // for_each_visit_c1
  Block &block = getBody().front();
  SmallVector<Type> expected = {VisitType::get(getContext())};
  llvm::append_range(expected, getCarry().getTypes());
  if (block.getArgumentTypes() != TypeRange(expected))
    return emitOpError() << "expected a body with arguments (" << expected << ") but got ("
                         << block.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getOperandTypes() != getCarry().getTypes() ||
      getResultTypes() != getCarry().getTypes())
    return emitOpError() << "expected its body to yield (" << getCarry().getTypes() << ") but got ("
                         << block.getTerminator()->getOperandTypes() << ")";
  // for_each_visit_c2
  for (auto [value, argument] : llvm::zip(yield.getValues(), getCarriedArguments()))
    if (originOfState(value) != argument)
      return yield.emitOpError() << "expected a state that descends from the one carried in its "
                                    "place";
  return success();
}

LogicalResult LiteralOp::verifyRegions() {
  // literal_c1, literal_c2
  Type index = IndexType::get(getContext()), i1 = IntegerType::get(getContext(), 1);
  return verifyScalarRegion(getBody(), {index, index}, i1);
}

LogicalResult LiteralValueOp::verify() {
  // literal_value_c1
  if (!getLiteral().getDefiningOp<LiteralOp>())
    return emitOpError() << "expected the result of a 'tile.literal'";
  return success();
}

LogicalResult ContainsOp::verify() {
  // contains_c1
  if (getDims().size() != getSet().getNumDims())
    return emitOpError() << "expected " << getSet().getNumDims() << " dimensions but got "
                         << getDims().size();
  if (getSymbols().size() != getSet().getNumSymbols())
    return emitOpError() << "expected " << getSet().getNumSymbols() << " symbols but got "
                         << getSymbols().size();
  return success();
}
