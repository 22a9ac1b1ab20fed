// Patterns: parameters, inputs, clauses, and patterns that call others.
#include "reference/Evaluator.h"

#include "frontends/text/Limits.h"
#include "reference/Inputs.h"
#include "reference/Pointwise.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace skim::text;

namespace skim::reference {

Evaluator::Evaluator(const Program &program, const Problem &problem, const Request &request,
                     Result &statusOf)
    : program(program), problem(problem), request(request), status(statusOf) {}

MapPtr Evaluator::operand(const Tokens &tokens, HeadAxis head, bool isQuery) {
  Axes axes{head, isQuery ? 1 : 0, isQuery ? 0 : 1, false};
  auto map = std::make_shared<DenseMap>(request, axes, Element::Vec, tokens.dim);
  map->scored = true;
  for (int64_t h = 0; h < request.headCount(head); ++h) {
    for (int64_t i = 0; i < (isQuery ? request.qLen : request.kvLen); ++i) {
      llvm::ArrayRef<double> vector =
          tokens.row((isQuery ? request.firstRow : request.firstKey) + i, h);
      llvm::MutableArrayRef<double> row =
          isQuery ? map->mutableRow(h, request.base() + i)
                  : map->mutableRow(h, 0).slice(i * tokens.dim, tokens.dim);
      llvm::copy(vector, row.begin());
    }
  }
  return map;
}

MapPtr Evaluator::query() {
  if (!cachedQuery)
    cachedQuery = operand(problem.q, HeadAxis::Head, true);
  return cachedQuery;
}

MapPtr Evaluator::keys() {
  if (!cachedKeys)
    cachedKeys = operand(problem.k, HeadAxis::KvHead, false);
  return cachedKeys;
}

MapPtr Evaluator::values() {
  if (!cachedValues)
    cachedValues = operand(problem.v, HeadAxis::KvHead, false);
  return cachedValues;
}

MapPtr Evaluator::scores() {
  if (!cachedScores)
    cachedScores =
        std::make_shared<DotMap>(query(), keys(), uniform(Element::F32, *problem.softmaxScale),
                                 false, Axes{HeadAxis::Head, 1, 1, false});
  return cachedScores;
}

std::optional<Clauses> Evaluator::evaluate(const Pattern &pattern) {
  Scope scope;
  scope.pattern = &pattern;
  Clauses clauses;
  callStack = {&pattern};
  if (!bindParameters(pattern, scope))
    return std::nullopt;
  for (const Item &item : pattern.items)
    if (!evaluateItem(item, scope, clauses))
      return std::nullopt;
  if (!bindLists(scope))
    return std::nullopt;
  if (!clauses.keep) {
    fail(pattern.nameRange, "pattern '" + pattern.name + "' has no 'keep'");
    return std::nullopt;
  }
  return clauses;
}

static Element elementOf(const TypeSyntax &type) {
  switch (type.element) {
  case TypeSyntax::Element::Index:
    return Element::Index;
  case TypeSyntax::Element::F32:
    return Element::F32;
  case TypeSyntax::Element::Vec:
    return Element::Vec;
  case TypeSyntax::Element::Bool:
  case TypeSyntax::Element::List:
    break;
  }
  return Element::Bool;
}

MapPtr Evaluator::convert(MapPtr value, Element element, llvm::SMRange range) {
  if (value->element == element)
    return value;
  if (value->element == Element::Index && element == Element::F32)
    return std::make_shared<ConvertMap>(value);
  return fail(range, "value has the wrong type");
}

MapPtr Evaluator::parameterValue(const Parameter &parameter, llvm::ArrayRef<double> values) {
  Element element = elementOf(parameter.type);
  bool perHead = !parameter.type.axes.empty();
  int64_t heads = perHead ? request.queryHeads : 1;
  auto wrong = [&](const std::string &text) {
    return fail(parameter.nameRange, "parameter '" + parameter.name + "': " + text);
  };
  if (static_cast<int64_t>(values.size()) != heads && values.size() != 1)
    return wrong("expected " + std::to_string(heads) + " values but got " +
                 std::to_string(values.size()));
  std::vector<double> converted;
  for (int64_t head = 0; head < heads; ++head) {
    double value = values[values.size() == 1 ? 0 : head];
    if (element == Element::F32)
      value = static_cast<float>(value);
    else if (element == Element::Bool && value != 0 && value != 1)
      return wrong("expected true or false");
    else if (value != std::floor(value))
      return wrong("expected an index");
    else if (!parameter.isConstexpr && !(std::abs(value) <= 0x1p31))
      return wrong(llvm::formatv("expected an index from -2^31 to 2^31 but got {0:F0}", value));
    converted.push_back(value);
  }
  auto map = std::make_shared<UniformMap>(request, perHead ? HeadAxis::Head : HeadAxis::None,
                                          element, std::move(converted));
  map->constant = parameter.isConstexpr;
  map->checkedAtLaunch = true;
  map->parameter = parameter.name;
  return map;
}

bool Evaluator::bindParameters(const Pattern &pattern, Scope &scope) {
  for (const auto &[name, values] : problem.parameters)
    if (llvm::none_of(pattern.parameters, [&](const Parameter &p) { return p.name == name; })) {
      fail(pattern.nameRange, "pattern '" + pattern.name + "' has no parameter '" + name + "'");
      return false;
    }
  for (const Parameter &parameter : pattern.parameters) {
    MapPtr value;
    if (auto given = problem.parameters.find(parameter.name); given != problem.parameters.end()) {
      value = parameterValue(parameter, given->second);
    } else if (parameter.defaultValue) {
      value = evaluateUniform(*parameter.defaultValue, scope);
      if (value)
        value = convert(value, elementOf(parameter.type), parameter.defaultValue->range);
      // Not a constant: another launch may give another value.
      if (value)
        value = parameterValue(parameter, value->row(0, 0));
    } else {
      fail(parameter.nameRange, "parameter '" + parameter.name + "' has no value");
    }
    if (!value)
      return false;
    scope.names[parameter.name] = value;
  }
  return true;
}

bool Evaluator::evaluateItem(const Item &item, Scope &scope, Clauses &clauses) {
  switch (item.kind) {
  case Item::Kind::Let: {
    MapPtr value = evaluate(*item.value, scope);
    if (value)
      scope.names[item.name] = value;
    return value != nullptr;
  }
  case Item::Kind::Input:
    if (!problem.inputs.count(item.name)) {
      fail(item.nameRange, "input '" + item.name + "' has no value");
      return false;
    }
    scope.inputs[item.name] = &item;
    return true;
  case Item::Kind::Keep:
    clauses.keep = evaluateSet(*item.value, scope);
    return clauses.keep != nullptr;
  case Item::Kind::RestMean: {
    std::optional<int64_t> keys = evaluateConstant(*item.value, scope);
    std::optional<AxisName> queries =
        keys ? evaluateAxis(*item.second, scope) : std::optional<AxisName>();
    if (!queries)
      return false;
    if (queries->kind != AxisName::Kind::Query) {
      fail(item.second->range, "expected 'q / T'");
      return false;
    }
    clauses.restKeys = *keys;
    clauses.restQueries = queries->block;
    return true;
  }
  case Item::Kind::Logit:
    scope.hasScore = true;
    clauses.logit = evaluate(*item.value, scope);
    scope.hasScore = false;
    if (clauses.logit && (clauses.logit->dim != 1 || clauses.logit->element == Element::Bool))
      clauses.logit = fail(item.value->range, "expected a number for each pair");
    return clauses.logit != nullptr;
  case Item::Kind::SinkLogit:
    clauses.sinkLogit = evaluateUniform(*item.value, scope);
    if (clauses.sinkLogit)
      clauses.sinkLogit = convert(clauses.sinkLogit, Element::F32, item.value->range);
    return clauses.sinkLogit != nullptr;
  case Item::Kind::DenseWhen: {
    MapPtr condition = evaluateUniform(*item.value, scope);
    if (condition)
      condition = convert(condition, Element::Bool, item.value->range);
    if (condition && clauses.denseWhen) // Several hold where any of them does.
      condition = std::make_shared<BinaryMap>(Binary::Or, clauses.denseWhen, condition,
                                              refine(clauses.denseWhen->axes, condition->axes));
    clauses.denseWhen = condition;
    return condition != nullptr;
  }
  case Item::Kind::Compact:
    clauses.compact = evaluateSet(*item.value, scope);
    if (clauses.compact && (clauses.compact->axes.query || clauses.compact->axes.diagonal))
      clauses.compact = fail(item.value->range, "expected a set over 'k'");
    return clauses.compact != nullptr;
  case Item::Kind::Skip: { // Rule 13: a permission, of which the reference makes no use.
    MapPtr threshold = evaluateUniform(*item.value, scope);
    return threshold && checkRange(*threshold, 0, std::nullopt, item.value->range);
  }
  case Item::Kind::RestDrop:  // What happens anyway.
  case Item::Kind::Noncausal: // Part of the request's geometry.
    return true;
  }
  return true;
}

/// Entries of lists are checked also where the pattern does not read them (rule 15).
bool Evaluator::bindLists(Scope &scope) {
  for (const auto &[name, item] : scope.inputs) {
    if (item->type.element != TypeSyntax::Element::List || scope.names.count(name))
      continue;
    if (!bindInput(*item, scope))
      return false;
  }
  return true;
}

bool Evaluator::checkSelfContained(const Pattern &callee, llvm::SMRange call) {
  for (const Item &item : callee.items) {
    switch (item.kind) {
    case Item::Kind::Let:
    case Item::Kind::Input:
    case Item::Kind::Keep:
    case Item::Kind::DenseWhen:
      continue;
    default:
      fail(call, "pattern '" + callee.name + "' has a clause that a called pattern may not have");
      return false;
    }
  }
  return true;
}

bool Evaluator::bindArguments(const CallExpr &call, const Pattern &callee, Scope &caller,
                              Scope &scope) {
  std::map<std::string, const Expr *> given;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument &argument = call.arguments[i];
    if (argument.label.empty() && i >= callee.parameters.size()) {
      fail(argument.value->range, "too many arguments for pattern '" + callee.name + "'");
      return false;
    }
    std::string name = argument.label.empty() ? callee.parameters[i].name : argument.label;
    if (llvm::none_of(callee.parameters, [&](const Parameter &p) { return p.name == name; }) ||
        !given.emplace(name, argument.value.get()).second) {
      fail(argument.value->range, "no parameter '" + name + "' to bind");
      return false;
    }
  }
  for (const Parameter &parameter : callee.parameters) {
    auto found = given.find(parameter.name);
    const Expr *expr = found != given.end() ? found->second : parameter.defaultValue.get();
    if (!expr) {
      fail(call.range, "parameter '" + parameter.name + "' has no value");
      return false;
    }
    MapPtr value = evaluateUniform(*expr, found != given.end() ? caller : scope);
    if (value)
      value = convert(value, elementOf(parameter.type), expr->range);
    if (!value)
      return false;
    scope.names[parameter.name] = value;
  }
  return true;
}

