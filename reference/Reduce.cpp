#include "reference/Reduce.h"

#include "reference/ReduceCells.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace skim::reference {

static double combine(Reduction kind, double total, double x) {
  if (std::isnan(total))
    return x;
  if (kind == Reduction::Max)
    return std::max(total, x);
  return kind == Reduction::Min ? std::min(total, x) : total + x;
}

/// Of the sums of n cells and of their squares. Rounding may take the difference below 0.
static double variance(double sum, double squares, double n) {
  double mean = sum / n;
  double result = squares / n - mean * mean;
  return result < 0 ? 0 : result;
}

MapPtr reduce(Reduction kind, const Map &map, const Axes &target) {
  bool averages = kind == Reduction::Mean || kind == Reduction::Var;
  Element element = averages && map.element == Element::Index ? Element::F32 : map.element;
  auto result = std::make_shared<DenseMap>(map.request, target, element, map.dim);
  result->use(map);
  llvm::MutableArrayRef<double> totals = result->numbers();
  std::vector<double> counts(averages ? totals.size() : 0);
  std::vector<double> squares(kind == Reduction::Var ? totals.size() : 0);
  forEachCell(map, *result, /*withErrors=*/false,
              [&](int64_t first, llvm::ArrayRef<double> x, llvm::ArrayRef<double>) {
                for (size_t i = 0; i < x.size(); ++i) {
                  if (std::isnan(x[i]))
                    continue;
                  double &total = totals[first + i];
                  total = combine(kind, total, x[i]);
                  if (averages)
                    counts[first + i] += 1;
                  if (kind == Reduction::Var)
                    squares[first + i] += x[i] * x[i];
                }
              });
  for (size_t i = 0; i < totals.size(); ++i) {
    if (kind == Reduction::Mean)
      totals[i] /= counts[i];
    else if (kind == Reduction::Var)
      totals[i] = variance(totals[i], squares[i], counts[i]);
    // Numbers that do not depend on operands are f32 (rule 9).
    if (element == Element::F32 && !map.scored)
      totals[i] = static_cast<float>(totals[i]);
  }
  if (map.scored && map.request.withErrors)
    addErrors(kind, map, *result);
  return result;
}

SoftmaxMap::SoftmaxMap(MapPtr source)
    : LazyMap(source->request, source->axes, Element::F32), operand(std::move(source)) {
  use(*operand);
}

void SoftmaxMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  llvm::ArrayRef<double> in = operand->row(head, query);
  double maximum = undefined, sum = 0;
  for (double x : in)
    if (!std::isnan(x))
      maximum = combine(Reduction::Max, maximum, x);
  auto number = [&](double x) { return scored ? x : static_cast<float>(x); };
  for (size_t i = 0; i < in.size(); ++i) {
    out[i] = number(std::exp(number(in[i] - maximum)));
    if (!std::isnan(out[i]))
      sum += out[i];
  }
  for (double &x : out)
    x = number(x / number(sum));
}

int64_t SmoothMap::reachOf(double width, int64_t cells) {
  return static_cast<int64_t>(std::min<double>(width, 2.0 * cells + 1)) / 2;
}

SmoothMap::SmoothMap(MapPtr source, MapPtr cellCount, Axes axes)
    : LazyMap(source->request, axes, source->element == Element::Vec ? Element::Vec : Element::F32),
      operand(std::move(source)), width(std::move(cellCount)) {
  use(*operand);
  use(*width);
  dim = operand->dim;
}

void SmoothMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader values(*operand, axes), cellCount(*width, axes);
  values.moveTo(head, query);
  cellCount.moveTo(head, query);
  int64_t size = cells(), reach = reachOf(cellCount.scalar(0), size);
  for (int64_t i = 0; i < size; ++i) {
    llvm::MutableArrayRef<double> mean = out.slice(i * dim, dim);
    for (int64_t c = 0; c < dim; ++c) {
      if (std::isnan(values.at(i)[c]))
        continue;
      double sum = 0, count = 0;
      for (int64_t j = std::max<int64_t>(0, i - reach); j < size && j - i <= reach; ++j) {
        double x = values.at(j)[c];
        if (std::isnan(x))
          continue;
        sum += x;
        count += 1;
      }
      mean[c] = scored ? sum / count : static_cast<float>(sum / count);
    }
  }
}

} // namespace skim::reference
