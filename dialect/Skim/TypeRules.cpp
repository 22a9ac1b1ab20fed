// Type rules of maps, sets and clauses.
#include "dialect/Skim/TypeRules.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace skim::ir;

static LogicalResult violate(RuleViolation &why, const llvm::Twine &message,
                             const llvm::Twine &suggestion = "") {
  why.message = message.str();
  why.suggestion = suggestion.str();
  return failure();
}

/// `type` with the head axis that covers `other` as well; `other` may be null.
static MapType coverHeads(MapType type, Type other) {
  if (!other)
    return type;
  return type.withAxes(type.getAxes().withHead(getHeadAxis({type, other})));
}

//===-- Maps ----------------------------------------------------------------------------------===//

MapType skim::ir::getUniformType(MLIRContext *context, UniformKind kind) {
  Axes axes;
  // uniform_c1
  if (kind == UniformKind::Head)
    axes.head = HeadAxis::Head;
  if (kind == UniformKind::KvHead)
    axes.head = HeadAxis::KvHead;
  return MapType::get(context, axes, Element::Index);
}

MapType skim::ir::getOperandType(MLIRContext *context, OperandKind kind) {
  // operand_c1
  bool isQuery = kind == OperandKind::Query;
  Axes axes = isQuery ? Axes{HeadAxis::Head, 1, 0, false} : Axes{HeadAxis::KvHead, 0, 1, false};
  return MapType::get(context, axes, Element::Vec);
}

MapType skim::ir::getScoreType(MLIRContext *context) {
  // score_c1
  return MapType::get(context, Axes::tokens(HeadAxis::Head), Element::F32);
}

FailureOr<MapType> skim::ir::inferLast(MapType input, MapType count, RuleViolation &why) {
  // last_c1
  if (input.getAxes().query != 1)
    return violate(
        why, "expected a map with the axis 'q' but got axes '" + toString(input.getAxes()) + "'",
        "'last' takes the last rows of the call, as in 'last(Q, 64)'");
  // last_c2
  return coverHeads(input, count);
}

FailureOr<MapType> skim::ir::inferDot(MapType lhs, MapType rhs, Type scale, RuleViolation &why) {
  // dot_c1
  FailureOr<Axes> axes = meetAxes(lhs.getAxes(), rhs.getAxes(), why);
  if (failed(axes))
    return failure();
  // dot_c2
  return coverHeads(MapType::get(lhs.getContext(), *axes, Element::F32), scale);
}

FailureOr<MapType> skim::ir::inferCast(CastKind kind, MapType input, Type scale,
                                       RuleViolation &why) {
  // cast_c1
  if (scale && kind != CastKind::FP8)
    return violate(why,
                   "only 'fp8' takes a scale but got one for '" + stringifyCastKind(kind) + "'",
                   "the step of int8 and int4 follows from the vector, bf16 has none");
  // cast_c2
  if ((kind == CastKind::Int8 || kind == CastKind::Int4) && !input.isVec())
    return violate(why,
                   "expected vectors for '" + stringifyCastKind(kind) + "' but got " +
                       toString(input.getElement()),
                   "use 'bf16' or 'fp8' for numbers");
  // cast_c3
  return coverHeads(input, scale);
}

FailureOr<MapType> skim::ir::inferLinear(MapType input, MapType weight, RuleViolation &) {
  // linear_c2
  return coverHeads(input, weight);
}

FailureOr<MapType> skim::ir::inferBinary(MapType lhs, MapType rhs, RuleViolation &why) {
  Element element = lhs.getElement();
  // arithmetic_c1
  if (lhs.getElement() != rhs.getElement()) {
    bool scales = (lhs.isVec() && rhs.isF32()) || (lhs.isF32() && rhs.isVec());
    if (!scales)
      return violate(why, "expected equal element types but got " + toString(lhs.getElement()) +
                              " and " + toString(rhs.getElement()));
    element = Element::Vec;
  }
  // arithmetic_c2
  FailureOr<Axes> axes = meetAxes(lhs.getAxes(), rhs.getAxes(), why);
  if (failed(axes))
    return failure();
  return MapType::get(lhs.getContext(), *axes, element);
}

static bool hasAxis(const Axes &axes, PositionAxis axis) {
  switch (axis) {
  case PositionAxis::Query:
    return axes.query != 0;
  case PositionAxis::Key:
    return axes.key != 0;
  case PositionAxis::Diagonal:
    return axes.diagonal;
  }
  return false;
}

