// Random maps of vectors: operands and inputs, pooled, cast, projected, filtered.
#include "PatternWriter.h"

#include <algorithm>

namespace skim::numerics {

std::string PatternWriter::letOf(const std::string &text) {
  std::string let = draw.newName("m");
  addClause("let " + let + " = " + text);
  return let;
}

std::string PatternWriter::positionAxis(const Axes &axes) {
  return axes.key ? keyAxis(axes.key) : queryAxis(axes.query);
}

std::string PatternWriter::castVectors(const std::string &vectors) {
  std::string name = random.pick<std::string>({"bf16(", "fp8(", "fp8(", "int8(", "int4("});
  bool isScaled = name == "fp8(" && random.chance(0.3);
  return join({name, vectors, isScaled ? ", scale: " + f32Parameter(0.5) : "", ")"});
}

/// Joins neighbouring vectors; sometimes the query heads of a group as well.
PatternWriter::Map PatternWriter::poolVectors(Map map) {
  int64_t &block = map.axes.key ? map.axes.key : map.axes.query;
  block = block == 1 ? std::max<int64_t>(this->block(), 2) : block * random.pick<int64_t>({2, 4});
  bool joinsGroup = map.axes.head == Axes::Head::Head && random.chance(0.15);
  bool isShort = !joinsGroup && random.chance(0.4);
  std::string kind = random.chance(0.7) ? "mean("
                     : isShort ? random.pick<std::string>({"sum(", "var("})
                               : random.pick<std::string>({"sum(", "max(", "min(", "var("});
  if (joinsGroup)
    map.axes.head = Axes::Head::KvHead;
  map.text = isShort ? join({kind, map.text, ", ", blockSize(block), ")"})
                     : join({kind, map.text, ", into: ", positionAxis(map.axes),
                             joinsGroup ? ", over: group)" : ")"});
  return map;
}

/// A set that is constant on the cells of these axes, and has no others.
std::string PatternWriter::filterOver(const Axes &axes) {
  switch (random.between(0, 4)) {
  case 0:
    if (axes.key == 1)
      return "k % 3 != 1";
    [[fallthrough]];
  case 1:
    if (axes.key || axes.query)
      return join({positionAxis(axes), random.pick<std::string>({" >= ", " != "}), "1"});
    [[fallthrough]];
  case 2:
    if (axes.head == Axes::Head::Head)
      return "head % 3 != 1";
    [[fallthrough]];
  case 3:
    return inputOver(InputElement::Bool, axes, false);
  default:
    return join({inputOver(InputElement::F32, axes, false), comparison(true), "0.25"});
  }
}

PatternWriter::Map PatternWriter::changeVectors(Map map) {
  switch (random.between(0, 13)) {
  case 0:
  case 1:
  case 2:
  case 3:
    return poolVectors(map);
  case 4:
  case 5:
  case 6:
    map.text = castVectors(map.text);
    break;
  case 7:
    map.text = join({"(", map.text, random.pick<std::string>({" * 0.5)", " / 3.0)", " + 0.25)"})});
    break;
  case 8: {
    Axes axes = map.axes;
    axes.head = Axes::Head::None;
    map.text = join({"(", map.text, " * ", inputOver(InputElement::F32, axes, true), ")"});
    break;
  }
  case 9: {
    std::string let = letOf(map.text);
    map.text = join({"(", let, " - 0.75 * mean(", let, ", over: ", positionAxis(map.axes), "))"});
    break;
  }
  case 10:
    map.text = join({"(", map.text, " where ", filterOver(map.axes), ")"});
    break;
  case 11:
    map.text = join({random.pick<std::string>({"relu(", "abs(", "tanh(", "exp("}), map.text, ")"});
    break;
  case 12:
    if (map.axes.key) {
      map.text = join({"smooth(", map.text, random.pick<std::string>({", 3)", ", 5)"})});
      break;
    }
    [[fallthrough]];
  default:
    map.text = join({random.pick<std::string>({"max(", "min("}), map.text, ", 0.5)"});
    break;
  }
  return map;
}

PatternWriter::Map PatternWriter::vectors(bool isQuery) {
  const reference::Problem &problem = draw.result.problem;
  Map map{isQuery ? "Q" : "K", {}};
  map.axes.head = isQuery ? Axes::Head::Head : Axes::Head::KvHead;
  (isQuery ? map.axes.query : map.axes.key) = 1;
  if (isQuery && random.chance(0.2)) {
    map.text = "last(Q, " + indexParameter(1, 80) + ")";
  } else if (!isQuery && problem.v.dim == problem.q.dim && random.chance(0.05)) {
    map.text = "V";
  } else if (random.chance(0.08)) {
    (isQuery ? map.axes.query : map.axes.key) = std::max<int64_t>(block(), 16);
    map.axes.head = random.pick({Axes::Head::None, Axes::Head::KvHead});
    map.text = addInput(InputElement::Vec, map.axes, IndexRange::Positions, problem.q.dim);
  }
  for (int64_t steps = random.pick<int64_t>({0, 1, 1, 2, 2, 3}); steps > 0; --steps)
    map = changeVectors(map);
  return map;
}

/// Projects to fewer dimensions, by one weight or one a head.
PatternWriter::Map PatternWriter::project(Map map, int64_t out) {
  std::string weight = draw.newName("x");
  bool perHead = random.chance(0.3);
  addClause("input " + weight + (perHead ? ": vec[head]" : ": vec"));
  drawWeight(draw.result, random, weight, perHead, out, draw.result.problem.q.dim);
  if (perHead)
    map.axes.head = Axes::Head::Head;
  map.text = "linear(" + map.text + ", " + weight + ")";
  return map;
}

} // namespace skim::numerics
