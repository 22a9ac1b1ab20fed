// The pattern builder: life cycle, reports, leaves.
#include "frontends/cpp/Builder.h"

#include "frontends/cpp/Describe.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace skim;
using namespace skim::ir;

PatternBuilder::PatternBuilder(ModuleOp module, Location loc, StringRef name)
    : builder(module.getContext()) {
  builder.setInsertionPointToEnd(module.getBody());
  pattern = PatternOp::create(builder, loc, name);
  builder.setInsertionPoint(pattern.getBody().front().getTerminator());
}

PatternBuilder::~PatternBuilder() {
  if (!finished)
    pattern.erase();
}

//===-- Reports -------------------------------------------------------------------------------===//

Value PatternBuilder::fail(Location loc, const llvm::Twine &message,
                           const llvm::Twine &suggestion) {
  hasErrors = true;
  InFlightDiagnostic diagnostic = emitError(loc, message);
  if (!suggestion.isTriviallyEmpty())
    if (std::string text = suggestion.str(); !text.empty())
      diagnostic.attachNote(loc) << text;
  return {};
}

Value PatternBuilder::fail(Location loc, const RuleViolation &why) {
  return fail(loc, why.message, why.suggestion);
}

//===-- Constants -----------------------------------------------------------------------------===//

std::optional<int64_t> PatternBuilder::getConstantIndex(Value value) {
  IntegerAttr attr;
  if (value && matchPattern(value, m_Constant(&attr)) && attr.getType().isIndex())
    return attr.getInt();
  return std::nullopt;
}

std::optional<double> PatternBuilder::getConstantF32(Value value) {
  FloatAttr attr;
  if (value && matchPattern(value, m_Constant(&attr)))
    return attr.getValueAsDouble();
  return std::nullopt;
}

std::optional<bool> PatternBuilder::getConstantBool(Value value) {
  IntegerAttr attr;
  if (value && matchPattern(value, m_Constant(&attr)) && attr.getType().isInteger(1))
    return !attr.getValue().isZero();
  return std::nullopt;
}

//===-- Conversions of operands --------------------------------------------------------------===//

MapType PatternBuilder::asMap(Location loc, Value value, StringRef what) {
  if (!value)
    return {};
  if (auto map = dyn_cast<MapType>(value.getType()))
    return map;
  fail(loc, "expected " + what + " but got a set",
       "a set is what 'keep', 'and', 'or', 'not', 'cover' and 'where' take");
  return {};
}

Value PatternBuilder::toF32(Location loc, Value value) { return toReal(loc, value, "a number"); }

Value PatternBuilder::toReal(Location loc, Value value, StringRef what) {
  MapType map = asMap(loc, value, what);
  if (!map)
    return {};
  if (map.isIndex())
    return builder.createOrFold<ConvertOp>(loc, value);
  if (map.isF32())
    return value;
  return fail(loc, "expected " + what + " but got " + describe(value),
              map.isVec() ? "contract vectors with 'dot' first"
                          : "a bool is a set of pairs, not a number");
}

Value PatternBuilder::toUniform(Location loc, Value value, Element element, StringRef what) {
  MapType map = asMap(loc, value, what);
  if (!map)
    return {};
  if (!map.isUniform())
    return fail(loc,
                "expected " + what + ", the same for all positions, but got " + describe(value),
                "use a parameter, a constant, or a value without position axes");
  if (element == Element::F32)
    return toReal(loc, value, what);
  if (map.getElement() == element)
    return value;
  return fail(loc, "expected " + what + ", an index, but got " + describe(value),
              map.isF32() ? "declare it 'index', or write it without a fraction" : "");
}

Value PatternBuilder::toSet(Location loc, Value value) {
  if (!value || isa<SetType>(value.getType()))
    return value;
  auto map = mlir::cast<MapType>(value.getType());
  if (map.isBool()) {
    if (std::optional<bool> constant = getConstantBool(value)) {
      AffineExpr expr = builder.getAffineConstantExpr(*constant ? 0 : 1);
      return AffineSetOp::create(builder, loc, IntegerSet::get(2, 0, {expr}, {true}), ValueRange());
    }
    return builder.createOrFold<AsSetOp>(loc, value);
  }
  std::string name = getSourceName(value);
  std::string suggestion = "compare it, or select from it with 'top_k' or 'top_p'";
  if (map.isVec())
    suggestion = "score vectors with 'dot', then select from the scores";
  else if (map.isIndex() && map.isUniform())
    suggestion = name.empty()
                     ? "did you mean a comparison, such as 'q - k < 4096'?"
                     : "'" + name + "' is a count of tokens; did you mean 'q - k < " + name + "'?";
  else if (map.isUniform())
    suggestion = "compare it with another value";
  return fail(loc, "expected a set of pairs but got " + describe(value), suggestion);
}

