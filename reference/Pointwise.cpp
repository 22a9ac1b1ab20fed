#include "reference/Pointwise.h"

#include <algorithm>

namespace skim::reference {

constexpr double largestIndex = 0x1p31;

static double roundToF32(double value) { return static_cast<float>(value); }

PositionMap::PositionMap(const Request &request, bool isQuery, int64_t block)
    : LazyMap(request, Axes{HeadAxis::None, isQuery ? block : 0, isQuery ? 0 : block, false},
              Element::Index) {
  positional = true;
}

std::shared_ptr<PositionMap> PositionMap::dividedBy(int64_t divisor) const {
  return std::make_shared<PositionMap>(request, axes.query != 0,
                                       std::max(axes.query, axes.key) * divisor);
}

void PositionMap::compute(int64_t, int64_t query, llvm::MutableArrayRef<double> out) const {
  for (int64_t i = 0, end = out.size(); i < end; ++i)
    out[i] = static_cast<double>(axes.query ? query : i);
}

UnaryMap::UnaryMap(Unary op, MapPtr source)
    : LazyMap(source->request, source->axes, source->element), op(op), operand(std::move(source)) {
  use(*operand);
  dim = operand->dim;
  positional = operand->positional && op == Unary::Negate;
  constant = operand->constant;
  if (op == Unary::Exp || op == Unary::Log || op == Unary::Tanh)
    element = operand->element == Element::Vec ? Element::Vec : Element::F32;
}

static double apply(Unary op, double x) {
  switch (op) {
  case Unary::Negate:
    return -x;
  case Unary::Exp:
    return std::exp(x);
  case Unary::Log:
    return std::log(x);
  case Unary::Relu:
    return std::isnan(x) ? x : std::max(x, 0.0);
  case Unary::Abs:
    return std::abs(x);
  case Unary::Tanh:
    return std::tanh(x);
  case Unary::Not: // Rule 4: the complement over all pairs.
    return !isTrue(x);
  }
  return undefined;
}

void UnaryMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  llvm::ArrayRef<double> in = operand->row(head, query);
  bool rounds = element == Element::F32 && !scored;
  for (size_t i = 0; i < out.size(); ++i) {
    double x = rounds ? roundToF32(in[i]) : in[i];
    out[i] = rounds ? roundToF32(apply(op, x)) : apply(op, x);
  }
}

static bool isComparison(Binary op) { return op >= Binary::Lt && op <= Binary::Ne; }

BinaryMap::BinaryMap(Binary op, MapPtr left, MapPtr right, Axes axes)
    : LazyMap(left->request, axes, Element::F32), op(op), lhs(std::move(left)),
      rhs(std::move(right)) {
  use(*lhs);
  use(*rhs);
  dim = std::max(lhs->dim, rhs->dim);
  positional = lhs->positional && rhs->positional;
  if (op >= Binary::Lt)
    element = Element::Bool;
  else if (lhs->element == Element::Vec || rhs->element == Element::Vec)
    element = Element::Vec;
  else if (lhs->element == Element::Index && rhs->element == Element::Index)
    element = Element::Index;
  positional &= element != Element::F32;
  constant = lhs->constant && rhs->constant;
}

/// Rule 3: an undefined operand makes arithmetic undefined and comparisons false.
static double apply(Binary op, double x, double y) {
  switch (op) {
  case Binary::Add:
    return x + y;
  case Binary::Sub:
    return x - y;
  case Binary::Mul:
    return x * y;
  case Binary::Div:
    return x / y;
  case Binary::Min:
    return std::isnan(x) || std::isnan(y) ? undefined : std::min(x, y);
  case Binary::Max:
    return std::isnan(x) || std::isnan(y) ? undefined : std::max(x, y);
  case Binary::Lt:
    return x < y;
  case Binary::Le:
    return x <= y;
  case Binary::Gt:
    return x > y;
  case Binary::Ge:
    return x >= y;
  case Binary::Eq:
    return x == y;
  case Binary::Ne:
    return x < y || x > y;
  case Binary::And:
    return isTrue(x) && isTrue(y);
  case Binary::Or:
    return isTrue(x) || isTrue(y);
  case Binary::Mod:
    break;
  }
  return undefined;
}

