// The pattern builder: computations on maps.
#include "frontends/cpp/Builder.h"
#include "frontends/cpp/Describe.h"

using namespace mlir;
using namespace skim;
using namespace skim::ir;

static std::string getName(const Axis &axis) {
  switch (axis.kind) {
  case Axis::Kind::Query:
    return queryAxisName(axis.block);
  case Axis::Kind::Key:
    return keyAxisName(axis.block);
  case Axis::Kind::Diagonal:
    return "q - k";
  case Axis::Kind::Group:
    return "group";
  case Axis::Kind::Heads:
    return "heads";
  }
  return "";
}

/// `vec` or an error.
MapType PatternBuilder::asVectors(Location loc, Value value, StringRef function) {
  MapType map = asMap(loc, value, "vectors");
  if (!map || map.isVec())
    return map;
  fail(loc, "expected vectors in '" + function + "' but got " + describe(value),
       "'Q', 'K', 'V', inputs of type 'vec' and what is computed from them are vectors");
  return {};
}

Value PatternBuilder::last(Location loc, Value map, Value count) {
  if (!map || !count)
    return {};
  MapType type = asMap(loc, map, "a map");
  count = toUniform(loc, count, Element::Index, "a number of rows");
  if (!type || !count)
    return {};
  RuleViolation why;
  FailureOr<MapType> result = inferLast(type, mlir::cast<MapType>(count.getType()), why);
  if (failed(result))
    return fail(loc, why);
  return LastOp::create(builder, loc, *result, map, count);
}

Value PatternBuilder::dot(Location loc, Value lhs, Value rhs, Value scale, Visibility visible) {
  if (!lhs || !rhs)
    return {};
  MapType lhsType = asVectors(loc, lhs, "dot");
  MapType rhsType = asVectors(loc, rhs, "dot");
  Value factor = toUniform(loc, scale, Element::F32, "a scale");
  if (!lhsType || !rhsType || (scale && !factor))
    return {};
  RuleViolation why;
  FailureOr<MapType> result = inferDot(lhsType, rhsType, factor ? factor.getType() : Type(), why);
  if (failed(result))
    return fail(loc, why);
  return DotOp::create(builder, loc, *result, lhs, rhs, factor, visible);
}

/// Vectors as they are, numbers as f32.
Value PatternBuilder::toRealOrVectors(Location loc, Value value, StringRef what) {
  MapType type = asMap(loc, value, what);
  if (!type || type.isVec())
    return type ? value : Value();
  return toReal(loc, value, what);
}

Value PatternBuilder::cast(Location loc, CastKind kind, Value map, Value scale) {
  map = toRealOrVectors(loc, map, "vectors or numbers");
  Value factor = toUniform(loc, scale, Element::F32, "a scale");
  if (!map || (scale && !factor))
    return {};
  RuleViolation why;
  FailureOr<MapType> result =
      inferCast(kind, mlir::cast<MapType>(map.getType()), factor ? factor.getType() : Type(), why);
  if (failed(result))
    return fail(loc, why);
  return CastOp::create(builder, loc, *result, kind, map, factor);
}

Value PatternBuilder::linear(Location loc, Value map, Value weight) {
  if (!map || !weight)
    return {};
  MapType type = asVectors(loc, map, "linear");
  MapType weightType = asVectors(loc, weight, "linear");
  if (!type || !weightType)
    return {};
  if (!weight.getDefiningOp<InputOp>() || !weightType.isUniform())
    return fail(
        loc, "expected the weight to be an input without position axes but got " + describe(weight),
        "declare it as in 'input weight: vec'");
  RuleViolation why;
  FailureOr<MapType> result = inferLinear(type, weightType, why);
  if (failed(result))
    return fail(loc, why);
  return LinearOp::create(builder, loc, *result, map, weight);
}

/// Whether a map has exactly this axis; reports otherwise.
bool PatternBuilder::checkAxis(Location loc, const Axes &axes, const Axis &axis) {
  bool isQuery = axis.kind == Axis::Kind::Query;
  if (isQuery || axis.kind == Axis::Kind::Key) {
    int64_t block = isQuery ? axes.query : axes.key;
    if (block == axis.block)
      return true;
    if (block != 0) {
      std::string name = isQuery ? queryAxisName(block) : keyAxisName(block);
      fail(loc, "the map has the axis '" + name + "', not '" + getName(axis) + "'",
           "write 'over: " + name + "'");
      return false;
    }
  } else if (axis.kind == Axis::Kind::Diagonal ? axes.diagonal
             : axis.kind == Axis::Kind::Group  ? axes.head == HeadAxis::Head
                                               : axes.head != HeadAxis::None) {
    return true;
  }
  if (axis.kind == Axis::Kind::Group || axis.kind == Axis::Kind::Heads)
    fail(loc, "the map has no query heads to join: its axes are '" + toString(axes) + "'",
         "drop 'over: " + getName(axis) + "'");
  else
    fail(loc, "the map has no axis '" + getName(axis) + "': its axes are '" + toString(axes) + "'");
  return false;
}

