// Patterns and their clauses: syntax, accessors, verifiers.
#include "dialect/Skim/SkimOps.h"
#include "dialect/Skim/Verify.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace skim::ir;

//===-- pattern: parameters -------------------------------------------------------------------===//

void PatternOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  Region *body = state.addRegion();
  body->emplaceBlock();
  ensureTerminator(*body, builder, state.location);
}

/// The attributes of parameter `slot`; null when there are none.
static DictionaryAttr getParameterAttrs(PatternOp pattern, unsigned slot) {
  std::optional<ArrayAttr> attrs = pattern.getArgAttrs();
  return attrs && slot < attrs->size() ? cast<DictionaryAttr>((*attrs)[slot]) : DictionaryAttr();
}

StringRef PatternOp::getParameterName(unsigned slot) {
  DictionaryAttr attrs = getParameterAttrs(*this, slot);
  auto name = attrs ? attrs.getAs<StringAttr>(getNameAttrName()) : StringAttr();
  return name ? name.getValue() : StringRef();
}

TypedAttr PatternOp::getParameterDefault(unsigned slot) {
  DictionaryAttr attrs = getParameterAttrs(*this, slot);
  return attrs ? attrs.getAs<TypedAttr>(getDefaultAttrName()) : TypedAttr();
}

BlockArgument PatternOp::addParameter(StringRef name, MapType type, TypedAttr defaultValue,
                                      Location loc) {
  Builder builder(getContext());
  SmallVector<NamedAttribute> attrs = {
      builder.getNamedAttr(getNameAttrName(), builder.getStringAttr(name))};
  if (defaultValue)
    attrs.push_back(builder.getNamedAttr(getDefaultAttrName(), defaultValue));
  SmallVector<Attribute> all;
  if (std::optional<ArrayAttr> known = getArgAttrs())
    llvm::append_range(all, *known);
  all.push_back(builder.getDictionaryAttr(attrs));
  setArgAttrsAttr(builder.getArrayAttr(all));
  return getBody().addArgument(type, loc);
}

//===-- pattern: syntax -----------------------------------------------------------------------===//