/// `/` floors and `%` is non-negative. Doubles hold integers up to 2^53 exactly,
/// and their quotient may round up to the next integer: hence the correction.
static double applyIndex(Binary op, double x, double y) {
  if (op != Binary::Div && op != Binary::Mod)
    return apply(op, x, y);
  if (!(y > 0))
    return undefined;
  double quotient = std::floor(x / y);
  if (quotient * y > x)
    quotient -= 1;
  return op == Binary::Div ? quotient : x - quotient * y;
}

void BinaryMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader left(*lhs, axes), right(*rhs, axes);
  left.moveTo(head, query);
  right.moveTo(head, query);
  if (dim > 1 || element == Element::Vec) {
    for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
      llvm::ArrayRef<double> x = left.at(cell), y = right.at(cell);
      for (int64_t i = 0; i < dim && !x.empty() && !y.empty(); ++i)
        out[cell * dim + i] = apply(op, x[x.size() == 1 ? 0 : i], y[y.size() == 1 ? 0 : i]);
    }
    return;
  }
  llvm::ArrayRef<double> x = left.scalars(), y = right.scalars();
  bool integers = lhs->element != Element::F32 && rhs->element != Element::F32;
  bool logic = op == Binary::And || op == Binary::Or;
  bool roundsOperands = !integers && !logic;
  for (size_t i = 0; i < out.size(); ++i) {
    if (integers || logic) {
      out[i] = applyIndex(op, x[i], y[i]);
      // A product of two indices that only the launch knows saturates.
      if (op == Binary::Mul && !lhs->constant && !rhs->constant && !std::isnan(out[i]))
        out[i] = std::clamp(out[i], -largestIndex, largestIndex);
      continue;
    }
    double a = roundsOperands && lhs->element == Element::Index ? roundToF32(x[i]) : x[i];
    double b = roundsOperands && rhs->element == Element::Index ? roundToF32(y[i]) : y[i];
    double value = apply(op, a, b);
    out[i] = scored || isComparison(op) ? value : roundToF32(value);
  }
}

ConvertMap::ConvertMap(MapPtr source)
    : LazyMap(source->request, source->axes, Element::F32), operand(std::move(source)) {
  use(*operand);
  parameter = operand->parameter;
}

void ConvertMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  llvm::transform(operand->row(head, query), out.begin(), roundToF32);
}

WhereMap::WhereMap(MapPtr source, MapPtr filter, Axes axes)
    : LazyMap(source->request, axes, source->element), value(std::move(source)),
      set(std::move(filter)) {
  use(*value);
  use(*set);
  dim = value->dim;
  isFp8 = value->isFp8;
}

void WhereMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader values(*value, axes), filter(*set, axes);
  values.moveTo(head, query);
  filter.moveTo(head, query);
  for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
    llvm::ArrayRef<double> x = values.at(cell);
    if (isTrue(filter.scalar(cell)) && !x.empty())
      std::copy(x.begin(), x.end(), out.begin() + cell * dim);
  }
}

MatchMap::MatchMap(MapPtr label, std::vector<Arm> choices, Axes axes, Element element)
    : LazyMap(label->request, axes, element), selector(std::move(label)), arms(std::move(choices)) {
  use(*selector);
  for (const Arm &arm : arms)
    use(*arm.value);
  dim = arms.empty() ? 1 : arms.front().value->dim;
}

const MatchMap::Arm *MatchMap::find(llvm::ArrayRef<Arm> arms, double label) {
  const Arm *fallback = nullptr;
  for (const Arm &arm : arms) {
    if (!arm.label)
      fallback = &arm;
    else if (static_cast<double>(*arm.label) == label)
      return &arm;
  }
  return fallback;
}

void MatchMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader label(*selector, axes);
  label.moveTo(head, query);
  const Arm *arm = find(arms, label.scalar(0));
  if (!arm) {
    if (element == Element::Bool)
      std::fill(out.begin(), out.end(), 0);
    return;
  }
  Reader chosen(*arm->value, axes);
  chosen.moveTo(head, query);
  for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
    llvm::ArrayRef<double> x = chosen.at(cell);
    if (!x.empty())
      std::copy(x.begin(), x.end(), out.begin() + cell * dim);
  }
}

} // namespace skim::reference
