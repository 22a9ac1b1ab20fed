// The pattern builder: sets.
#include "frontends/cpp/AffineForm.h"
#include "frontends/cpp/Builder.h"
#include "frontends/cpp/Describe.h"

using namespace mlir;
using namespace skim;
using namespace skim::ir;

//===-- Comparisons ---------------------------------------------------------------------------===//

/// `max(a, b)` and what is one of its kind: `min`, `abs` (of a and -a), `relu` (of a and 0).
static bool isExtremum(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<MinOp, MaxOp, AbsOp, ReluOp>(op) &&
         mlir::cast<MapType>(value.getType()).isIndex();
}

/// Whether `value` becomes quasi-affine when each extremum is decided; counts the cases.
static bool isAffineInCases(Value value, int &cases, IndexBounds &bounds) {
  if (isExtremum(value)) {
    cases *= 2;
    // The other case of `abs` is the negative, which has to be affine as it stands.
    if (isa<AbsOp>(value.getDefiningOp()) && isExtremum(value.getDefiningOp()->getOperand(0)))
      return false;
    return llvm::all_of(value.getDefiningOp()->getOperands(), [&](Value operand) {
      return cases <= 16 && isAffineInCases(operand, cases, bounds);
    });
  }
  Symbols symbols;
  return getAffineForm(value, symbols, bounds).has_value();
}

static Comparison swapSides(Comparison predicate) {
  switch (predicate) {
  case Comparison::Lt:
    return Comparison::Gt;
  case Comparison::Le:
    return Comparison::Ge;
  case Comparison::Gt:
    return Comparison::Lt;
  case Comparison::Ge:
    return Comparison::Le;
  case Comparison::Eq:
  case Comparison::Ne:
    return predicate;
  }
  return predicate;
}

/// Decides extrema of positions: `max(a, b) < c` says `a < c and b < c`, so `abs(q - k) < window`
/// is two exact sets. The sides must be affine in cases.
Value PatternBuilder::compareCases(Location loc, Comparison predicate, Value lhs, Value rhs) {
  if (!isExtremum(lhs) && isExtremum(rhs))
    return compareCases(loc, swapSides(predicate), rhs, lhs);
  if (!isExtremum(lhs))
    return compareAffine(loc, predicate, lhs, rhs);
  if (predicate == Comparison::Eq)
    return conjunction(loc, {compareCases(loc, Comparison::Le, lhs, rhs),
                             compareCases(loc, Comparison::Ge, lhs, rhs)});
  if (predicate == Comparison::Ne)
    return disjunction(loc, {compareCases(loc, Comparison::Lt, lhs, rhs),
                             compareCases(loc, Comparison::Gt, lhs, rhs)});
  Operation *op = lhs.getDefiningOp();
  Value first = op->getOperand(0);
  Value second = isa<AbsOp>(op)    ? neg(loc, first)
                 : isa<ReluOp>(op) ? indexConstant(loc, 0)
                                   : op->getOperand(1);
  if (!second)
    return {};
  bool isBelow = predicate == Comparison::Lt || predicate == Comparison::Le;
  Value cases[] = {compareCases(loc, predicate, first, rhs),
                   compareCases(loc, predicate, second, rhs)};
  return isBelow != isa<MinOp>(op) ? conjunction(loc, cases) : disjunction(loc, cases);
}

/// A comparison of quasi-affine sides as an exact integer set; null, without a report, when a side
/// is not one.
Value PatternBuilder::compareAffine(Location loc, Comparison predicate, Value lhs, Value rhs) {
  Symbols symbols;
  std::optional<AffineExpr> lhsForm = getAffineForm(lhs, symbols, bounds);
  std::optional<AffineExpr> rhsForm = getAffineForm(rhs, symbols, bounds);
  if (!isBearable(*lhsForm, *rhsForm))
    return failTooLong(loc);
  if (!fitsIn64Bits(AffineExprKind::Add, *lhsForm, *rhsForm, symbols, bounds))
    return failTooLarge(loc);
  // Integers: lhs < rhs says rhs - lhs - 1 >= 0.
  AffineExpr expr = *lhsForm - *rhsForm;
  if (predicate == Comparison::Lt || predicate == Comparison::Le)
    expr = -expr;
  if (predicate == Comparison::Lt || predicate == Comparison::Gt)
    expr = expr - 1;
  expr = simplifyAffineExpr(expr, 2, symbols.size());
  bool isEquality = predicate == Comparison::Eq || predicate == Comparison::Ne;
  IntegerSet set = IntegerSet::get(2, symbols.size(), {expr}, {isEquality});
  Value result = AffineSetOp::create(builder, loc, set, symbols);
  return predicate == Comparison::Ne ? complement(loc, result) : result;
}