LogicalResult PatternBuilder::unify(Location loc, Value &lhs, Value &rhs) {
  for (Value value : {lhs, rhs}) {
    MapType map = asMap(loc, value, "a number");
    if (!map)
      return failure();
    if (map.isBool()) {
      fail(loc, "expected a number but got " + describe(value),
           "combine truth values with 'and', 'or' and 'not'");
      return failure();
    }
  }
  bool lhsIsIndex = mlir::cast<MapType>(lhs.getType()).isIndex();
  bool rhsIsIndex = mlir::cast<MapType>(rhs.getType()).isIndex();
  if (lhsIsIndex && !rhsIsIndex)
    lhs = builder.createOrFold<ConvertOp>(loc, lhs);
  if (rhsIsIndex && !lhsIsIndex)
    rhs = builder.createOrFold<ConvertOp>(loc, rhs);
  return success();
}

//===-- Values that the caller gives ---------------------------------------------------------===//

Value PatternBuilder::parameter(Location loc, StringRef name, Element element,
                                TypedAttr defaultValue, bool perHead) {
  if (element == Element::Vec)
    return fail(loc, "parameter '" + name + "' cannot be a vector",
                "declare an 'input' of type 'vec'");
  for (unsigned slot = 0; slot < pattern.getNumParameters(); ++slot)
    if (pattern.getParameterName(slot) == name)
      return fail(loc, "parameter '" + name + "' is declared twice");
  auto type =
      MapType::get(builder.getContext(), Axes{perHead ? HeadAxis::Head : HeadAxis::None}, element);
  if (defaultValue) {
    Type given = defaultValue.getType();
    bool fits = element == Element::Index  ? given.isIndex()
                : element == Element::Bool ? given.isInteger(1)
                                           : given.isF32();
    if (!fits)
      return fail(loc, "expected a default of type " + toString(element) + " for parameter '" +
                           name + "'");
  }
  if (auto index = dyn_cast_or_null<IntegerAttr>(defaultValue);
      index && element == Element::Index &&
      (index.getInt() < -kLargestIndex || index.getInt() > kLargestIndex))
    return fail(loc, "default of parameter '" + name +
                         "': expected an index from -2^31 to 2^31 but got " +
                         llvm::Twine(index.getInt()));
  return pattern.addParameter(name, type, defaultValue, loc);
}

/// Whether axes that a declaration writes make a type; fills `why` otherwise.
static bool areDeclarable(const Axes &axes, RuleViolation &why) {
  if (axes.query < 0 || axes.key < 0)
    why.message = "expected a positive block size";
  else if (axes.diagonal && (axes.key != 0 || axes.query == 1))
    why = {"axis 'q - k' cannot stand beside '" +
               (axes.key != 0 ? keyAxisName(axes.key) : queryAxisName(1)) + "'",
           "two of 'q', 'k' and 'q - k' name the pair: write 'q, k'"};
  return why.message.empty();
}

Value PatternBuilder::input(Location loc, StringRef name, Element element, const Axes &axes) {
  RuleViolation why;
  if (!areDeclarable(axes, why))
    return fail(loc, why);
  auto type = MapType::get(builder.getContext(), axes, element);
  return declareInput(loc, name, type,
                      [&] { return InputOp::create(builder, loc, type, name).getResult(); });
}

Value PatternBuilder::inputList(Location loc, StringRef name, const Axes &axes) {
  RuleViolation why;
  if (!areDeclarable(axes, why))
    return fail(loc, why);
  auto type = SetType::get(builder.getContext(), axes);
  if (failed(inferInputList(type, why)))
    return fail(loc, why);
  return declareInput(loc, name, type,
                      [&] { return InputListOp::create(builder, loc, type, name).getResult(); });
}

Value PatternBuilder::declareInput(Location loc, StringRef name, Type type,
                                   function_ref<Value()> create) {
  if (name.empty())
    return fail(loc, "expected a name for the input");
  for (Operation &op : pattern.getBody().getOps()) {
    if (!isa<InputOp, InputListOp>(op))
      continue;
    auto known = op.getAttrOfType<StringAttr>("name");
    // A list takes a second name, that of its counts.
    if (isa<InputListOp>(op) && name == known.getValue().str() + "_counts")
      return fail(loc, "input '" + name + "' has the name of the counts of list '" +
                           known.getValue() + "'");
    if (isa<SetType>(type) && known == (name + "_counts").str())
      return fail(loc, "counts of list '" + name + "' have the name of input '" + known.getValue() +
                           "'");
    if (known != name)
      continue;
    if (op.getResult(0).getType() == type)
      return op.getResult(0);
    return fail(loc, "input '" + name + "' is declared before with another type");
  }
  return create();
}

//===-- Leaves --------------------------------------------------------------------------------===//

Value PatternBuilder::constant(Location loc, TypedAttr value) {
  return ConstantOp::create(builder, loc, value);
}

Value PatternBuilder::queryPosition(Location loc) {
  return PositionOp::create(builder, loc, AffineMap::get(2, 0, builder.getAffineDimExpr(0)),
                            ValueRange());
}

Value PatternBuilder::keyPosition(Location loc) {
  return PositionOp::create(builder, loc, AffineMap::get(2, 0, builder.getAffineDimExpr(1)),
                            ValueRange());
}

Value PatternBuilder::uniform(Location loc, UniformKind kind) {
  return UniformOp::create(builder, loc, kind);
}
Value PatternBuilder::operand(Location loc, OperandKind kind) {
  return OperandOp::create(builder, loc, kind);
}
Value PatternBuilder::score(Location loc) { return ScoreOp::create(builder, loc); }
