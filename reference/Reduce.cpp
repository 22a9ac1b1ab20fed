#include "reference/Reduce.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace skim::reference {

namespace {

/// Where the cells of a map go in its reduction.
class Destination {
public:
  Destination(const Map &map, const Axes &target)
      : map(map), request(map.request), target(target) {}

  int64_t head(int64_t head) const {
    if (target.head == map.axes.head)
      return head;
    return target.head == HeadAxis::KvHead ? request.kvHeadOf(head) : 0;
  }
  int64_t query(int64_t query) const {
    return target.query ? floorDiv(query * map.axes.query, target.query) : 0;
  }
  /// -1 for pairs that lie on no diagonal (causality hides them).
  int64_t key(int64_t query, int64_t key) const {
    if (!target.hasKeyLike())
      return 0;
    if (!target.diagonal)
      return floorDiv(key * map.axes.key, target.key);
    if (map.axes.diagonal)
      return key;
    int64_t cell = query - key - request.firstDiagonal();
    return cell >= 0 && cell < request.keyCells(target) ? cell : -1;
  }

private:
  const Map &map;
  const Request &request;
  Axes target;
};

bool isDefined(llvm::ArrayRef<double> cell) {
  return llvm::none_of(cell, [](double x) { return std::isnan(x); });
}

/// Calls `visit(head, query, key, x)` with the place in the result of every
/// defined cell `x` of `map`.
template <typename Visit> void forEachCell(const Map &map, DenseMap &result, Visit visit) {
  const Request &request = map.request;
  Destination to(map, result.axes);
  int64_t first = request.firstQueryCell(map.axes.query);
  int64_t last = first + request.queryCells(map.axes.query);
  for (int64_t head = 0; head < request.headCount(map.axes.head); ++head) {
    for (int64_t q = first; q < last; ++q) {
      llvm::ArrayRef<double> row = map.row(head, q);
      for (int64_t cell = 0, end = map.cells(); cell < end; ++cell) {
        llvm::ArrayRef<double> x = row.slice(cell * map.dim, map.dim);
        int64_t key = to.key(q, cell);
        if (key >= 0 && isDefined(x))
          visit(to.head(head), to.query(q), key, x);
      }
    }
  }
}

double combine(Reduction kind, double total, double x) {
  if (std::isnan(total))
    return x;
  if (kind == Reduction::Max)
    return std::max(total, x);
  return kind == Reduction::Min ? std::min(total, x) : total + x;
}

/// Calls `change(number, its index in the row, head, query)` for every number.
template <typename Change> void forEachNumber(DenseMap &map, Change change) {
  const Request &request = map.request;
  int64_t first = request.firstQueryCell(map.axes.query);
  for (int64_t head = 0; head < request.headCount(map.axes.head); ++head) {
    for (int64_t q = first; q < first + request.queryCells(map.axes.query); ++q) {
      llvm::MutableArrayRef<double> row = map.mutableRow(head, q);
      for (size_t i = 0; i < row.size(); ++i)
        change(row[i], i, head, q);
    }
  }
}

void divide(DenseMap &sums, const DenseMap &counts) {
  forEachNumber(sums, [&](double &x, size_t i, int64_t head, int64_t query) {
    x /= counts.row(head, query)[i];
  });
}

/// The mean, or the mean squared deviation from it.
std::shared_ptr<DenseMap> average(Reduction kind, const Map &map, std::shared_ptr<DenseMap> sum) {
  const Axes &target = sum->axes;
  DenseMap count(map.request, target, Element::Index, map.dim);
  forEachCell(map, count, [&](int64_t head, int64_t query, int64_t key, llvm::ArrayRef<double> x) {
    for (double &n : count.mutableRow(head, query).slice(key * map.dim, map.dim))
      n = std::isnan(n) ? 1 : n + 1;
  });
  divide(*sum, count);
  if (kind == Reduction::Mean)
    return sum;
  auto squares = std::make_shared<DenseMap>(map.request, target, sum->element, map.dim);
  squares->use(map);
  forEachCell(map, *squares,
              [&](int64_t head, int64_t query, int64_t key, llvm::ArrayRef<double> x) {
                for (int64_t i = 0; i < map.dim; ++i) {
                  double &total = squares->mutableRow(head, query)[key * map.dim + i];
                  double deviation = x[i] - sum->row(head, query)[key * map.dim + i];
                  total = combine(Reduction::Sum, total, deviation * deviation);
                }
              });
  divide(*squares, count);
  return squares;
}

} // namespace

MapPtr reduce(Reduction kind, const Map &map, const Axes &target) {
  bool averages = kind == Reduction::Mean || kind == Reduction::Var;
  Element element = averages && map.element == Element::Index ? Element::F32 : map.element;
  auto result = std::make_shared<DenseMap>(map.request, target, element, map.dim);
  result->use(map);
  forEachCell(map, *result,
              [&](int64_t head, int64_t query, int64_t key, llvm::ArrayRef<double> x) {
                llvm::MutableArrayRef<double> total =
                    result->mutableRow(head, query).slice(key * map.dim, map.dim);
                for (size_t i = 0; i < x.size(); ++i)
                  total[i] = combine(kind, total[i], x[i]);
              });
  if (averages)
    result = average(kind, map, std::move(result));
  // Numbers that do not depend on operands are f32 (rule 9).
  if (element == Element::F32 && !map.scored)
    forEachNumber(*result, [](double &x, size_t, int64_t, int64_t) { x = static_cast<float>(x); });
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
  for (size_t i = 0; i < in.size(); ++i) {
    out[i] = std::exp(in[i] - maximum);
    if (!std::isnan(out[i]))
      sum += out[i];
  }
  for (double &x : out)
    x = scored ? x / sum : static_cast<float>(x / sum);
}

SmoothMap::SmoothMap(MapPtr source, MapPtr cellCount, Axes axes)
    : LazyMap(source->request, axes, Element::F32), operand(std::move(source)),
      width(std::move(cellCount)) {
  use(*operand);
  use(*width);
}

void SmoothMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader values(*operand, axes), cellCount(*width, axes);
  values.moveTo(head, query);
  cellCount.moveTo(head, query);
  llvm::ArrayRef<double> in = values.scalars();
  int64_t size = in.size();
  int64_t reach = static_cast<int64_t>(std::min<double>(cellCount.scalar(0), 2.0 * size + 1)) / 2;
  for (int64_t i = 0; i < size; ++i) {
    if (std::isnan(in[i]))
      continue;
    double sum = 0, count = 0;
    for (int64_t j = std::max<int64_t>(0, i - reach); j < size && j - i <= reach; ++j) {
      if (std::isnan(in[j]))
        continue;
      sum += in[j];
      count += 1;
    }
    out[i] = scored ? sum / count : static_cast<float>(sum / count);
  }
}

} // namespace skim::reference
