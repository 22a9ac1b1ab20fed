// The built-in functions: vectors, selections, `cover` (rules 2, 6, 7, 8 and 12), and the dispatch
// of calls.
#include "reference/Evaluator.h"
#include "reference/Inputs.h"
#include "reference/Pointwise.h"
#include "reference/Select.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using llvm::dyn_cast;
using namespace skim::text;

namespace skim::reference {

MapPtr Evaluator::evaluateCall(const CallExpr &call, Scope &scope) {
  llvm::StringRef name = call.callee;
  auto format = llvm::StringSwitch<std::optional<Format>>(name)
                    .Case("bf16", Format::Bf16)
                    .Case("fp8", Format::Fp8)
                    .Case("int8", Format::Int8)
                    .Case("int4", Format::Int4)
                    .Default(std::nullopt);
  if (format)
    return evaluateCast(call, *format, scope);
  auto unary = llvm::StringSwitch<std::optional<Unary>>(name)
                   .Case("exp", Unary::Exp)
                   .Case("log", Unary::Log)
                   .Case("relu", Unary::Relu)
                   .Case("abs", Unary::Abs)
                   .Case("tanh", Unary::Tanh)
                   .Default(std::nullopt);
  if (unary) {
    std::optional<Arguments> arguments = splitArguments(call, 1, 1, {});
    MapPtr value = arguments ? evaluate(*arguments->positional[0], scope) : nullptr;
    if (value && value->element == Element::Bool)
      return fail(call.range, "expected a number but got a truth value");
    return value ? std::make_shared<UnaryMap>(*unary, value) : nullptr;
  }
  auto reduction = llvm::StringSwitch<std::optional<Reduction>>(name)
                       .Case("sum", Reduction::Sum)
                       .Case("mean", Reduction::Mean)
                       .Case("max", Reduction::Max)
                       .Case("min", Reduction::Min)
                       .Case("var", Reduction::Var)
                       .Default(std::nullopt);
  bool labelled = llvm::any_of(call.arguments, [](const Argument &a) { return !a.label.empty(); });
  if (reduction && !labelled && (*reduction == Reduction::Max || *reduction == Reduction::Min))
    return evaluateExtremum(call, *reduction == Reduction::Max, scope);
  if (reduction)
    return evaluateReduction(call, *reduction, scope);
  if (name == "dot")
    return evaluateDot(call, scope);
  if (name == "linear")
    return evaluateLinear(call, scope);
  if (name == "last")
    return evaluateLast(call, scope);
  if (name == "softmax")
    return evaluateSoftmax(call, scope);
  if (name == "smooth")
    return evaluateSmooth(call, scope);
  if (name == "top_k" || name == "top_p")
    return evaluateSelection(call, name == "top_k", scope);
  if (name == "cover")
    return evaluateCover(call, scope);
  if (const Pattern *callee = program.find(name))
    return callPattern(call, *callee, scope);
  return fail(call.calleeRange, "unknown function '" + call.callee + "'");
}

std::optional<Evaluator::Arguments>
Evaluator::splitArguments(const CallExpr &call, size_t least, size_t most,
                          llvm::ArrayRef<llvm::StringRef> labels) {
  Arguments result;
  for (const Argument &argument : call.arguments) {
    if (argument.label.empty()) {
      result.positional.push_back(argument.value.get());
    } else if (!llvm::is_contained(labels, argument.label) ||
               !result.labelled.emplace(argument.label, argument.value.get()).second) {
      fail(argument.labelRange, "unexpected argument '" + argument.label + "'");
      return std::nullopt;
    }
  }
  if (result.positional.size() < least || result.positional.size() > most) {
    fail(call.range, "wrong number of arguments for '" + call.callee + "'");
    return std::nullopt;
  }
  return result;
}

MapPtr Evaluator::evaluateDot(const CallExpr &call, Scope &scope) {
  std::optional<Arguments> arguments = splitArguments(call, 2, 2, {"scale", "visible"});
  MapPtr lhs = arguments ? evaluate(*arguments->positional[0], scope) : nullptr;
  MapPtr rhs = lhs ? evaluate(*arguments->positional[1], scope) : nullptr;
  if (!rhs)
    return nullptr;
  if (lhs->element != Element::Vec || rhs->element != Element::Vec || lhs->dim != rhs->dim)
    return fail(call.range, "expected two maps of vectors of one dimension");
  MapPtr scale = uniform(Element::F32, *problem.softmaxScale);
  if (const Expr *factor = arguments->labelled["scale"]) {
    scale = evaluate(*factor, scope);
    if (!scale)
      return nullptr;
    if (!scale->isNumber())
      return fail(factor->range, "expected a number");
  }
  bool any = false;
  if (const Expr *visible = arguments->labelled["visible"]) {
    const auto *word = dyn_cast<NameExpr>(visible);
    any = word && word->name == "any";
    if (!any && (!word || word->name != "all"))
      return fail(visible->range, "expected 'any' or 'all'");
  }
  std::optional<Axes> axes = join(*lhs, *rhs, call.range);
  if (axes && meet(*axes, scale->axes) != axes)
    return fail(call.range, "the scale has axes that the product lacks");
  return axes ? std::make_shared<DotMap>(lhs, rhs, scale, any, *axes) : nullptr;
}

MapPtr Evaluator::evaluateCast(const CallExpr &call, Format format, Scope &scope) {
  std::optional<Arguments> arguments = splitArguments(call, 1, 1, {"scale"});
  MapPtr value = arguments ? evaluate(*arguments->positional[0], scope) : nullptr;
  if (!value)
    return nullptr;
  bool integer = format == Format::Int8 || format == Format::Int4;
  if (value->element != Element::Vec && (integer || value->element != Element::F32))
    return fail(call.range, "'" + call.callee + "' does not take such a value");
  MapPtr scale;
  std::optional<Axes> axes = value->axes;
  if (const Expr *factor = arguments->labelled["scale"]) {
    scale = evaluate(*factor, scope);
    if (!scale)
      return nullptr;
    if (!scale->isNumber() || integer)
      return fail(factor->range, "expected no scale, or a number");
    axes = join(*value, *scale, call.range);
  }
  return axes ? std::make_shared<CastMap>(format, value, scale, *axes) : nullptr;
}

MapPtr Evaluator::evaluateLinear(const CallExpr &call, Scope &scope) {
  std::optional<Arguments> arguments = splitArguments(call, 2, 2, {});
  MapPtr value = arguments ? evaluate(*arguments->positional[0], scope) : nullptr;
  if (!value)
    return nullptr;
  const auto *name = dyn_cast<NameExpr>(arguments->positional[1]);
  auto found = name ? scope.inputs.find(name->name) : scope.inputs.end();
  if (found == scope.inputs.end() || !found->second ||
      found->second->type.element != TypeSyntax::Element::Vec)
    return fail(arguments->positional[1]->range, "expected a 'vec' input as weight");
  std::optional<Axes> axes = typeAxes(found->second->type, scope);
  if (!axes)
    return nullptr;
  const InputValue &weight = problem.inputs.at(name->name);
  // A weight belongs to the model, not to a request.
  int64_t rank = axes->head == HeadAxis::None ? 2 : 3;
  if (value->element != Element::Vec || axes->hasPositions() ||
      static_cast<int64_t>(weight.shape.size()) != rank || weight.shape.back() != value->dim ||
      weight.shape[rank - 2] < 1 ||
      (rank == 3 && weight.shape.front() != request.headCount(axes->head)))
    return fail(call.range, "expected a weight [out, " + std::to_string(value->dim) + "]");
  return std::make_shared<LinearMap>(value, axes->head, weight.shape[rank - 2], weight.data);
}

MapPtr Evaluator::evaluateLast(const CallExpr &call, Scope &scope) {
  std::optional<Arguments> arguments = splitArguments(call, 2, 2, {});
  MapPtr value = arguments ? evaluate(*arguments->positional[0], scope) : nullptr;
  MapPtr count = value ? evaluateUniform(*arguments->positional[1], scope) : nullptr;
  if (!count)
    return nullptr;
  if (value->axes.query != 1 || count->element != Element::Index)
    return fail(call.range, "expected a map over 'q' and a count");
  std::optional<Axes> axes = join(*value, *count, call.range);
  return axes ? std::make_shared<LastMap>(value, count, *axes) : nullptr;
}

MapPtr Evaluator::evaluateExtremum(const CallExpr &call, bool isMax, Scope &scope) {
  std::optional<Arguments> arguments = splitArguments(call, 2, SIZE_MAX, {});
  if (!arguments)
    return nullptr;
  MapPtr result;
  for (const Expr *expr : arguments->positional) {
    MapPtr value = evaluate(*expr, scope);
    if (!value)
      return nullptr;
    if (value->element == Element::Bool)
      return fail(expr->range, "expected numbers or vectors");
    if (result && result->element == value->element && result->dim != value->dim)
      return fail(expr->range, "expected vectors of " + std::to_string(result->dim) +
                                   " components but got " + std::to_string(value->dim));
    std::optional<Axes> axes = result ? join(*result, *value, call.range) : value->axes;
    if (!axes)
      return nullptr;
    result = result ? std::make_shared<BinaryMap>(isMax ? Binary::Max : Binary::Min, result, value,
                                                  *axes)
                    : value;
  }
  return result;
}

bool Evaluator::checkRange(const Map &value, double least, std::optional<double> most,
                           llvm::SMRange range) {
  if (value.parameter.empty() && !value.constant)
    return true;
  for (int64_t head = 0; head < request.headCount(value.axes.head); ++head) {
    double number = value.row(head, 0).front();
    if (number >= least && (!most || number <= *most))
      continue;
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (!value.parameter.empty())
      stream << "parameter '" << value.parameter << "': ";
    stream << "expected a number from " << llvm::format("%g", least);
    if (most)
      stream << " to " << llvm::format("%g", *most);
    else
      stream << " up";
    stream << " but got " << llvm::format("%g", number);
    fail(range, text);
    return false;
  }
  return true;
}

MapPtr Evaluator::evaluateSelection(const CallExpr &call, bool isTopK, Scope &scope) {
  std::optional<Arguments> arguments = splitArguments(call, 2, 2, {});
  MapPtr scores = arguments ? evaluate(*arguments->positional[0], scope) : nullptr;
  MapPtr amount = scores ? evaluate(*arguments->positional[1], scope) : nullptr;
  if (!amount)
    return nullptr;
  if (!scores->isNumber() || !amount->isNumber() || !scores->axes.hasKeyLike() ||
      amount->axes.hasKeyLike())
    return fail(call.range, "expected a map along keys and an amount for each of its rows");
  std::optional<Axes> axes = join(*scores, *amount, call.range);
  if (!axes)
    return nullptr;
  if (!isTopK && !checkRange(*amount, 0, 1, call.arguments[1].value->range))
    return nullptr;
  auto kind = isTopK ? SelectMap::Kind::TopK : SelectMap::Kind::TopP;
  return std::make_shared<SelectMap>(kind, scores, amount, *axes);
}

MapPtr Evaluator::evaluateCover(const CallExpr &call, Scope &scope) {
  std::optional<Arguments> arguments = splitArguments(call, 2, 3, {});
  if (!arguments)
    return nullptr;
  int64_t query = 0, key = 0;
  for (const Expr *expr : llvm::ArrayRef(arguments->positional).drop_back()) {
    std::optional<AxisName> axis = evaluateAxis(*expr, scope);
    if (!axis)
      return nullptr;
    if (axis->kind == AxisName::Kind::Query && query == 0)
      query = axis->block;
    else if (axis->kind == AxisName::Kind::Key && key == 0)
      key = axis->block;
    else
      return fail(expr->range, "expected 'q / A' or 'k / B'");
  }
  MapPtr set = evaluateSet(*arguments->positional.back(), scope);
  if (!set)
    return nullptr;
  if (key == 0)
    return fail(call.range, "expected an axis 'k / B'");
  if (query == 0)
    return std::make_shared<CoverKeysMap>(set, key);
  return fits(Axes{set->axes.head, query, key, false}, 1, call.range)
             ? coverBlocks(*set, query, key)
             : nullptr;
}

} // namespace skim::reference
