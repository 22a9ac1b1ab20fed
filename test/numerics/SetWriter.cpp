// Random sets that are affine or come from inputs.
#include "PatternWriter.h"

#include <algorithm>

namespace skim::numerics {

constexpr int maxLeaves = 7;

int64_t PatternWriter::block() {
  return random.chance(0.15) ? random.pick<int64_t>({1, 3, 7, 24, 48, 100})
                             : random.pick<int64_t>({16, 32, 64, 128});
}

std::string PatternWriter::keyAxis(int64_t block) {
  return block == 1 ? "k" : "k / " + blockSize(block);
}

std::string PatternWriter::queryAxis(int64_t block) {
  return block == 1 ? "q" : "q / " + blockSize(block);
}

std::string PatternWriter::comparison(bool ordered) {
  return ordered ? random.pick<std::string>({" < ", " <= ", " > ", " >= "})
                 : random.pick<std::string>({" < ", " <= ", " > ", " >= ", " == ", " != "});
}

PatternWriter::Axes PatternWriter::drawAxes() {
  Axes axes;
  axes.head = random.pick({Axes::Head::None, Axes::Head::KvHead, Axes::Head::Head});
  if (!draw.noncausal && random.chance(0.15)) {
    axes.diagonal = true;
    return axes;
  }
  if (random.chance(0.6))
    axes.query = random.chance(0.3) ? 1 : block();
  if (axes.query == 0 || random.chance(0.8))
    axes.key = random.chance(0.3) ? 1 : block();
  if (isLarge(axes))
    axes.query = 64;
  return axes;
}

/// Whether an input over these axes would take more than a test should.
bool PatternWriter::isLarge(const Axes &axes) const {
  const reference::Problem &problem = draw.result.problem;
  int64_t longest = 0, requests = problem.kvLens.size();
  for (int64_t length : problem.kvLens)
    longest = std::max(longest, length + 40);
  int64_t rows = axes.query ? longest / axes.query + 1 : 1,
          keys = axes.key ? longest / axes.key + 1 : 1;
  return requests * problem.q.heads * rows * keys > 2'000'000;
}

std::string PatternWriter::inputOver(InputElement element, Axes axes, bool allAxes) {
  if (!allAxes) {
    if (random.chance(0.4))
      axes.query = 0;
    if (random.chance(0.4)) {
      axes.key = 0;
      axes.diagonal = false;
    }
  }
  if (axes.head == Axes::Head::Head && random.chance(0.3))
    axes.head = Axes::Head::KvHead;
  if (random.chance(0.4))
    axes.head = Axes::Head::None;
  return addInput(element, axes);
}

std::string PatternWriter::indexMap(const Axes &axes, int depth) {
  if (depth == 0 || random.chance(0.3)) {
    switch (random.between(0, 6)) {
    case 0:
      return indexParameter(0, 64);
    case 1:
      return random.pick<std::string>({"kv_len", "q_len", "layer"});
    case 2:
      if (axes.head == Axes::Head::Head)
        return random.pick<std::string>({"head", "kv_head"});
      [[fallthrough]];
    case 3:
      if (axes.query)
        return axes.query == 1 ? "q" : "(" + queryAxis(axes.query) + ")";
      [[fallthrough]];
    case 4:
      if (axes.key)
        return axes.key == 1 ? "k" : "(" + keyAxis(axes.key) + ")";
      [[fallthrough]];
    default:
      return inputOver(InputElement::Index, axes, false);
    }
  }
  std::string lhs = indexMap(axes, depth - 1);
  switch (random.between(0, 5)) {
  case 0:
  case 1:
    return join({"(", lhs, " + ", indexMap(axes, depth - 1), ")"});
  case 2:
    return join({"(", lhs, " - ", indexMap(axes, depth - 1), ")"});
  case 3:
    return join({"(", lhs, " * ", std::to_string(random.between(2, 3)), ")"});
  case 4:
    // Not `k / 2` itself, which is a block index and meets only its like.
    return join({"((", lhs, " + 1) / ", std::to_string(random.between(2, 9)), ")"});
  default:
    return join({"(", lhs, " % ", std::to_string(random.between(2, 9)), ")"});
  }
}

/// `exact`: no functions whose last bit differs between implementations.
std::string PatternWriter::f32Map(const Axes &axes, int depth, bool exact) {
  if (depth == 0)
    return inputOver(InputElement::F32, axes, false);
  std::string lhs = f32Map(axes, depth - 1, exact);
  switch (random.between(0, exact ? 8 : 10)) {
  case 0:
    return join({"(", lhs, " + ", f32Map(axes, depth - 1, exact), ")"});
  case 1:
    return join({"(", lhs, " - ", f32Map(axes, depth - 1, exact), ")"});
  case 2:
    return join({"(", lhs, " * ", f32Parameter(random.pick({0.5, -2.0, 1.5, 0.3})), ")"});
  case 3:
    return join({"(", lhs, " / ", constant(random.pick({2.0, 3.0, -0.7})), ")"});
  case 4:
    return join({random.pick<std::string>({"max(", "min("}), lhs, ", ", f32Parameter(0.5), ")"});
  case 5:
    return join({random.pick<std::string>({"abs(", "relu("}), lhs, ")"});
  case 6:
    return join({"(-", lhs, ")"});
  case 7:
    return join({"(", lhs, " + ", inputOver(InputElement::Index, axes, false), " * 0.125)"});
  case 8:
    return lhs;
  case 9:
    return join({random.pick<std::string>({"exp(", "tanh("}), lhs, ")"});
  default:
    return join({"log(abs(", lhs, ") + 0.5)"});
  }
}

std::string PatternWriter::affineSet() {
  std::string b = std::to_string(block()), size = std::to_string(random.between(2, 9));
  switch (random.between(0, 13)) {
  case 0:
    return "k < " + indexParameter(0, 80);
  case 1:
  case 2:
    return "q - k < " + indexParameter(1, 200);
  case 3:
    return join({"(q - k) % ", size, " == ", std::to_string(random.between(0, 1))});
  case 4:
    return join({"k % ", std::to_string(random.between(20, 90)), " < ", indexParameter(1, 9)});
  case 5:
    return join({"q / ", b, " == k / ", b});
  case 6:
    return join({"q / ", b, " - k / ", b, " < ", indexParameter(0, 3)});
  case 7:
    return "k >= kv_len - " + indexParameter(0, 100);
  case 8:
    return "k < kv_len - q_len";
  case 9:
    return join(
        {"(q - k >= ", indexParameter(0, 60), " and q - k < ", indexParameter(60, 300), ")"});
  case 10:
    return "k / " + b + " % " + size + " == " + (draw.noncausal ? "0" : "q / " + b + " % " + size);
  case 11:
    return join({"2 * k", comparison(true), "q + ", indexParameter(-40, 40)});
  case 12:
    return "q >= " + indexParameter(0, 300);
  default:
    return join({"q - k < ", indexParameter(1, 20), " + 16 * ",
                 random.pick<std::string>({"head", "kv_head", "layer"})});
  }
}

std::string PatternWriter::uniformSet() {
  switch (random.between(0, 5)) {
  case 0:
    return "true";
  case 1:
    return "false";
  case 2:
    return addParameter("bool", random.chance(0.5), false);
  case 3:
    return "head % 2 == 0";
  case 4:
    return join({f32Parameter(0.5), comparison(true), constant(0.75)});
  default:
    return join({"kv_len", comparison(false), indexParameter(0, 300)});
  }
}

std::string PatternWriter::boolSet() { return addInput(InputElement::Bool, drawAxes()); }

std::string PatternWriter::listSet() {
  Axes axes = drawAxes();
  axes.diagonal = false;
  if (axes.key == 0)
    axes.key = block();
  return addInput(InputElement::List, axes);
}

std::string PatternWriter::indexSet() {
  if (random.chance(0.5)) {
    // Positions beside an index map: documents, starts and ends, a window for each row.
    Axes rows{random.pick({Axes::Head::None, Axes::Head::Head}), 1, 0, false};
    Axes keys{Axes::Head::None, 0, 1, false};
    switch (random.between(0, 3)) {
    case 0:
      return join({"k", comparison(true), addInput(InputElement::Index, rows)});
    case 1:
      return "q - k < " + addInput(InputElement::Index, rows);
    case 2:
      return join({addInput(InputElement::Index, rows, IndexRange::Small),
                   random.pick<std::string>({" == ", " >= "}),
                   addInput(InputElement::Index, keys, IndexRange::Small)});
    default:
      return join({"q", comparison(true), addInput(InputElement::Index, keys)});
    }
  }
  Axes axes = drawAxes();
  return join({indexMap(axes, 2), comparison(false), indexMap(axes, 1)});
}

std::string PatternWriter::f32Set() {
  Axes axes = drawAxes();
  if (random.chance(0.2)) // Thresholds that no value of the inexact functions meets.
    return join(
        {f32Map(axes, 2, false), comparison(true), constant(random.pick({0.31371, 1.37317}))});
  std::string lhs = f32Map(axes, static_cast<int>(random.between(0, 2)), true);
  bool isThreshold = random.chance(0.6);
  return join({lhs, comparison(false),
               isThreshold ? f32Parameter(random.pick({0.0, 0.5, -1.0})) : f32Map(axes, 1, true)});
}

std::string PatternWriter::selectionOf(const std::string &map) {
  if (random.chance(0.4))
    return join({"top_p(", map, ", ", f32Parameter(random.pick({0.5, 0.9, 0.3, 1.0}), 1), ")"});
  bool isShare = random.chance(0.3);
  return join({"top_k(", map, ", ",
               isShare ? f32Parameter(0.125) + " * kv_len" : indexParameter(0, 20), ")"});
}

std::string PatternWriter::selection() {
  Axes axes = drawAxes();
  if (axes.key == 0 && !axes.diagonal)
    axes.key = block();
  // One input has all axes of positions, so there is one to select along.
  std::string map = inputOver(InputElement::F32, axes, true);
  if (random.chance(0.4))
    map = join({map, random.pick<std::string>({" + ", " - "}), f32Map(axes, 1, true)});
  return selectionOf(map);
}

std::string PatternWriter::cover(int depth) {
  // Small blocks are computed row by row, in programs over rows that they need not divide.
  int64_t size =
      random.chance(0.2) ? random.pick<int64_t>({2, 3, 4, 8}) : std::max<int64_t>(block(), 2);
  std::string rows = random.chance(0.6) ? queryAxis(size) + ", " : "";
  return join({"cover(", rows, keyAxis(std::max<int64_t>(block(), 2)), ", ", set(depth), ")"});
}

std::string PatternWriter::match(int depth) {
  std::string selector = "head % 3";
  bool isTotal = false; // Whether labels 0 to 2 are all that the selector can be.
  switch (random.between(0, 3)) {
  case 0:
    isTotal = true;
    break;
  case 1:
    selector = "layer";
    break;
  default:
    Axes axes{random.pick({Axes::Head::None, Axes::Head::KvHead, Axes::Head::Head}), 0, 0, false};
    selector = addInput(InputElement::Index, axes, IndexRange::Labels);
    isTotal = true; // What is not listed keeps nothing.
    break;
  }
  std::string arms = join({"0: ", set(depth), "  1: ", set(depth)});
  arms += isTotal && random.chance(0.5) ? "  2: " : "  _: ";
  return join({"match ", selector, " { ", arms, set(depth), " }"});
}

std::string PatternWriter::call() {
  if (draw.callees.empty())
    return affineSet();
  const Callee &callee = random.pick(draw.callees);
  std::string arguments;
  for (const std::string &parameter : callee.indexParameters)
    if (random.chance(0.5))
      arguments += (arguments.empty() ? "" : ", ") + parameter + ": " + indexParameter(0, 100);
  return join({callee.name, "(", arguments, ")"});
}

std::string PatternWriter::leaf() {
  ++leaves;
  if (draw.result.profile == Profile::whole && random.chance(0.45))
    return scoreSet();
  switch (random.between(0, 11)) {
  case 0:
  case 1:
  case 2:
  case 3:
    return affineSet();
  case 4:
    return uniformSet();
  case 5:
  case 6:
    return boolSet();
  case 7:
    return listSet();
  case 8:
    return indexSet();
  case 9:
    return f32Set();
  case 10:
    return selection();
  default:
    return call();
  }
}

std::string PatternWriter::set(int depth) {
  if (depth == 0 || leaves >= maxLeaves)
    return leaf();
  switch (random.between(0, 9)) {
  case 0:
  case 1:
  case 2:
    return join({"(", set(depth - 1), " or ", set(depth - 1), ")"});
  case 3:
  case 4:
    return join({"(", set(depth - 1), " and ", set(depth - 1), ")"});
  case 5:
    return join({"not (", set(depth - 1), ")"});
  case 6:
    return cover(depth - 1);
  case 7:
    return match(depth - 1);
  case 8: {
    std::string value = set(depth - 1);
    std::string let = draw.newName("a");
    addClause("let " + let + " = " + value);
    return let;
  }
  default:
    return leaf();
  }
}

} // namespace skim::numerics