MapPtr Evaluator::callPattern(const CallExpr &call, const Pattern &callee, Scope &caller) {
  if (llvm::is_contained(callStack, &callee))
    return fail(call.range, "pattern '" + callee.name + "' calls itself");
  if (callStack.size() >= maxNesting)
    return fail(call.range, "calls of patterns nest too deep");
  if (!checkSelfContained(callee, call.range))
    return nullptr;
  Scope scope;
  scope.pattern = &callee;
  if (!bindArguments(call, callee, caller, scope))
    return nullptr;
  Clauses clauses;
  callStack.push_back(&callee);
  for (const Item &item : callee.items)
    if (!evaluateItem(item, scope, clauses))
      return nullptr;
  if (!bindLists(scope))
    return nullptr;
  callStack.pop_back();
  if (!clauses.keep)
    return fail(call.range, "pattern '" + callee.name + "' has no 'keep'");
  if (!clauses.denseWhen)
    return clauses.keep;
  // Rule 17: where the condition holds, the callee keeps everything.
  return std::make_shared<BinaryMap>(Binary::Or, clauses.keep, clauses.denseWhen,
                                     refine(clauses.keep->axes, clauses.denseWhen->axes));
}

std::optional<Axes> Evaluator::typeAxes(const TypeSyntax &type, Scope &scope) {
  Axes axes;
  for (const ExprPtr &expr : type.axes) {
    std::optional<AxisName> axis = evaluateAxis(*expr, scope);
    if (!axis)
      return std::nullopt;
    switch (axis->kind) {
    case AxisName::Kind::Query:
      axes.query = axis->block;
      break;
    case AxisName::Kind::Key:
      axes.key = axis->block;
      break;
    case AxisName::Kind::Diagonal:
      axes.diagonal = true;
      break;
    case AxisName::Kind::Head:
    case AxisName::Kind::KvHead:
      axes.head = axis->kind == AxisName::Kind::Head ? HeadAxis::Head : HeadAxis::KvHead;
      break;
    case AxisName::Kind::Group:
    case AxisName::Kind::Heads:
      fail(expr->range, "expected an axis of positions or heads");
      return std::nullopt;
    }
  }
  if (axes.diagonal && (axes.key || !request.causal)) {
    fail(type.range, "an axis 'q - k' cannot stand here");
    return std::nullopt;
  }
  return axes;
}

