// Random sets that score Q and K.
#include "PatternWriter.h"

#include <algorithm>

namespace skim::numerics {

std::string PatternWriter::castVectors(const std::string &vectors) {
  if (random.chance(0.6))
    return vectors;
  return join({random.pick<std::string>({"bf16(", "fp8(", "int8(", "int4("}), vectors, ")"});
}

std::string PatternWriter::vectors(bool isQuery, int64_t &block) {
  block = 1;
  std::string operand = isQuery ? "Q" : "K";
  if (isQuery && random.chance(0.2))
    operand = "last(Q, " + indexParameter(1, 80) + ")";
  operand = castVectors(operand);
  if (random.chance(0.5)) {
    block = std::max<int64_t>(this->block(), 2);
    std::string axis = isQuery ? "into: " + queryAxis(block) : blockSize(block);
    operand = castVectors("mean(" + operand + ", " + axis + ")");
  }
  return operand;
}

std::string PatternWriter::axisOf(const Map &map) const {
  if (map.axes.diagonal)
    return "q - k";
  return map.axes.key == 1 ? "k" : "k / " + std::to_string(map.axes.key);
}

PatternWriter::Map PatternWriter::score() {
  Map map;
  map.axes.head = Axes::Head::Head;
  int64_t dim = draw.result.problem.q.dim;
  std::string query = vectors(true, map.axes.query), key = vectors(false, map.axes.key);
  if (random.chance(0.1)) {
    std::string weight = draw.newName("x");
    addClause("input " + weight + ": vec");
    drawWeight(draw.result, random, weight, 16, dim);
    query = "linear(" + query + ", " + weight + ")";
    key = "linear(" + key + ", " + weight + ")";
  } else if (random.chance(0.1)) {
    map.axes.key = block();
    Axes axes{Axes::Head::KvHead, 0, map.axes.key, false};
    key = addInput(InputElement::Vec, axes, IndexRange::Positions, dim);
  }
  std::string options = random.chance(0.15) ? ", scale: 0.125" : "";
  if (random.chance(0.15))
    options += ", visible: any";
  map.text = "dot(" + query + ", " + key + options + ")";
  switch (random.between(0, 5)) {
  case 0:
    map.text = "softmax(" + map.text + ", over: " + axisOf(map) + ")";
    break;
  case 1:
    map.text = "exp(" + map.text + ")";
    break;
  case 2:
    map.text = "relu(" + map.text + ")";
    break;
  case 3:
    map.text = "(" + map.text + " where " + keyAxis(map.axes.key) + " >= 1)";
    break;
  case 4:
    map.text = "smooth(" + map.text + ", " + random.pick<std::string>({"3", "5", "1"}) + ")";
    break;
  default:
    break;
  }
  return map;
}

PatternWriter::Map PatternWriter::reduceScore(Map map) {
  Axes &axes = map.axes;
  std::string over, into;
  auto add = [](std::string &list, const std::string &axis) {
    list += (list.empty() ? "" : ", ") + axis;
  };
  if (axes.query == 1 && axes.key == 1 && random.chance(0.3)) {
    add(into, "q - k");
    axes.query = axes.key = 0;
    axes.diagonal = true;
  } else {
    if (random.chance(0.35)) {
      add(over, queryAxis(axes.query));
      axes.query = 0;
    } else if (random.chance(0.4)) {
      axes.query *= random.pick<int64_t>({2, 16});
      add(into, queryAxis(axes.query));
    }
    if (random.chance(0.4)) {
      axes.key *= random.pick<int64_t>({2, 16});
      add(into, keyAxis(axes.key));
    }
  }
  if (random.chance(0.2)) {
    add(over, "group");
    axes.head = Axes::Head::KvHead;
  } else if (random.chance(0.1)) {
    add(over, "heads");
    axes.head = Axes::Head::None;
  }
  if (over.empty() && into.empty())
    return map;
  auto list = [](const std::string &axes) {
    return axes.find(',') == std::string::npos ? axes : "(" + axes + ")";
  };
  map.text = random.pick<std::string>({"sum(", "mean(", "max(", "min(", "var("}) + map.text +
             (into.empty() ? "" : ", into: " + list(into)) +
             (over.empty() ? "" : ", over: " + list(over)) + ")";
  return map;
}

std::string PatternWriter::scoreSet() {
  Map map = score();
  if (random.chance(0.7))
    map = reduceScore(map);
  std::string let = draw.newName("m");
  addClause("let " + let + " = " + map.text);
  map.text = let;
  switch (random.between(0, 3)) {
  case 0:
    return join({let, " >= ", f32Parameter(0.25), " * max(", let, ", over: ", axisOf(map), ")"});
  case 1:
    return join({let, comparison(true), "mean(", let, ", over: ", axisOf(map), ")"});
  case 2:
    if (draw.noncausal)
      map.axes.diagonal = false; // No input has such an axis then.
    if (isLarge(map.axes))
      map.axes.query = 0;
    return join({let, comparison(true), "0.0517 + 0.125 * ",
                 inputOver(InputElement::F32, map.axes, false)});
  default:
    return selectionOf(let);
  }
}

std::string PatternWriter::compactClause() {
  Axes keys{random.pick({Axes::Head::None, Axes::Head::KvHead}), 0, 1, false};
  if (random.chance(0.5))
    return selectionOf(addInput(InputElement::F32, keys));
  return "top_k(sum(exp(dot(last(Q, 4), K)), over: (q, heads)), " + indexParameter(0, 50) + ")";
}

} // namespace skim::numerics