FailureOr<MapType> skim::ir::inferSoftmax(MapType input, PositionAxis axis, RuleViolation &why) {
  // softmax_c1
  if (!hasAxis(input.getAxes(), axis)) {
    llvm::StringRef name = axis == PositionAxis::Diagonal ? "q - k" : stringifyPositionAxis(axis);
    return violate(why, "the map has no axis '" + name + "': its axes are '" +
                            toString(input.getAxes()) + "'");
  }
  return input;
}

FailureOr<MapType> skim::ir::inferSmooth(MapType input, MapType width,
                                         std::optional<int64_t> constantWidth, RuleViolation &why) {
  // smooth_c1
  if (input.getAxes().key == 0)
    return violate(
        why, "expected a map with a key axis but got axes '" + toString(input.getAxes()) + "'",
        "'smooth' is a centred mean along 'k'");
  // smooth_c2
  if (constantWidth && (*constantWidth < 1 || *constantWidth % 2 == 0))
    return violate(why, "expected an odd, positive width but got " + llvm::Twine(*constantWidth),
                   "a centred mean has as many cells before as behind");
  // smooth_c3
  return coverHeads(input, width);
}

/// Whether blocks of `to` are made of whole blocks of `from` (0: absent).
static LogicalResult checkCoarsening(int64_t from, int64_t to, std::string (*name)(int64_t),
                                     RuleViolation &why) {
  if (to == 0)
    return success();
  // reduce_c3
  if (from == 0)
    return violate(why, "the map has no axis to coarsen into '" + name(to) + "'");
  // reduce_c1
  if (to % from != 0) {
    std::optional<int64_t> multiple = llvm::checkedMul(from, to / from + 1);
    return violate(why,
                   "cannot coarsen '" + name(from) + "' into '" + name(to) +
                       "': " + llvm::Twine(from) + " does not divide " + llvm::Twine(to),
                   multiple ? "choose a multiple, such as '" + name(*multiple) + "'"
                            : std::string());
  }
  return success();
}

FailureOr<MapType> skim::ir::inferReduce(ReduceKind kind, MapType input, const Axes &result,
                                         RuleViolation &why) {
  const Axes &from = input.getAxes();
  // reduce_c4
  if (input.isBool() || ((kind == ReduceKind::Mean || kind == ReduceKind::Var) && input.isIndex()))
    return violate(why, "cannot take the " + stringifyReduceKind(kind) + " of " +
                            toString(input.getElement()));
  // reduce_c2
  bool gathers = result.diagonal && !from.diagonal;
  if (gathers && (from.query != 1 || from.key != 1))
    return violate(why, "cannot gather axes '" + toString(from) + "' into 'q - k'",
                   "diagonals are gathered from a map with the axes 'q' and 'k', without blocks");
  // reduce_c3
  if (result.head > from.head)
    return violate(why, "the map has no '" + toString(Axes{result.head}) + "' axis to keep");
  if (result == from)
    return violate(why, "nothing to reduce: the map has the axes '" + toString(from) + "' already");
  if (failed(checkCoarsening(from.query, result.query, queryAxisName, why)) ||
      failed(checkCoarsening(from.key, result.key, keyAxisName, why)))
    return failure();
  return input.withAxes(result);
}

/// The block of the result along an axis, where the set must not change within a cell of the map.
static FailureOr<int64_t> restrictBlocks(int64_t map, int64_t set) {
  if (set == 0)
    return map;
  if (map == 0)
    return set;
  if (set % map != 0)
    return failure();
  return map;
}

FailureOr<MapType> skim::ir::inferWhere(MapType input, SetType set, RuleViolation &why) {
  const Axes &map = input.getAxes();
  const Axes &pairs = set.getAxes();
  FailureOr<int64_t> query = restrictBlocks(map.query, pairs.query);
  FailureOr<int64_t> key = restrictBlocks(map.key, pairs.key);
  bool fits = succeeded(query) && succeeded(key);
  Axes result;
  if (fits) {
    result = {std::max(map.head, pairs.head), *query, *key, map.diagonal || pairs.diagonal};
    if (result.diagonal && (result.query == 1 || result.key != 0)) {
      // Distances are told apart by pairs of tokens only, so the map's own positions must be
      // tokens.
      fits = map.query <= 1 && map.key <= 1;
      result = Axes::tokens(result.head);
    } else if (pairs.diagonal && !map.diagonal && map.query > 1) {
      fits = false;
    }
  }
  // where_c1
  if (!fits)
    return violate(why,
                   "the set changes within a cell of the map: the map has axes '" + toString(map) +
                       "' and the set '" + toString(pairs) + "'",
                   map.query > 1 && map.key > 1
                       ? "round it up: 'cover(" + queryAxisName(map.query) + ", " +
                             keyAxisName(map.key) + ", ...)'"
                       : std::string("restrict the map before its cells are joined"));
  // where_c2
  return input.withAxes(result);
}

