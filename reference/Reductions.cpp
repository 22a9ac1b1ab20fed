// Built-in functions that join cells: reductions, softmax, smoothing (rules 2, 3, 5, 6 and 7).
#include "reference/Evaluator.h"
#include "reference/Pointwise.h"

#include <cmath>
#include <utility>

using namespace skim::text;

namespace skim::reference {

std::vector<const Expr *> Evaluator::axisList(const Expr *expr) {
  std::vector<const Expr *> list;
  if (const auto *tuple = llvm::dyn_cast_or_null<TupleExpr>(expr)) {
    for (const ExprPtr &element : tuple->elements)
      list.push_back(element.get());
  } else if (expr) {
    list.push_back(expr);
  }
  return list;
}

bool Evaluator::removeAxis(Axes &axes, AxisName axis, llvm::SMRange range) {
  using Kind = AxisName::Kind;
  bool present = false;
  switch (axis.kind) {
  case Kind::Query:
    present = axes.query == axis.block;
    axes.query = 0;
    break;
  case Kind::Key:
    present = axes.key == axis.block;
    axes.key = 0;
    break;
  case Kind::Diagonal:
    present = axes.diagonal;
    axes.diagonal = false;
    break;
  case Kind::Group:
    present = axes.head == HeadAxis::Head;
    axes.head = HeadAxis::KvHead;
    break;
  case Kind::Heads:
    present = axes.head != HeadAxis::None;
    axes.head = HeadAxis::None;
    break;
  case Kind::Head:
  case Kind::KvHead:
    break;
  }
  if (!present)
    fail(range, "the map has no such axis to reduce over");
  return present;
}

bool Evaluator::coarsenAxis(Axes &axes, AxisName axis, llvm::SMRange range) {
  using Kind = AxisName::Kind;
  bool possible = false;
  if (axis.kind == Kind::Diagonal) {
    possible = axes.query == 1 && axes.key == 1;
    axes.query = axes.key = 0;
    axes.diagonal = true;
  } else if (axis.kind == Kind::Query || axis.kind == Kind::Key) {
    int64_t &block = axis.kind == Kind::Query ? axes.query : axes.key;
    possible = block != 0 && axis.block % block == 0; // Rule 7.
    block = axis.block;
  }
  if (!possible)
    fail(range, "the map cannot be reduced into this axis");
  return possible;
}

MapPtr Evaluator::evaluateReduction(const CallExpr &call, Reduction kind, Scope &scope) {
  std::optional<Arguments> arguments = splitArguments(call, 1, 2, {"over", "into"});
  MapPtr value = arguments ? evaluate(*arguments->positional[0], scope) : nullptr;
  if (!value)
    return nullptr;
  if (value->element == Element::Bool)
    return fail(call.range, "expected numbers but got truth values");
  // Both kinds of change refer to the axes of the operand and act together.
  Axes target = value->axes;
  for (const Expr *expr : axisList(arguments->labelled["over"])) {
    std::optional<AxisName> axis = evaluateAxis(*expr, scope);
    if (!axis || !removeAxis(target, *axis, expr->range))
      return nullptr;
  }
  std::optional<AxisName> rows; // Diagonals may be gathered for each block of rows.
  const Expr *gather = nullptr;
  for (const Expr *expr : axisList(arguments->labelled["into"])) {
    std::optional<AxisName> axis = evaluateAxis(*expr, scope);
    if (!axis)
      return nullptr;
    if (axis->kind == AxisName::Kind::Diagonal)
      gather = expr;
    else if (!coarsenAxis(target, *axis, expr->range))
      return nullptr;
    else if (axis->kind == AxisName::Kind::Query)
      rows = axis;
  }
  if (gather) {
    int64_t block = rows ? std::exchange(target.query, value->axes.query) : 0;
    if (!coarsenAxis(target, AxisName{AxisName::Kind::Diagonal, 1}, gather->range))
      return nullptr;
    target.query = block;
  }
  if (arguments->positional.size() == 2) {
    // `mean(K, 128)`: the one axis of positions.
    std::optional<int64_t> block = evaluateConstant(*arguments->positional[1], scope);
    if (!block)
      return nullptr;
    if ((target.query != 0) == (target.key != 0))
      return fail(call.range, "expected a map over either 'q' or 'k'");
    auto axis = target.query ? AxisName::Kind::Query : AxisName::Kind::Key;
    if (!coarsenAxis(target, AxisName{axis, *block}, call.range))
      return nullptr;
  } else if (arguments->labelled["over"] == nullptr && arguments->labelled["into"] == nullptr) {
    return fail(call.range, "expected 'over:' or 'into:'");
  }
  return fits(target, value->dim, call.range) ? reduce(kind, *value, target) : nullptr;
}

MapPtr Evaluator::evaluateSoftmax(const CallExpr &call, Scope &scope) {
  std::optional<Arguments> arguments = splitArguments(call, 1, 1, {"over"});
  MapPtr value = arguments ? evaluate(*arguments->positional[0], scope) : nullptr;
  if (!value)
    return nullptr;
  const Expr *over = arguments->labelled["over"];
  if (!over || !value->isNumber())
    return fail(call.range, "expected a map of numbers and 'over:'");
  Axes target = value->axes;
  for (const Expr *expr : axisList(over)) {
    std::optional<AxisName> axis = evaluateAxis(*expr, scope);
    if (!axis || !removeAxis(target, *axis, expr->range))
      return nullptr;
  }
  Axes row = value->axes;
  row.key = 0;
  row.diagonal = false;
  if (target == row)
    return std::make_shared<SoftmaxMap>(value);
  // Along other axes: exp(x - max) / sum, by its definition.
  if (!fits(target, 1, call.range))
    return nullptr;
  Axes axes = value->axes;
  MapPtr largest = reduce(Reduction::Max, *value, target);
  MapPtr shifted = std::make_shared<BinaryMap>(Binary::Sub, value, largest, axes);
  MapPtr powers = std::make_shared<UnaryMap>(Unary::Exp, shifted);
  MapPtr total = reduce(Reduction::Sum, *powers, target);
  return std::make_shared<BinaryMap>(Binary::Div, powers, total, axes);
}

MapPtr Evaluator::evaluateSmooth(const CallExpr &call, Scope &scope) {
  std::optional<Arguments> arguments = splitArguments(call, 2, 2, {});
  MapPtr value = arguments ? evaluate(*arguments->positional[0], scope) : nullptr;
  MapPtr width = value ? evaluateUniform(*arguments->positional[1], scope) : nullptr;
  if (!width)
    return nullptr;
  if (value->element == Element::Bool || !value->axes.key || width->element != Element::Index)
    return fail(call.range, "expected a map along keys and a count of cells");
  for (int64_t head = 0; head < request.headCount(width->axes.head); ++head) {
    double cells = width->row(head, 0).front();
    if (!(cells >= 1) || std::fmod(cells, 2) != 1)
      return fail(call.range, "expected an odd, positive width");
  }
  Axes axes = value->axes;
  axes.head = std::max(axes.head, width->axes.head);
  return std::make_shared<SmoothMap>(value, width, axes);
}

} // namespace skim::reference