ParseResult PatternOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::OptionalParen, /*allowType=*/true,
                               /*allowAttrs=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> attrs;
  for (OpAsmParser::Argument &argument : arguments)
    attrs.push_back(argument.attrs ? argument.attrs : builder.getDictionaryAttr({}));
  if (!attrs.empty())
    result.addAttribute(getArgAttrsAttrName(result.name), builder.getArrayAttr(attrs));
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, builder, result.location);
  return success();
}

void PatternOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  if (getNumParameters() != 0) {
    printer << '(';
    llvm::interleaveComma(llvm::seq(getNumParameters()), printer, [&](unsigned slot) {
      DictionaryAttr attrs = getParameterAttrs(*this, slot);
      printer.printRegionArgument(getParameter(slot),
                                  attrs ? attrs.getValue() : ArrayRef<NamedAttribute>());
    });
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getSymNameAttrName(), getArgAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
}

void PatternOp::getAsmBlockArgumentNames(Region &, OpAsmSetValueNameFn setName) {
  for (unsigned slot = 0; slot < getNumParameters(); ++slot)
    if (StringRef name = getParameterName(slot); !name.empty())
      setName(getParameter(slot), name);
}

//===-- pattern: verifier ---------------------------------------------------------------------===//

static bool isValueOf(TypedAttr value, Element element) {
  switch (element) {
  case Element::Index:
    return isa<IntegerAttr>(value) && value.getType().isIndex();
  case Element::Bool:
    return isa<IntegerAttr>(value) && value.getType().isInteger(1);
  case Element::F32:
    return isa<FloatAttr>(value) && value.getType().isF32();
  case Element::Vec:
    return false;
  }
  return false;
}

LogicalResult PatternOp::verify() {
  llvm::StringSet<> names;
  if (std::optional<ArrayAttr> attrs = getArgAttrs(); attrs && attrs->size() != getNumParameters())
    return emitOpError("expected attributes for ")
           << getNumParameters() << " parameters but got " << attrs->size();
  for (unsigned slot = 0; slot < getNumParameters(); ++slot) {
    auto type = dyn_cast<MapType>(getParameter(slot).getType());
    // pattern_c1
    if (!type || type.isVec() || !type.isUniform())
      return emitOpError("expected parameter ")
             << slot << " to be a map of index, f32 or bool without position axes but got "
             << getParameter(slot).getType();
    // pattern_c2
    StringRef name = getParameterName(slot);
    if (name.empty())
      return emitOpError("expected parameter ") << slot << " to have a 'skim.name'";
    if (!names.insert(name).second)
      return emitOpError("two parameters have the name '") << name << "'";
    // pattern_c3
    DictionaryAttr attrs = getParameterAttrs(*this, slot);
    Attribute value = attrs.get(getDefaultAttrName());
    if (value && !(isa<TypedAttr>(value) && isValueOf(cast<TypedAttr>(value), type.getElement())))
      return emitOpError("expected the default of '")
             << name << "' to be of type " << toString(type.getElement()) << " but got " << value;
  }
  return success();
}

/// At most one clause of the kind.
template <typename ClauseT> static LogicalResult verifyUnique(PatternOp pattern) {
  auto range = pattern.getBody().getOps<ClauseT>();
  if (range.empty() || std::next(range.begin()) == range.end())
    return success();
  Operation *second = *std::next(range.begin());
  InFlightDiagnostic diagnostic =
      second->emitOpError("expected at most one such clause in a pattern");
  diagnostic.attachNote((*range.begin())->getLoc()) << "the first is here";
  return diagnostic;
}

/// `skim.score` has a meaning inside `logit` alone.
static LogicalResult verifyScoreUsers(ScoreOp score) {
  SmallVector<Operation *> queue(score->getUsers());
  SmallPtrSet<Operation *, 16> seen;
  while (!queue.empty()) {
    Operation *user = queue.pop_back_val();
    if (!seen.insert(user).second || isa<LogitOp>(user))
      continue;
    // pattern_c6
    bool computesMap = user->getNumResults() == 1 && isa<MapType>(user->getResult(0).getType());
    if (!computesMap) {
      InFlightDiagnostic diagnostic =
          score.emitOpError("expected the score to reach 'skim.logit' only");
      diagnostic.attachNote(user->getLoc()) << "it reaches '" << user->getName() << "'";
      return diagnostic;
    }
    llvm::append_range(queue, user->getUsers());
  }
  return success();
}

LogicalResult PatternOp::verifyRegions() {
  // pattern_c4
  if (!getClause<KeepOp>())
    return emitOpError("expected one 'skim.keep'");
  if (failed(verifyUnique<KeepOp>(*this)) || failed(verifyUnique<RestMeanOp>(*this)) ||
      failed(verifyUnique<SkipOp>(*this)) || failed(verifyUnique<LogitOp>(*this)) ||
      failed(verifyUnique<SinkLogitOp>(*this)) || failed(verifyUnique<DenseWhenOp>(*this)) ||
      failed(verifyUnique<CompactOp>(*this)))
    return failure();
  llvm::StringMap<Type> inputs;
  for (Operation &op : getBody().getOps()) {
    if (auto score = dyn_cast<ScoreOp>(op))
      if (failed(verifyScoreUsers(score)))
        return failure();
    if (!isa<InputOp, InputListOp>(op))
      continue;
    Type type = op.getResult(0).getType();
    // pattern_c5
    if (getNoncausal() && getAxes(type).diagonal)
      return op.emitOpError("expected no axis 'q - k' in an input of a noncausal pattern");
    // pattern_c7
    StringRef name = op.getAttrOfType<StringAttr>("name").getValue();
    auto [known, isNew] = inputs.try_emplace(name, type);
    if (!isNew && known->second != type)
      return op.emitOpError("input '")
             << name << "' has type " << type << " here and " << known->second << " before";
  }
  return success();
}

//===-- Clauses -------------------------------------------------------------------------------===//

LogicalResult LogitOp::verify() {
  RuleViolation why;
  return failed(checkLogit(getValue().getType(), why)) ? report(*this, why) : success();
}

LogicalResult CompactOp::verify() {
  RuleViolation why;
  return failed(checkCompact(getSet().getType(), why)) ? report(*this, why) : success();
}

//===-- attend --------------------------------------------------------------------------------===//

LogicalResult AttendOp::verify() {
  // attend_c1
  if (getQueryHeads() % getKvHeads() != 0)
    return emitOpError("expected query_heads to be a multiple of kv_heads but got ")
           << getQueryHeads() << " and " << getKvHeads();
  // attend_c2
  for (Type type : {getOperand(), getOut()})
    if (!type.isF32() && !type.isBF16() && !type.isF16())
      return emitOpError("expected f32, bf16 or f16 but got ") << type;
  return success();
}

LogicalResult AttendOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // attend_c3
  if (!symbols.lookupNearestSymbolFrom<PatternOp>(*this, getPatternAttr()))
    return emitOpError("expected '") << getPattern() << "' to name a 'skim.pattern'";
  return success();
}
