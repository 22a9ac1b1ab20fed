#include "reference/Errors.h"

#include <algorithm>
#include <cfloat>

namespace skim::reference {

double unlessTooLarge(double value, double error) {
  return std::abs(value) + error < FLT_MAX ? error : unknown;
}

double stored(double value, double error) {
  if (error == 0 && static_cast<float>(value) == value)
    return 0;
  return unlessTooLarge(value, error + f32Rounding * (std::abs(value) + error) + FLT_MIN);
}

/// Of a function that grows, evaluated at the ends of the interval.
static double ofMonotone(double (*function)(double), Estimate x, double result) {
  double low = function(x.low()), high = function(x.high());
  double spread = std::max(result - low, high - result);
  return spread + functionError * std::max(std::abs(low), std::abs(high));
}

static double relu(double x) { return std::max(x, 0.0); }

double errorOf(Unary op, Estimate x, double result) {
  if (x.isUndefined() || x.isUnknown())
    return x.error;
  switch (op) {
  case Unary::Negate:
  case Unary::Abs:
  case Unary::Not:
    return x.error;
  case Unary::Relu:
    return std::max(result - relu(x.low()), relu(x.high()) - result);
  case Unary::Exp:
    return x.high() == -unknown ? 0 : stored(result, ofMonotone(std::exp, x, result));
  case Unary::Log:
    if (x.high() < 0 || (x.high() == 0 && x.error == 0))
      return 0; // Undefined, or minus infinity.
    return x.low() > 0 ? stored(result, ofMonotone(std::log, x, result)) : unknown;
  case Unary::Tanh:
    return stored(result, ofMonotone(std::tanh, x, result));
  }
  return unknown;
}

static double openUnless(bool decided) { return decided ? 0 : unknown; }

static double ofComparison(Binary op, Estimate x, Estimate y) {
  if (x.isUndefined() || y.isUndefined() || (x.error == 0 && y.error == 0))
    return 0;
  if (x.isUnknown() || y.isUnknown())
    return unknown;
  switch (op) {
  case Binary::Lt:
  case Binary::Ge:
    return openUnless(x.high() < y.low() || x.low() >= y.high());
  case Binary::Le:
  case Binary::Gt:
    return openUnless(x.high() <= y.low() || x.low() > y.high());
  default: // Equal, or not.
    return openUnless(x.high() < y.low() || x.low() > y.high());
  }
}

/// `and` is decided by one side that is surely false, `or` by one that is surely true.
static double ofLogic(bool deciding, Estimate x, Estimate y) {
  auto decides = [&](Estimate side) { return side.error == 0 && isTrue(side.value) == deciding; };
  return decides(x) || decides(y) ? 0 : std::max(x.error, y.error);
}

static double ofExtremum(Estimate x, Estimate y, double result, bool isMax) {
  double low = isMax ? std::max(x.low(), y.low()) : std::min(x.low(), y.low());
  double high = isMax ? std::max(x.high(), y.high()) : std::min(x.high(), y.high());
  return x.error == 0 && y.error == 0 ? 0 : std::max(result - low, high - result);
}

/// Whether an infinite operand makes the result infinite, of the same sign, all over the other's
/// interval.
static bool staysInfinite(Binary op, Estimate x, Estimate y) {
  auto isInfinite = [](Estimate z) { return std::isinf(z.value) && z.error == 0; };
  auto keepsSign = [](Estimate z) { return z.low() > 0 || z.high() < 0; };
  switch (op) {
  case Binary::Add:
  case Binary::Sub:
    return isInfinite(x) || isInfinite(y);
  case Binary::Mul:
    return (isInfinite(x) && keepsSign(y)) || (isInfinite(y) && keepsSign(x));
  case Binary::Div:
    return isInfinite(x) && keepsSign(y);
  default:
    return false;
  }
}

double errorOf(Binary op, Estimate x, Estimate y, double result) {
  if (op == Binary::And || op == Binary::Or)
    return ofLogic(op == Binary::Or, x, y);
  if (op >= Binary::Lt)
    return ofComparison(op, x, y);
  if (x.isUndefined() || y.isUndefined())
    return 0;
  if (x.isUnknown() || y.isUnknown())
    return unknown;
  bool isExact = x.error == 0 && y.error == 0;
  if (!std::isfinite(result))
    return isExact || staysInfinite(op, x, y) ? 0 : unknown;
  double ofY = std::abs(y.value) - y.error;
  switch (op) {
  case Binary::Add:
  case Binary::Sub:
    return stored(result, x.error + y.error);
  case Binary::Mul:
    return stored(result,
                  std::abs(x.value) * y.error + std::abs(y.value) * x.error + x.error * y.error);
  case Binary::Div:
    if (isExact && std::isinf(y.value))
      return 0;
    if (!(ofY > 0))
      return unknown;
    return stored(result,
                  (x.error + std::abs(result) * y.error) / ofY + functionError * std::abs(result));
  case Binary::Min:
  case Binary::Max:
    return ofExtremum(x, y, result, op == Binary::Max);
  default: // `%` takes index values, which have no error but the unknown one.
    return 0;
  }
}

} // namespace skim::reference
