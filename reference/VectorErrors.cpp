// The errors of vectors and of their products (rules 9 and 12).
#include "reference/Errors.h"

#include "reference/Casts.h"
#include "reference/Vectors.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace skim::reference {

using What = Reader::What;

void LastMap::computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  EstimateReader size(*count, axes);
  size.moveTo(head, query);
  if (size.at(0).error != 0) {
    std::fill(out.begin(), out.end(), unknown);
    return;
  }
  if (!(query >= request.kvLen - size.at(0).value))
    return;
  Reader errors(*operand, axes, What::Errors);
  errors.moveTo(head, query);
  for (int64_t cell = 0, end = cells(); cell < end; ++cell)
    llvm::copy(errors.at(cell), out.begin() + cell * dim);
}

namespace {

/// The error of the sum of x_i y_i, before it is scaled.
double errorOfProduct(VectorEstimate x, VectorEstimate y, double accumulation) {
  // Four sums, so that the compiler may keep them in vector registers.
  double sums[4] = {0, 0, 0, 0};
  for (size_t i = 0; i < x.values.size(); ++i) {
    double a = std::abs(x.values[i]), b = std::abs(y.values[i]);
    sums[i % 4] += accumulation * a * b + a * y.errors[i] + (b + y.errors[i]) * x.errors[i];
  }
  double error = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if (std::isfinite(error))
    return error;
  return x.isUndefined() || y.isUndefined() ? 0 : unknown;
}

} // namespace

void DotMap::computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  EstimateReader left(*lhs, axes), right(*rhs, axes), factor(*scale, axes);
  left.moveTo(head, query);
  right.moveTo(head, query);
  factor.moveTo(head, query);
  llvm::ArrayRef<double> result = row(head, query);
  double accumulation = lhs->isFp8 || rhs->isFp8 ? fp8DotError : dotError;
  for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
    if (!request.operandCellExists(axes, query, cell, visibleAny))
      continue;
    VectorEstimate x = left.vectorAt(cell), y = right.vectorAt(cell);
    double error = errorOfProduct(x, y, accumulation);
    Estimate by = factor.at(cell);
    if (by.isUndefined() || (error == 0 && (x.isUndefined() || y.isUndefined())))
      out[cell] = 0;
    else if (error == unknown || by.isUnknown())
      out[cell] = unknown;
    else
      out[cell] = unlessTooLarge(result[cell], error * (std::abs(by.value) + by.error) +
                                                   std::abs(dot(x.values, y.values)) * by.error);
  }
}

void LinearMap::computeErrors(int64_t head, int64_t query,
                              llvm::MutableArrayRef<double> out) const {
  EstimateReader reader(*operand, axes);
  reader.moveTo(head, query);
  llvm::ArrayRef<double> rows = weightOf(head);
  std::vector<double> exact(operand->dim, 0);
  for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
    VectorEstimate x = reader.vectorAt(cell);
    for (int64_t i = 0; i < dim; ++i)
      out[cell * dim + i] =
          errorOfProduct(x, {rows.slice(i * operand->dim, operand->dim), exact}, dotError);
  }
}

/// Of a number rounded to a format: 0 where the whole interval rounds to one value.
static double errorOfRounding(double (*round)(double), Estimate x) {
  if (x.isUndefined() || x.isUnknown())
    return x.error;
  double value = round(x.value), low = round(x.low()), high = round(x.high());
  if (low == high)
    return 0;
  return std::isfinite(low) && std::isfinite(high) ? std::max(value - low, high - value) : unknown;
}

/// Symmetric integers of a vector: the scale moves with the largest component, and a quotient near
/// a half may round to either side.
static void errorsOfQuantised(VectorEstimate x, double levels, llvm::MutableArrayRef<double> out) {
  if (x.isUndefined() || x.isUnknown()) {
    std::fill(out.begin(), out.end(), x.isUndefined() ? 0 : unknown);
    return;
  }
  double largest = 0, error = 0;
  for (size_t i = 0; i < x.values.size(); ++i) {
    largest = std::max(largest, std::abs(x.values[i]));
    error = std::max(error, x.errors[i]);
  }
  if (largest == 0 && error == 0)
    return;
  if (!(largest > error) || !std::isfinite(largest)) {
    std::fill(out.begin(), out.end(), unknown);
    return;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    double quotient = x.values[i] * levels / largest, spread = 0;
    if (error != 0) // Else the quotient is exact, and so are its ties.
      spread = (x.errors[i] * levels + std::abs(quotient) * error) / (largest - error) +
               4 * f32Rounding * std::abs(quotient);
    double whole = std::nearbyint(quotient);
    double steps = std::max(std::nearbyint(quotient + spread) - whole,
                            whole - std::nearbyint(quotient - spread));
    double most = std::abs(whole) + steps;
    out[i] = (steps * (largest + error) + most * (error + 4 * f32Rounding * largest)) / levels;
  }
}

void CastMap::computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  EstimateReader reader(*operand, axes);
  reader.moveTo(head, query);
  bool isInteger = format == Format::Int8 || format == Format::Int4;
  for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
    llvm::MutableArrayRef<double> errors = out.slice(cell * dim, dim);
    VectorEstimate x = reader.vectorAt(cell);
    if (isInteger) {
      errorsOfQuantised(x, format == Format::Int8 ? 127 : 7, errors);
      continue;
    }
    Estimate by{1, 0};
    if (scale) {
      EstimateReader factors(*scale, axes);
      factors.moveTo(head, query);
      by = factors.at(cell);
    }
    auto round = format == Format::Bf16 ? toBf16 : toFp8;
    for (int64_t i = 0; i < dim; ++i) {
      Estimate number{x.values[i], x.errors[i]};
      double quotient = number.value / by.value;
      if (scale)
        number = {quotient, errorOf(Binary::Div, number, by, quotient)};
      errors[i] = errorOfRounding(round, number);
      if (scale) {
        double rounded = round(number.value);
        errors[i] = errorOf(Binary::Mul, {rounded, errors[i]}, by, rounded * by.value);
      }
    }
  }
}

} // namespace skim::reference
