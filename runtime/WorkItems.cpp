#include "runtime/WorkItems.h"

#include <algorithm>
#include <tuple>

namespace skim {

BlockRange queryBlocks(const BatchLengths &lengths, int64_t request, int64_t size) {
  if (lengths.queryLength(request) == 0)
    return {};
  const int64_t first = floorDiv(lengths.base(request), size);
  return {first, floorDiv(lengths.kvLength(request) - 1, size) - first + 1};
}

BlockRange keyBlocks(const BatchLengths &lengths, int64_t request, int64_t size) {
  return {0, ceilDiv(lengths.kvLength(request), size)};
}

CheckedSize maxWorkItems(const KernelDescription &kernel, const Signature &signature,
                         const BatchShape &shape) {
  const int64_t size = kernel.tileSize;
  const int64_t heads = kernel.head == HeadAxis::None     ? 1
                        : kernel.head == HeadAxis::KvHead ? signature.kvHeads
                                                          : signature.queryHeads;
  // Requests without rows have no items.
  const int64_t requests = std::min(shape.requests, shape.totalQueryTokens);
  switch (kernel.axis) {
  case ItemAxis::None:
    return CheckedSize(requests) * heads;
  case ItemAxis::Keys:
    return CheckedSize(requests) * ceilDiv(shape.maxKvLength, size) * heads;
  case ItemAxis::Queries: {
    // A run of n rows touches at most 1 + ceil((n - 1) / size) tiles. Summed over the requests
    // that is bounded both by the longest one and by the total of all rows. Lengths have
    // 31 bits, so nothing below overflows.
    const int64_t longest = std::min(shape.maxQueryLength, shape.totalQueryTokens);
    const int64_t byLongest = longest == 0 ? 0 : requests * (1 + ceilDiv(longest - 1, size));
    const int64_t rowsPastFirst = shape.totalQueryTokens - requests;
    const int64_t byTotal = requests + floorDiv(rowsPastFirst + requests * (size - 1), size);
    return CheckedSize(std::min(byLongest, byTotal)) * heads;
  }
  }
  return 0;
}

int64_t orderRequests(const BatchLengths &lengths, int32_t *order) {
  int64_t count = 0;
  for (int64_t request = 0; request < lengths.requests; ++request)
    if (lengths.queryLength(request) > 0)
      order[count++] = static_cast<int32_t>(request);
  std::sort(order, order + count, [&](int32_t a, int32_t b) {
    const auto rank = [&](int32_t request) {
      return std::tuple(-lengths.kvLength(request), -lengths.queryLength(request), request);
    };
    return rank(a) < rank(b);
  });
  return count;
}

int64_t enumerateWorkItems(const KernelDescription &kernel, const Signature &signature,
                           const BatchLengths &lengths, std::span<const int32_t> order,
                           skim_work_item *items) {
  int64_t groups = 1; // KV heads, and heads in each of their groups
  int64_t headsPerGroup = 1;
  if (kernel.head != HeadAxis::None)
    groups = signature.kvHeads;
  if (kernel.head == HeadAxis::QueryHead)
    headsPerGroup = signature.queryHeads / signature.kvHeads;

  int64_t count = 0;
  for (const int32_t request : order) {
    BlockRange tiles{0, 1};
    if (kernel.axis == ItemAxis::Queries)
      tiles = queryBlocks(lengths, request, kernel.tileSize);
    if (kernel.axis == ItemAxis::Keys)
      tiles = keyBlocks(lengths, request, kernel.tileSize);
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t tile = tiles.first + tiles.count - 1; tile >= tiles.first; --tile)
        for (int64_t head = 0; head < headsPerGroup; ++head)
          items[count++] = {request, static_cast<int32_t>(group * headsPerGroup + head),
                            static_cast<int32_t>(tile), 0};
  }
  return count;
}

} // namespace skim
