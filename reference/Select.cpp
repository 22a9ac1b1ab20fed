#include "reference/Select.h"

#include <algorithm>

namespace skim::reference {

int64_t selectionCount(double x, int64_t existing) {
  double count = std::ceil(x - 1e-6 * std::max(1.0, x));
  if (!(count > 0)) // Also for an undefined amount.
    return 0;
  return count < static_cast<double>(existing) ? static_cast<int64_t>(count) : existing;
}

/// How many of the cells, in descending order, `top_p` takes.
static int64_t prefixLength(llvm::ArrayRef<double> descending, double mass) {
  if (std::isnan(mass))
    return 0;
  double total = 0, prefix = 0;
  for (double x : descending)
    total += std::max(x, 0.0);
  for (size_t i = 0; i < descending.size(); ++i) {
    prefix += std::max(descending[i], 0.0);
    if (prefix >= mass * total)
      return i + 1;
  }
  return descending.size();
}

SelectMap::SelectMap(Kind kind, MapPtr map, MapPtr size, Axes axes)
    : LazyMap(map->request, axes, Element::Bool), kind(kind), scores(std::move(map)),
      amount(std::move(size)) {
  use(*scores);
  use(*amount);
}

void SelectMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader reader(*scores, axes), size(*amount, axes);
  reader.moveTo(head, query);
  size.moveTo(head, query);
  llvm::ArrayRef<double> row = reader.scalars();
  std::vector<int64_t> order;
  for (int64_t i = 0, end = row.size(); i < end; ++i)
    if (!std::isnan(row[i]))
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return row[a] > row[b]; });

  int64_t count = 0;
  if (kind == Kind::TopK) {
    count = selectionCount(size.scalar(0), order.size());
  } else {
    std::vector<double> descending;
    descending.reserve(order.size());
    for (int64_t i : order)
      descending.push_back(row[i]);
    count = prefixLength(descending, size.scalar(0));
  }
  std::fill(out.begin(), out.end(), 0);
  for (int64_t i = 0; i < count; ++i)
    out[order[i]] = 1;
}

MapPtr coverBlocks(const Map &set, int64_t queryBlock, int64_t keyBlock) {
  const Request &request = set.request;
  auto result = std::make_shared<DenseMap>(
      request, Axes{set.axes.head, queryBlock, keyBlock, false}, Element::Bool);
  result->use(set);
  Axes pairs{set.axes.head, 1, 1, false};
  Reader reader(set, pairs);
  for (int64_t head = 0; head < request.headCount(set.axes.head); ++head) {
    for (int64_t q = request.base(); q < request.kvLen; ++q) {
      reader.moveTo(head, q);
      llvm::MutableArrayRef<double> blocks = result->mutableRow(head, floorDiv(q, queryBlock));
      for (int64_t k = 0; k < request.kvLen && request.sees(q, k); ++k)
        if (isTrue(reader.scalar(k)))
          blocks[k / keyBlock] = 1;
    }
  }
  if (set.scored && request.withErrors)
    addCoverErrors(set, *result);
  return result;
}

CoverKeysMap::CoverKeysMap(MapPtr source, int64_t keyBlock)
    : LazyMap(source->request, Axes{source->axes.head, 1, keyBlock, false}, Element::Bool),
      set(std::move(source)) {
  use(*set);
}

void CoverKeysMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader reader(*set, Axes{axes.head, 1, 1, false});
  reader.moveTo(head, query);
  std::fill(out.begin(), out.end(), 0);
  for (int64_t k = 0; k < request.kvLen && request.sees(query, k); ++k)
    if (isTrue(reader.scalar(k)))
      out[k / axes.key] = 1;
}

} // namespace skim::reference
