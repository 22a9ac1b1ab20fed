// Random sets that score Q and K.
#include "PatternWriter.h"

#include <algorithm>

namespace skim::numerics {

std::string PatternWriter::axisOf(const Map &map) const {
  if (map.axes.diagonal)
    return "q - k";
  return map.axes.key == 1 ? "k" : "k / " + std::to_string(map.axes.key);
}

PatternWriter::Map PatternWriter::product() {
  Map query = vectors(true), key = vectors(false);
  bool isNorm = random.chance(0.04); // Keys with themselves.
  if (isNorm) {
    std::string let = letOf(key.text);
    return {"dot(" + let + ", " + let + ")", key.axes};
  }
  if (random.chance(0.08) && hasFewPairs() && query.axes.query == 1 && key.axes.key == 1)
    return productOfPairs(query, key);
  if (random.chance(0.15)) {
    int64_t out = random.pick<int64_t>({8, 16});
    query = project(query, out);
    key = project(key, out);
  } else if (random.chance(0.08)) {
    query.text = join({"mean(", query.text, ", over: ", queryAxis(query.axes.query), ")"});
    query.axes.query = 0;
  }
  Map map;
  map.axes = {std::max(query.axes.head, key.axes.head), query.axes.query, key.axes.key, false};
  std::string options;
  if (random.chance(0.2)) {
    bool perHead = map.axes.head == Axes::Head::Head && random.chance(0.3);
    options = ", scale: " + (perHead ? addParameter("f32", 0.25, true) : constant(0.125));
  }
  if (random.chance(0.15))
    options += ", visible: any";
  map.text = join({"dot(", query.text, ", ", key.text, options, ")"});
  return map;
}

/// Whether a vector for each row and key takes no longer than a test should.
bool PatternWriter::hasFewPairs() const {
  const reference::Problem &problem = draw.result.problem;
  int64_t pairs = 0;
  for (size_t i = 0; i != problem.kvLens.size(); ++i)
    pairs += (problem.cuSeqlensQ[i + 1] - problem.cuSeqlensQ[i]) * problem.kvLens[i];
  return pairs * problem.q.heads * problem.q.dim < 20'000'000;
}

/// Products of vectors that each pair has, joined along keys or over heads, or not.
PatternWriter::Map PatternWriter::productOfPairs(const Map &query, const Map &key) {
  std::string factor = letOf(key.text);
  Axes::Head head = std::max(query.axes.head, key.axes.head);
  std::string pairs =
      join({"(", query.text, random.pick<std::string>({" - ", " * ", " + "}), factor, ")"});
  if (random.chance(0.3)) { // Vectors that scores weigh or leave out.
    std::string score = letOf(join({"dot(", query.text, ", ", factor, ")"}));
    pairs = join(
        {"(", pairs,
         random.pick<std::string>({" where top_k(" + score + ", 5)", " where " + score + " > 0.1",
                                   " * softmax(" + score + ", over: k)"}),
         ")"});
  }
  Map map{"", {head, 1, 1, false}};
  // The heads that are joined, as an axis.
  std::string heads;
  if (random.chance(0.4)) {
    bool isGroup = head == Axes::Head::Head && random.chance(0.6);
    heads = isGroup ? "group" : "heads";
    head = isGroup ? Axes::Head::KvHead : Axes::Head::None;
  }
  std::string overHeads = heads.empty() ? "" : ", over: " + heads;
  switch (random.between(0, 4)) {
  case 0: { // A distance between them.
    std::string let = letOf(heads.empty() ? pairs : join({"mean(", pairs, overHeads, ")"}));
    map.text = join({"dot(", let, ", ", let, ")"});
    map.axes.head = head;
    return map;
  }
  case 1:
    pairs = join({"smooth(", pairs, ", 3)"});
    if (!heads.empty())
      pairs = join({random.pick<std::string>({"sum(", "var("}), pairs, overHeads, ")"});
    break;
  case 2:
    pairs = castVectors(pairs);
    if (!heads.empty())
      pairs = join({random.pick<std::string>({"sum(", "max("}), pairs, overHeads, ")"});
    break;
  case 3: {
    map.axes.query = random.pick<int64_t>({1, 2, 4});
    map.axes.key = random.pick<int64_t>({2, 16});
    std::string kind = random.pick<std::string>({"sum(", "max(", "mean("});
    std::string into = keyAxis(map.axes.key);
    if (map.axes.query > 1)
      into = join({"(", queryAxis(map.axes.query), ", ", into, ")"});
    pairs = join({kind, pairs, ", into: ", into, overHeads, ")"});
    factor = join({"mean(", factor, ", into: ", keyAxis(map.axes.key), ")"});
    break;
  }
  default:
    pairs = join({random.pick<std::string>({"mean(", "min("}), pairs,
                  heads.empty() ? ", over: k)" : ", over: (k, " + heads + "))"});
    break;
  }
  map.axes.head = std::max(head, key.axes.head);
  map.text = join({"dot(", pairs, ", ", factor, ")"});
  return map;
}

/// Cell by cell, or along an axis; the axes stay.
PatternWriter::Map PatternWriter::transform(Map map) {
  const Axes &axes = map.axes;
  bool hasKeyLike = axes.key || axes.diagonal;
  switch (random.between(0, 13)) {
  case 0:
  case 1:
    if (hasKeyLike) {
      bool alongQueries = axes.query && random.chance(0.2);
      map.text = join({"softmax(", map.text,
                       ", over: ", alongQueries ? queryAxis(axes.query) : axisOf(map), ")"});
      break;
    }
    [[fallthrough]];
  case 2:
    map.text = "exp(" + map.text + ")";
    break;
  case 3:
    map.text = join({random.pick<std::string>({"relu(", "abs(", "tanh("}), map.text, ")"});
    break;
  case 4:
    map.text = "log(abs(" + map.text + ") + 0.5)";
    break;
  case 5:
    map.text = join({"(", map.text, " where ", filterOver(axes), ")"});
    break;
  case 6:
    if (axes.key) {
      map.text = join({"smooth(", map.text, ", ", random.pick<std::string>({"3", "5", "1"}), ")"});
      break;
    }
    [[fallthrough]];
  case 7:
    map.text =
        join({random.pick<std::string>({"max(", "min("}), map.text, ", ", f32Parameter(0.3), ")"});
    break;
  case 8:
    map.text = join({"(", map.text, random.pick<std::string>({" * 1.5)", " / 3.0)", " - 0.25)"})});
    break;
  case 9:
    if (!axes.diagonal && !isLarge(axes)) {
      map.text = join({"(", map.text, random.pick<std::string>({" + ", " * "}),
                       inputOver(InputElement::F32, axes, false), ")"});
      break;
    }
    [[fallthrough]];
  case 10:
    if (hasKeyLike) {
      std::string let = letOf(map.text);
      map.text = join({"(", let, random.pick<std::string>({" - 0.75 * max(", " - 0.75 * mean("}),
                       let, ", over: ", axisOf(map), "))"});
      break;
    }
    [[fallthrough]];
  case 11: {
    std::string let = letOf(map.text);
    map.text = join({"(", let, " * ", let, ")"});
    break;
  }
  case 12: {
    // Cells that a selection of their own decides.
    std::string let = letOf(map.text);
    map.text =
        join({"(", let, " where ",
              hasKeyLike && random.chance(0.5) ? "top_k(" + let + ", 5)" : let + " > 0.3", ")"});
    break;
  }
  default:
    map.text = join({random.pick<std::string>({"bf16(", "fp8("}), map.text, ")"});
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
  if (axes.query == 1 && axes.key == 1 && random.chance(0.35)) {
    // Diagonals, of all rows or of blocks of them.
    axes.query = random.chance(0.45) ? std::max<int64_t>(block(), 16) : 0;
    if (axes.query)
      add(into, queryAxis(axes.query));
    add(into, "q - k");
    axes.key = 0;
    axes.diagonal = true;
  } else {
    if (axes.query && random.chance(0.35)) {
      add(over, queryAxis(axes.query));
      axes.query = 0;
    } else if (axes.query && random.chance(0.4)) {
      axes.query *= random.pick<int64_t>({2, 16});
      add(into, queryAxis(axes.query));
    }
    if (axes.key && axes.query && random.chance(0.06)) {
      add(over, keyAxis(axes.key));
      axes.key = 0;
    } else if (axes.key && random.chance(0.4)) {
      axes.key *= random.pick<int64_t>({2, 16});
      add(into, keyAxis(axes.key));
    }
  }
  if (axes.head == Axes::Head::Head && random.chance(0.2)) {
    add(over, "group");
    axes.head = Axes::Head::KvHead;
  } else if (axes.head != Axes::Head::None && random.chance(0.1)) {
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

PatternWriter::Map PatternWriter::score() {
  Map map = product();
  for (int64_t steps = random.pick<int64_t>({0, 1, 1, 2}); steps > 0; --steps)
    map = transform(map);
  for (bool more = random.chance(0.7); more; more = random.chance(0.25)) {
    map = reduceScore(map);
    if (random.chance(0.2))
      map = transform(map);
  }
  return map;
}

std::string PatternWriter::scoreSet() {
  draw.result.scores = true;
  Map map = score();
  std::string let = letOf(map.text);
  map.text = let;
  Axes axes = map.axes;
  bool hasKeyLike = axes.key || axes.diagonal;
  switch (hasKeyLike ? random.between(0, 6) : 0) {
  case 0:
    if (axes.diagonal) // An input has such an axis alone, and only where all is causal.
      axes = {axes.head, 0, 0, !draw.noncausal};
    if (isLarge(axes))
      axes.query = 0;
    return join(
        {let, comparison(true), "0.0517 + 0.125 * ", inputOver(InputElement::F32, axes, false)});
  case 1:
    return join({let, " >= ", f32Parameter(0.25), " * max(", let, ", over: ", axisOf(map), ")"});
  case 2:
    // A row of one cell is its own mean: only a factor tells them apart on every target.
    return join({let, comparison(true), "0.9 * mean(", let, ", over: ", axisOf(map), ")"});
  case 3:
    if (axes.head == Axes::Head::Head) // A number of cells for each head.
      return join({"top_k(", let, ", 2.25 + ",
                   addInput(InputElement::F32, {Axes::Head::Head, 0, 0, false}), ")"});
    [[fallthrough]];
  default:
    return selectionOf(let);
  }
}

std::string PatternWriter::compactClause() {
  draw.result.scores = true;
  Axes keys{random.pick({Axes::Head::None, Axes::Head::KvHead}), 0, 1, false};
  if (random.chance(0.4))
    return selectionOf(addInput(InputElement::F32, keys));
  std::string rows = "dot(" + castVectors("last(Q, 4)") + ", K)";
  std::string columns =
      join({random.pick<std::string>({"sum(", "max("}), "softmax(", rows, ", over: k), over: (q, ",
            random.pick<std::string>({"heads", "group"}), "))"});
  return join({selectionOf(letOf(columns)), random.chance(0.5) ? " or k < 4" : ""});
}

} // namespace skim::numerics
