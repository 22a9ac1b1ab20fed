#include "PatternWriter.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace skim::numerics {

std::string join(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string &part : parts)
    text += part;
  return text;
}

std::string constant(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", std::abs(value));
  std::string number = text;
  if (number.find_first_of(".e") == std::string::npos)
    number += ".0";
  return value < 0 ? "(-" + number + ")" : number;
}

std::string PatternWriter::addParameter(const std::string &type, double value, bool perHead,
                                        double most) {
  std::string parameter = draw.newName("p");
  bool isIndex = type == "index";
  std::string text = isIndex ? std::to_string(static_cast<int64_t>(value)) : constant(value);
  if (type == "bool")
    text = value != 0 ? "true" : "false";
  bool given = isEntry && random.chance(0.6);
  bool hasDefault = !given || random.chance(0.6);
  parameters.push_back(parameter + ": " + type + (perHead ? "[head]" : "") +
                       (hasDefault ? " = " + text : ""));
  if (!given)
    return parameter;
  // The launch gives another value than the default.
  std::vector<double> &values = draw.result.problem.parameters[parameter];
  for (int64_t i = 0; i < (perHead ? draw.result.problem.q.heads : 1); ++i) {
    double other = value + static_cast<double>(random.between(0, 8));
    if (type == "f32")
      other = value * static_cast<double>(random.between(1, 8)) / 4;
    if (type == "bool")
      other = random.chance(0.5);
    values.push_back(std::min(other, most));
  }
  return parameter;
}

std::string PatternWriter::indexParameter(int64_t low, int64_t high) {
  int64_t value = random.between(low, high);
  if (random.chance(0.4))
    return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
  bool perHead = random.chance(0.2);
  std::string parameter = addParameter("index", static_cast<double>(value), perHead);
  if (!perHead)
    callableParameters.push_back(parameter);
  return parameter;
}

std::string PatternWriter::f32Parameter(double value, double most) {
  return random.chance(0.5) ? constant(value)
                            : addParameter("f32", value, random.chance(0.3), most);
}

/// A block size, sometimes as a `constexpr` parameter.
std::string PatternWriter::blockSize(int64_t block) {
  if (!random.chance(0.1))
    return std::to_string(block);
  std::string parameter = draw.newName("b");
  int64_t value = block;
  if (isEntry && random.chance(0.3)) {
    value = random.pick<int64_t>({5, 64});
    draw.result.constants[parameter] = static_cast<double>(block);
    draw.result.problem.parameters[parameter] = {static_cast<double>(block)};
  }
  parameters.push_back("constexpr " + parameter + ": index = " + std::to_string(value));
  return parameter;
}

std::string PatternWriter::addInput(InputElement element, const Axes &axes, IndexRange range,
                                    int64_t vectorSize) {
  std::string input = draw.newName("x");
  std::string type = element == InputElement::Bool    ? "bool"
                     : element == InputElement::Index ? "index"
                     : element == InputElement::F32   ? "f32"
                     : element == InputElement::Vec   ? "vec"
                                                      : "list";
  std::string list;
  auto add = [&](const std::string &axis) { list += (list.empty() ? "" : ", ") + axis; };
  if (axes.head != Axes::Head::None)
    add(axes.head == Axes::Head::Head ? "head" : "kv_head");
  if (axes.query)
    add(queryAxis(axes.query));
  if (axes.key)
    add(keyAxis(axes.key));
  if (axes.diagonal)
    add("q - k");
  addClause("input " + input + ": " + type + (list.empty() ? "" : "[" + list + "]"));
  drawInput(draw.result, random, input, element, axes, range, vectorSize);
  return input;
}

std::string PatternWriter::logit() {
  std::string distance = draw.noncausal ? "abs(q - k)" : "(q - k)";
  std::string slope = random.chance(0.5) ? constant(0.0625) : addParameter("f32", 0.03125, true);
  std::string cap = f32Parameter(random.pick({3.0, 8.0, 30.0}));
  switch (random.between(0, 4)) {
  case 0:
    return "s - " + slope + " * " + distance;
  case 1:
    return cap + " * tanh(s / " + cap + ") - " + slope + " * " + distance;
  case 2:
    return "s + " + addInput(InputElement::F32, Axes{Axes::Head::Head, 0, 0, false}) + " * 0.25";
  default:
    return cap + " * tanh(s / " + cap + ")";
  }
}

std::string PatternWriter::denseCondition() {
  switch (random.between(0, 4)) {
  case 0:
    return "kv_len <= " + indexParameter(0, 100);
  case 1:
    return "q_len < " + indexParameter(0, 40);
  case 2:
    return "layer == " + std::to_string(random.between(0, 5));
  case 3:
    return addParameter("bool", random.chance(0.3), false);
  default:
    return addInput(InputElement::Bool,
                    Axes{random.pick({Axes::Head::Head, Axes::Head::KvHead}), 0, 0, false});
  }
}

void PatternWriter::writeClauses() {
  if (random.chance(isEntry ? 0.15 : 0.2))
    addClause("dense when " + denseCondition());
  if (!isEntry)
    return;
  if (draw.noncausal)
    addClause("noncausal");
  if (random.chance(0.25))
    addClause(join({"rest mean(", blockSize(block()), ", ", queryAxis(block()), ")"}));
  else if (random.chance(0.05))
    addClause("rest drop");
  if (random.chance(0.2))
    addClause("logit " + logit());
  if (random.chance(0.2)) {
    bool isInput = random.chance(0.3);
    addClause("sink_logit " +
              (isInput ? addInput(InputElement::F32, Axes{Axes::Head::Head, 0, 0, false})
                       : f32Parameter(random.pick({-1.0, 0.5, 2.0}))));
  }
  if (draw.result.profile == Profile::whole) {
    if (random.chance(0.1))
      addClause("skip " + f32Parameter(60) + " under max");
    if (random.chance(0.1))
      addClause("compact " + compactClause());
  }
}

std::string PatternWriter::write() {
  std::string kept = set(random.pick({1, 2, 2, 3}));
  writeClauses();
  addClause("keep " + kept);
  std::string text = "pattern " + name;
  for (size_t i = 0; i < parameters.size(); ++i)
    text += (i == 0 ? "(" : ", ") + parameters[i];
  return text + (parameters.empty() ? "" : ")") + " {\n" + body + "}\n";
}

} // namespace skim::numerics
