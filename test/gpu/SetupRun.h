// The work items that the setup of a run makes on a device, and those that are expected.
#ifndef SKIM_TEST_GPU_SETUPRUN_H
#define SKIM_TEST_GPU_SETUPRUN_H

#include "test/gpu/Device.h"

#include "runtime/WorkItems.h"
#include "runtime/WorkspaceLayout.h"

#include <skim/Kernel.h>

#include <tuple>
#include <vector>

namespace skim::test {

using Item = std::tuple<int, int, int>; // request, head, tile

/// A plan whose kernels have these items and do nothing.
LaunchPlan idlePlan(const Signature &signature, const std::vector<KernelDescription> &kernels);

Signature signatureOf(int64_t queryHeads, int64_t kvHeads, bool noncausal);

/// Lengths alone, over operands without contents.
struct Batch {
  std::vector<int32_t> cuSeqlensQ{0};
  std::vector<int32_t> kvLens;

  void add(int64_t query, int64_t kv) {
    cuSeqlensQ.push_back(static_cast<int32_t>(cuSeqlensQ.back() + query));
    kvLens.push_back(static_cast<int32_t>(kv));
  }
  BatchLengths lengths() const {
    return {cuSeqlensQ.data(), kvLens.data(), static_cast<int64_t>(kvLens.size())};
  }
};

/// Runs the setup for a batch and reads back what it made.
class SetupRun {
public:
  SetupRun(const Kernel &kernel, const BatchShape &shape)
      : kernel_(kernel), shape_(shape), plan_(*kernel.plan(shape)),
        layout_(*layOutDeviceWorkspace(kernel.launchPlan(), shape, 1)),
        workspace_(static_cast<size_t>(plan_.workspaceBytes()), 0xff), memory_(256),
        out_(static_cast<size_t>(shape.totalQueryTokens * kernel.launchPlan().signature.queryHeads *
                                 4)) {}

  void upload(const Batch &batch) {
    cuSeqlensQ_ = DeviceArray(batch.cuSeqlensQ);
    kvLens_ = DeviceArray(batch.kvLens);
    const std::vector<int32_t> table(batch.kvLens.size(), 0);
    blockTable_ = DeviceArray(table);
    requests_ = static_cast<int64_t>(batch.kvLens.size());
  }

  /// Other lengths of as many requests, at the same addresses.
  void rewrite(const Batch &batch) const {
    cuSeqlensQ_.write(batch.cuSeqlensQ);
    kvLens_.write(batch.kvLens);
  }

  Status run(cuda::Stream stream) const {
    const Signature &signature = kernel_.launchPlan().signature;
    Operands operands;
    const int64_t tokens = shape_.totalQueryTokens;
    // All rows share one element: nothing reads or writes them.
    const auto rows = [&](DType dtype, int64_t heads) {
      return TensorView::strided(memory_.data(), dtype, {tokens, heads, 1}, {0, 0, 1});
    };
    operands.q = rows(signature.operand, signature.queryHeads);
    operands.out =
        TensorView::contiguous(out_.data(), signature.output, {tokens, signature.queryHeads, 1});
    operands.kvLayout = KvLayout::PagedNhd;
    operands.k = operands.v =
        TensorView::strided(memory_.data(), signature.operand,
                            {1, int64_t{1} << 30, signature.kvHeads, 1}, {0, 0, 0, 1});
    operands.cuSeqlensQ = TensorView::contiguous(cuSeqlensQ_.data(), DType::I32, {requests_ + 1});
    operands.kvLens = TensorView::contiguous(kvLens_.data(), DType::I32, {requests_});
    operands.blockTable = TensorView::contiguous(blockTable_.data(), DType::I32, {requests_, 1});
    RunOptions options;
    options.stream = stream;
    return kernel_.run(plan_, operands, {}, workspace_.span(), options);
  }

  std::vector<Item> items(size_t kernel) const {
    const KernelRegion &region = layout_.kernels[kernel];
    EXPECT_EQ(word(region.nextItem), 0);
    const int32_t count = word(region.itemCount);
    EXPECT_LE(count, region.mostItems);
    std::vector<skim_work_item> read(
        static_cast<size_t>(std::clamp<int64_t>(count, 0, region.mostItems)));
    workspace_.read(std::as_writable_bytes(std::span(read)), static_cast<size_t>(region.items));
    std::vector<Item> items;
    for (const skim_work_item &item : read)
      items.emplace_back(item.request, item.head, item.tile);
    return items;
  }

private:
  int32_t word(int64_t offset) const {
    int32_t value = 0;
    workspace_.read(std::as_writable_bytes(std::span(&value, 1)), static_cast<size_t>(offset));
    return value;
  }

  const Kernel &kernel_;
  BatchShape shape_;
  Plan plan_;
  WorkspaceLayout layout_;
  DeviceBytes workspace_;
  DeviceBytes memory_;
  DeviceBytes out_;
  DeviceArray<int32_t> cuSeqlensQ_, kvLens_, blockTable_;
  int64_t requests_ = 0;
};

/// Every item of the CPU's runtime, in the order of devices: by KV head, then the tile that sees
/// most keys, then by request and head.
std::vector<Item> expectedItems(const KernelDescription &kernel, const Signature &signature,
                                const Batch &batch);

} // namespace skim::test

#endif // SKIM_TEST_GPU_SETUPRUN_H