Value PatternBuilder::compare(Location loc, Comparison predicate, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return {};
  for (Value value : {lhs, rhs}) {
    auto map = dyn_cast<MapType>(value.getType());
    if (map && !map.isBool() && !map.isVec())
      continue;
    return fail(loc, "cannot compare " + describe(value),
                map && map.isVec() ? "contract vectors with 'dot' first"
                                   : "combine sets and truth values with 'and', 'or' and 'not'");
  }
  if (failed(unify(loc, lhs, rhs)))
    return {};
  int cases = 1;
  if (isAffineInCases(lhs, cases, bounds) && isAffineInCases(rhs, cases, bounds) && cases <= 16)
    return compareCases(loc, predicate, lhs, rhs);
  auto lhsType = mlir::cast<MapType>(lhs.getType());
  auto rhsType = mlir::cast<MapType>(rhs.getType());
  RuleViolation why;
  FailureOr<SetType> result = inferCompare(lhsType, rhsType, why);
  if (failed(result))
    return fail(loc, why);
  return CompareOp::create(builder, loc, *result, predicate, lhs, rhs);
}

Value PatternBuilder::topK(Location loc, Value map, Value count) {
  if (!map || !count)
    return {};
  MapType type = asMap(loc, map, "a map of f32");
  MapType countType = asMap(loc, count, "a number of cells");
  if (!type || !countType)
    return {};
  if (!type.isIndex() && !toReal(loc, map, "a map of f32"))
    return {};
  count =
      toUniform(loc, count, countType.isF32() ? Element::F32 : Element::Index, "a number of cells");
  if (!count)
    return {};
  RuleViolation why;
  FailureOr<SetType> result = inferSelection(type, countType, why);
  if (failed(result))
    return fail(loc, why);
  return TopKOp::create(builder, loc, *result, map, count);
}

Value PatternBuilder::topP(Location loc, Value map, Value mass) {
  if (!map || !mass)
    return {};
  map = toReal(loc, map, "a map of f32");
  mass = toUniform(loc, mass, Element::F32, "a share of the sum");
  if (!map || !mass)
    return {};
  if (std::optional<double> share = getConstantF32(mass); share && !(*share >= 0 && *share <= 1))
    return fail(loc, "expected a share from 0 to 1 but got " + describe(*share));
  RuleViolation why;
  FailureOr<SetType> result =
      inferSelection(mlir::cast<MapType>(map.getType()), mlir::cast<MapType>(mass.getType()), why);
  if (failed(result))
    return fail(loc, why);
  return TopPOp::create(builder, loc, *result, map, mass);
}

Value PatternBuilder::cover(Location loc, Value set, std::optional<int64_t> queryBlock,
                            int64_t keyBlock) {
  set = toSet(loc, set);
  if (!set)
    return {};
  RuleViolation why;
  FailureOr<SetType> result =
      inferCover(mlir::cast<SetType>(set.getType()), queryBlock, keyBlock, why);
  if (failed(result))
    return fail(loc, why);
  IntegerAttr query = queryBlock ? builder.getI64IntegerAttr(*queryBlock) : IntegerAttr();
  return CoverOp::create(builder, loc, *result, set, query, builder.getI64IntegerAttr(keyBlock));
}

Value PatternBuilder::combine(Location loc, ValueList values, bool isAnd) {
  SmallVector<Value> sets;
  bool complete = true;
  for (Value value : values) {
    sets.push_back(toSet(loc, value));
    complete &= static_cast<bool>(sets.back());
  }
  if (!complete)
    return {};
  if (sets.empty())
    return fail(loc, isAnd ? "'and' needs a set" : "'or' needs a set");
  if (sets.size() == 1)
    return sets.front();
  return isAnd ? builder.createOrFold<AndOp>(loc, ValueRange(sets))
               : builder.createOrFold<OrOp>(loc, ValueRange(sets));
}

Value PatternBuilder::conjunction(Location loc, ValueList sets) { return combine(loc, sets, true); }
Value PatternBuilder::disjunction(Location loc, ValueList sets) {
  return combine(loc, sets, false);
}

Value PatternBuilder::complement(Location loc, Value set) {
  set = toSet(loc, set);
  if (!set)
    return {};
  return builder.createOrFold<NotOp>(loc, set.getType(), set);
}

Value PatternBuilder::match(Location loc, Value selector, ArrayRef<int64_t> labels, ValueList arms,
                            Value otherwise) {
  SmallVector<Value> sets;
  bool complete = true;
  for (Value arm : arms) {
    sets.push_back(toSet(loc, arm));
    complete &= static_cast<bool>(sets.back());
  }
  Value rest = toSet(loc, otherwise);
  selector = toUniform(loc, selector, Element::Index, "a selector");
  if (!complete || !selector || (otherwise && !rest))
    return {};
  RuleViolation why;
  FailureOr<SetType> result = inferMatch(mlir::cast<MapType>(selector.getType()), labels,
                                         SmallVector<Type>(ValueRange(sets).getTypes()),
                                         rest ? rest.getType() : Type(), why);
  if (failed(result))
    return fail(loc, why);
  if (std::optional<int64_t> constant = getConstantIndex(selector)) {
    const int64_t *label = llvm::find(labels, *constant);
    if (label != labels.end())
      return sets[label - labels.begin()];
    if (rest)
      return rest;
    return fail(loc, "no arm for the value " + llvm::Twine(*constant),
                "add an arm '_' for all other values");
  }
  return MatchOp::create(builder, loc, *result, selector, builder.getDenseI64ArrayAttr(labels),
                         sets, rest);
}