//===-- Sets ----------------------------------------------------------------------------------===//

FailureOr<SetType> skim::ir::inferCompare(MapType lhs, MapType rhs, RuleViolation &why) {
  // compare_c1
  if (lhs.getElement() != rhs.getElement())
    return violate(why, "expected equal element types but got " + toString(lhs.getElement()) +
                            " and " + toString(rhs.getElement()));
  // compare_c2
  if (lhs.isF32() && failed(meetAxes(lhs.getAxes(), rhs.getAxes(), why)))
    return failure();
  // compare_c3
  return SetType::get(lhs.getContext(), refineAxes(lhs.getAxes(), rhs.getAxes()));
}

FailureOr<SetType> skim::ir::inferSelection(MapType input, MapType amount, RuleViolation &why) {
  const Axes &axes = input.getAxes();
  // top_k_c1 top_p_c1
  if (axes.key == 0 && !axes.diagonal)
    return violate(why,
                   "no axis to select along: the map has axes '" + toString(axes) +
                       "', neither 'k' nor 'q - k'",
                   "keep a key axis when you reduce, as in 'sum(p, over: q)'");
  // top_k_c2 top_p_c2
  return SetType::get(input.getContext(), axes.withHead(getHeadAxis({input, amount})));
}

FailureOr<SetType> skim::ir::inferCover(SetType set, std::optional<int64_t> query, int64_t key,
                                        RuleViolation &why) {
  // cover_c1
  if (key < 1 || (query && *query < 1))
    return violate(why,
                   "expected positive block sizes but got " + llvm::Twine(key < 1 ? key : *query));
  // cover_c2
  return SetType::get(set.getContext(), {set.getAxes().head, query.value_or(1), key, false});
}

FailureOr<SetType> skim::ir::inferCombination(ArrayRef<Type> sets, RuleViolation &why) {
  // and_c1 or_c1
  if (sets.empty())
    return violate(why, "expected at least one set");
  // and_c2 or_c2
  Axes axes = getAxes(sets.front());
  for (Type type : sets.drop_front())
    axes = refineAxes(axes, getAxes(type));
  return SetType::get(sets.front().getContext(), axes);
}

FailureOr<SetType> skim::ir::inferMatch(MapType selector, ArrayRef<int64_t> labels,
                                        ArrayRef<Type> arms, Type otherwise, RuleViolation &why) {
  // match_c1
  if (arms.empty() || labels.size() != arms.size())
    return violate(why, "expected one label for each arm, and at least one, but got " +
                            llvm::Twine(labels.size()) + " labels and " + llvm::Twine(arms.size()) +
                            " arms");
  // match_c2
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t label : labels)
    if (!seen.insert(label).second)
      return violate(why, "label " + llvm::Twine(label) + " is listed twice",
                     "labels of a 'match' are distinct");
  // match_c3
  Axes axes = Axes::none().withHead(selector.getAxes().head);
  for (Type type : arms)
    axes = refineAxes(axes, getAxes(type));
  if (otherwise)
    axes = refineAxes(axes, getAxes(otherwise));
  return SetType::get(selector.getContext(), axes);
}

FailureOr<SetType> skim::ir::inferInputList(SetType set, RuleViolation &why) {
  // input_list_c2
  if (set.getAxes().key == 0)
    return violate(why,
                   "expected a list with a key axis but got axes '" + toString(set.getAxes()) + "'",
                   "a list holds indices of key blocks, as in 'list[q / 64, k / 64]'");
  return set;
}

//===-- Clauses -------------------------------------------------------------------------------===//

LogicalResult skim::ir::checkLogit(MapType value, RuleViolation &why) {
  const Axes &axes = value.getAxes();
  // logit_c1
  if (axes.query > 1 || axes.key > 1)
    return violate(why,
                   "expected a logit for each pair but got blocks: axes '" + toString(axes) + "'",
                   "write an expression of 's', 'q' and 'k'");
  return success();
}

LogicalResult skim::ir::checkCompact(SetType set, RuleViolation &why) {
  const Axes &axes = set.getAxes();
  // compact_c1
  if (axes.key == 0 || axes.query != 0 || axes.diagonal)
    return violate(why, "expected a set over 'k' but got axes '" + toString(axes) + "'",
                   "tokens are gathered once for all queries: reduce over 'q' before you select");
  return success();
}