MapPtr Evaluator::bindInput(const Item &item, Scope &scope) {
  const InputValue &value = problem.inputs.at(item.name);
  std::optional<Axes> axes = typeAxes(item.type, scope);
  if (!axes)
    return nullptr;
  bool isList = item.type.element == TypeSyntax::Element::List;
  int64_t requests = problem.kvLens.size(), trailing = elementOf(item.type) == Element::Vec;
  InputLayout layout;
  std::string wrong = layoutInput(value, *axes, request, requests, trailing, isList, layout);
  if (!wrong.empty())
    return fail(item.nameRange, "input '" + item.name + "': " + wrong);
  if (!isList)
    return std::make_shared<InputMap>(request, *axes, elementOf(item.type), value, layout);
  if (!axes->hasKeyLike())
    return fail(item.type.range, "a list needs an axis along which it selects");

  const InputValue *counts = nullptr;
  InputLayout countLayout;
  if (auto found = problem.inputs.find(item.name + "_counts"); found != problem.inputs.end()) {
    counts = &found->second;
    Axes rows{axes->head, axes->query, 0, false};
    wrong = layoutInput(*counts, rows, request, requests, 0, false, countLayout);
    if (!wrong.empty())
      return fail(item.nameRange, "input '" + item.name + "_counts': " + wrong);
  }
  auto list = std::make_shared<ListMap>(request, *axes, value, layout, counts, countLayout);
  if (std::optional<ListMap::OutOfRange> found = list->findOutOfRange();
      found && !status.indexOutOfRange) {
    status.indexOutOfRange = true;
    status.outOfRange =
        "input '" + item.name + (found->isCount ? "_counts" : "") + "': " + found->text;
  }
  return list;
}

} // namespace skim::reference
