#include "test/gpu/SetupRun.h"

#include "runtime/CheckedMath.h"

#include <algorithm>

namespace skim::test {

LaunchPlan idlePlan(const Signature &signature, const std::vector<KernelDescription> &kernels) {
  LaunchPlan plan;
  plan.pattern = "idle";
  plan.signature = signature;
  plan.kernels = kernels;
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    plan.kernels[i].symbol = "idle" + std::to_string(i);
    plan.kernels[i].cuda = CudaLaunch{.threads = 32};
  }
  return plan;
}

Signature signatureOf(int64_t queryHeads, int64_t kvHeads, bool noncausal) {
  Signature signature;
  signature.queryHeads = queryHeads;
  signature.kvHeads = kvHeads;
  signature.headDim = signature.valueDim = 1;
  signature.noncausal = noncausal;
  return signature;
}

std::vector<Item> expectedItems(const KernelDescription &kernel, const Signature &signature,
                                const Batch &batch) {
  const BatchLengths lengths = batch.lengths();
  std::vector<int32_t> order(batch.kvLens.size());
  order.resize(static_cast<size_t>(orderRequests(lengths, order.data())));
  BatchShape shape = {lengths.requests, batch.cuSeqlensQ.back(), batch.cuSeqlensQ.back(),
                      std::max<int64_t>(lengths.longestKv(), 1)};
  std::vector<skim_work_item> items(
      static_cast<size_t>(maxWorkItems(kernel, signature, shape).value()));
  items.resize(
      static_cast<size_t>(enumerateWorkItems(kernel, signature, lengths, order, items.data())));
  const int64_t headsPerGroup =
      kernel.head == HeadAxis::QueryHead ? signature.queryHeads / signature.kvHeads : 1;
  const auto lastTile = [&](int32_t request) {
    return kernel.axis == ItemAxis::None ? 0
                                         : floorDiv(lengths.kvLength(request) - 1, kernel.tileSize);
  };
  const auto rank = [&](const skim_work_item &item) {
    const int64_t group = kernel.head == HeadAxis::None ? 0 : item.head / headsPerGroup;
    return signature.noncausal ? std::tuple(group, -lastTile(item.request), int64_t{item.request},
                                            -int64_t{item.tile}, int64_t{item.head})
                               : std::tuple(group, -int64_t{item.tile}, int64_t{item.request},
                                            int64_t{0}, int64_t{item.head});
  };
  std::ranges::sort(items, [&](const auto &a, const auto &b) { return rank(a) < rank(b); });
  std::vector<Item> result;
  for (const skim_work_item &item : items)
    result.emplace_back(item.request, item.head, item.tile);
  return result;
}

} // namespace skim::test
