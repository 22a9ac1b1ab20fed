// The work items of a kernel: which there are, and in which order they are handed out.
#ifndef SKIM_RUNTIME_WORKITEMS_H
#define SKIM_RUNTIME_WORKITEMS_H

#include "runtime/CheckedMath.h"
#include "runtime/LaunchPlan.h"

#include <skim/Batch.h>
#include <skim/abi.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace skim {

/// The lengths of a batch that passed its checks.
struct BatchLengths {
  const int32_t *cuSeqlensQ = nullptr;
  const int32_t *kvLens = nullptr;
  int64_t requests = 0;

  int64_t queryLength(int64_t request) const {
    return static_cast<int64_t>(cuSeqlensQ[request + 1]) - cuSeqlensQ[request];
  }
  int64_t kvLength(int64_t request) const { return kvLens[request]; }
  int64_t longestKv() const {
    return requests == 0 ? 0 : *std::max_element(kvLens, kvLens + requests);
  }
  /// Absolute position of the request's first row; negative where q_len exceeds kv_len.
  int64_t base(int64_t request) const { return kvLength(request) - queryLength(request); }
};

/// Blocks of `size` positions, counted from absolute position 0.
struct BlockRange {
  int64_t first = 0;
  int64_t count = 0;
};

/// The blocks that hold a query row of the request (none where it has no row).
BlockRange queryBlocks(const BatchLengths &lengths, int64_t request, int64_t size);
/// The blocks that hold a key of the request.
BlockRange keyBlocks(const BatchLengths &lengths, int64_t request, int64_t size);

/// The most items that any batch within `shape` has.
CheckedSize maxWorkItems(const KernelDescription &kernel, const Signature &signature,
                         const BatchShape &shape);

/// Puts the requests that have query rows into `order`, the longest first (most keys, then most
/// rows, then the lower number). Returns how many.
int64_t orderRequests(const BatchLengths &lengths, int32_t *order);

/// Writes the items of `kernel` and returns their number. Items of one request and KV head stand
/// together, so that threads share its keys and values in their caches; among them
/// the tile that sees most keys comes first.
int64_t enumerateWorkItems(const KernelDescription &kernel, const Signature &signature,
                           const BatchLengths &lengths, std::span<const int32_t> order,
                           skim_work_item *items);

} // namespace skim

#endif // SKIM_RUNTIME_WORKITEMS_H