Value PatternBuilder::softmax(Location loc, Value map, Axis over) {
  map = toReal(loc, map, "a map of f32");
  if (!map)
    return {};
  auto type = mlir::cast<MapType>(map.getType());
  if (over.kind == Axis::Kind::Group || over.kind == Axis::Kind::Heads)
    return fail(loc, "expected a position axis but got '" + getName(over) + "'", "write 'over: k'");
  if (!checkAxis(loc, type.getAxes(), over))
    return {};
  PositionAxis axis = over.kind == Axis::Kind::Query ? PositionAxis::Query
                      : over.kind == Axis::Kind::Key ? PositionAxis::Key
                                                     : PositionAxis::Diagonal;
  return SoftmaxOp::create(builder, loc, type, map, axis);
}

Value PatternBuilder::smooth(Location loc, Value map, Value width) {
  if (!map || !width)
    return {};
  map = toRealOrVectors(loc, map, "a map of f32 or vectors");
  width = toUniform(loc, width, Element::Index, "a number of cells");
  if (!map || !width)
    return {};
  RuleViolation why;
  FailureOr<MapType> result =
      inferSmooth(mlir::cast<MapType>(map.getType()), mlir::cast<MapType>(width.getType()),
                  getConstantIndex(width), why);
  if (failed(result))
    return fail(loc, why);
  return SmoothOp::create(builder, loc, *result, map, width);
}

/// The axes that `over` and `into` leave; nothing, after a report, when they contradict the map or
/// each other.
std::optional<Axes> PatternBuilder::getReducedAxes(Location loc, const Axes &axes, AxisList over,
                                                   AxisList into) {
  Axes result = axes;
  // What became of the query and the key axis.
  std::string queryUse;
  std::string keyUse;
  auto use = [&](std::string &known, std::string name) {
    if (!known.empty())
      fail(loc, "'" + known + "' and '" + name + "' both reduce the same axis");
    bool isFirst = known.empty();
    known = std::move(name);
    return isFirst;
  };
  for (const Axis &axis : over) {
    if (!checkAxis(loc, axes, axis))
      return std::nullopt;
    std::string name = "over: " + getName(axis);
    switch (axis.kind) {
    case Axis::Kind::Query:
      if (!use(queryUse, name))
        return std::nullopt;
      result.query = 0;
      break;
    case Axis::Kind::Key:
      if (!use(keyUse, name))
        return std::nullopt;
      result.key = 0;
      break;
    case Axis::Kind::Diagonal:
      if (!use(keyUse, name))
        return std::nullopt;
      result.diagonal = false;
      break;
    case Axis::Kind::Group:
      result.head = std::min(result.head, HeadAxis::KvHead);
      break;
    case Axis::Kind::Heads:
      result.head = HeadAxis::None;
      break;
    }
  }
  bool gathers = false;
  for (const Axis &axis : into) {
    std::string name = "into: " + getName(axis);
    switch (axis.kind) {
    case Axis::Kind::Query:
      if (!use(queryUse, name))
        return std::nullopt;
      result.query = axis.block;
      break;
    case Axis::Kind::Key:
      if (!use(keyUse, name))
        return std::nullopt;
      result.key = axis.block;
      break;
    case Axis::Kind::Diagonal:
      if (!use(keyUse, name))
        return std::nullopt;
      gathers = true;
      break;
    case Axis::Kind::Group:
    case Axis::Kind::Heads:
      fail(loc, "cannot reduce into '" + getName(axis) + "'",
           "write 'over: " + getName(axis) + "'");
      return std::nullopt;
    }
  }
  if (!gathers)
    return result;
  if (llvm::StringRef(queryUse).starts_with("over")) {
    fail(loc, "'" + queryUse + "' and 'into: q - k' both reduce the same axis");
    return std::nullopt;
  }
  // Gathered diagonals take the place of both axes, unless rows are told apart in blocks.
  result.query = queryUse.empty() ? 0 : result.query;
  result.key = 0;
  result.diagonal = true;
  return result;
}

Value PatternBuilder::reduce(Location loc, ReduceKind kind, Value map, AxisList over,
                             AxisList into) {
  if (!map)
    return {};
  MapType type = asMap(loc, map, "a map");
  if (!type)
    return {};
  std::string function = stringifyReduceKind(kind).str();
  if (type.isBool())
    return fail(loc, "cannot take the " + function + " of truth values",
                "round a set up to blocks with 'cover(q / 64, k / 64, ...)'");
  if (over.empty() && into.empty())
    return fail(loc, "expected an axis to reduce in '" + function + "'",
                "write 'over: q' to remove an axis, 'into: k / 128' to coarsen one");
  for (const Axis &axis : into)
    if (axis.block < 1)
      return fail(loc, "expected a positive block size but got " + llvm::Twine(axis.block));
  std::optional<Axes> axes = getReducedAxes(loc, type.getAxes(), over, into);
  if (!axes)
    return {};
  if (type.isIndex() && (kind == ReduceKind::Mean || kind == ReduceKind::Var))
    map = builder.createOrFold<ConvertOp>(loc, map);
  RuleViolation why;
  FailureOr<MapType> result = inferReduce(kind, mlir::cast<MapType>(map.getType()), *axes, why);
  if (failed(result))
    return fail(loc, why);
  return ReduceOp::create(builder, loc, *result, kind, map);
}

Value PatternBuilder::where(Location loc, Value map, Value set) {
  set = toSet(loc, set);
  if (!map || !set)
    return {};
  MapType type = asMap(loc, map, "a map");
  if (!type)
    return {};
  RuleViolation why;
  FailureOr<MapType> result = inferWhere(type, mlir::cast<SetType>(set.getType()), why);
  if (failed(result))
    return fail(loc, why);
  return WhereOp::create(builder, loc, *result, map, set);
}
