// The errors of what joins many cells: reductions, softmax, smoothing (rule 9).
#include "reference/Errors.h"

#include "reference/Reduce.h"
#include "reference/ReduceCells.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace skim::reference {

namespace {

/// Of f64 sums of many terms, relative to the sum of the terms' sizes.
constexpr double sumRounding = 0x1p-44;

/// What the cells that join in one number tell about its error.
struct Tally {
  double count = 0, size = 0, squares = 0; ///< Of the cells: sums of 1, |x|, x^2.
  double error = 0, squaredError = 0;      ///< Sums of e, e^2.
  double largestLow = -unknown, largestHigh = -unknown;
  double smallestLow = unknown, smallestHigh = unknown;

  void add(Estimate x) {
    count += 1;
    size += std::abs(x.value);
    squares += x.value * x.value;
    error += x.error;
    squaredError += x.error * x.error;
    largestLow = std::max(largestLow, x.low());
    largestHigh = std::max(largestHigh, x.high());
    smallestLow = std::min(smallestLow, x.low());
    smallestHigh = std::min(smallestHigh, x.high());
  }

  double errorOf(Reduction kind, double result) const {
    if (count == 0 || error == unknown)
      return error;
    switch (kind) {
    case Reduction::Sum:
      return ofSum(result, 1);
    case Reduction::Mean:
      return ofSum(result, count);
    case Reduction::Max:
      return error == 0 ? 0 : std::max(result - largestLow, largestHigh - result);
    case Reduction::Min:
      return error == 0 ? 0 : std::max(result - smallestLow, smallestHigh - result);
    case Reduction::Var:
      return ofVariance(result);
    }
    return unknown;
  }

private:
  double ofSum(double result, double n) const {
    bool exact = error == 0 && static_cast<float>(result) == result;
    return exact ? 0 : stored(result, (error + f32Rounding * size) / n);
  }
  /// The deviation of the errors adds to that of the cells (Cauchy-Schwarz).
  double ofVariance(double result) const {
    if (count == 1)
      return 0;
    double mean = squaredError / count;
    return stored(result, 2 * std::sqrt(result * mean) + mean + sumRounding * squares / count);
  }
};

/// Component by component.
void join(VectorEstimate x, llvm::MutableArrayRef<Tally> tallies) {
  for (size_t i = 0; i < x.values.size(); ++i)
    if (Estimate component{x.values[i], x.errors[i]}; !component.isUndefined())
      tallies[i].add(component);
}

} // namespace

void addErrors(Reduction kind, const Map &map, DenseMap &result) {
  llvm::MutableArrayRef<double> values = result.numbers(), errors = result.numberErrors();
  std::vector<Tally> tallies(values.size());
  forEachCell(map, result, /*withErrors=*/true,
              [&](int64_t first, llvm::ArrayRef<double> x, llvm::ArrayRef<double> e) {
                join({x, e}, llvm::MutableArrayRef(tallies).slice(first, map.dim));
              });
  for (size_t i = 0; i < values.size(); ++i) {
    errors[i] = tallies[i].errorOf(kind, values[i]);
    // Index values are exact where they are known.
    if (result.element == Element::Index && errors[i] != unknown)
      errors[i] = 0;
  }
}

/// The sum is taken of the same powers as the numerators, so the error of the largest cell cancels,
/// and what remains is relative.
void SoftmaxMap::computeErrors(int64_t head, int64_t query,
                               llvm::MutableArrayRef<double> out) const {
  llvm::ArrayRef<double> in = operand->row(head, query), errors = operand->errors(head, query),
                         result = row(head, query);
  double largest = -unknown;
  for (double x : in)
    largest = std::isnan(x) ? largest : std::max(largest, x);
  auto ofPower = [&](size_t i) {
    return std::expm1(errors[i] + f32Rounding * std::abs(in[i] - largest)) + functionError;
  };
  double ofSum = f32Rounding;
  for (size_t i = 0; i < in.size(); ++i) {
    if (errors[i] == unknown)
      ofSum = unknown;
    else if (result[i] > 0)
      ofSum += result[i] * ofPower(i);
  }
  for (size_t i = 0; i < in.size(); ++i) {
    if (Estimate{in[i], errors[i]}.isUndefined())
      out[i] = 0;
    else if (errors[i] == 0 && in[i] == -unknown && ofSum != unknown)
      out[i] = 0; // A weight of 0, or undefined where all are.
    else if (ofSum < 1)
      out[i] = stored(result[i], result[i] * ((1 + ofPower(i)) / (1 - ofSum) - 1 + functionError));
    else
      out[i] = unknown;
  }
}

void SmoothMap::computeErrors(int64_t head, int64_t query,
                              llvm::MutableArrayRef<double> out) const {
  EstimateReader reader(*operand, axes), cellCount(*width, axes);
  reader.moveTo(head, query);
  cellCount.moveTo(head, query);
  llvm::ArrayRef<double> result = row(head, query);
  Estimate widthHere = cellCount.at(0);
  int64_t size = cells(), reach = reachOf(widthHere.value, size);
  for (int64_t i = 0; i < size; ++i) {
    llvm::MutableArrayRef<double> errors = out.slice(i * dim, dim);
    VectorEstimate here = reader.vectorAt(i);
    std::vector<Tally> tallies(dim);
    for (int64_t j = std::max<int64_t>(0, i - reach); j < size && j - i <= reach; ++j)
      join(reader.vectorAt(j), tallies);
    for (int64_t c = 0; c < dim; ++c) {
      Estimate component{here.values[c], here.errors[c]};
      if (component.isUndefined())
        continue;
      errors[c] = widthHere.error != 0 || component.isUnknown()
                      ? unknown
                      : tallies[c].errorOf(Reduction::Mean, result[i * dim + c]);
    }
  }
}

} // namespace skim::reference
