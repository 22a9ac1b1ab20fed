// The work items that the device makes from lengths in its memory.
#include "test/gpu/DeviceProblem.h"
#include "test/gpu/TestImage.h"

#include "runtime/WorkItems.h"
#include "runtime/WorkspaceLayout.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <tuple>

using namespace skim;
using namespace skim::test;

namespace {

class DeviceWorkItems : public GpuTest {};

using Item = std::tuple<int, int, int>; // request, head, tile

/// A plan whose kernels have these items and do nothing.
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

/// Entry points that return at once, one a kernel.
std::string idleImage(size_t kernels) {
  std::string ptx = ".version 7.0\n.target sm_80\n.address_size 64\n";
  for (size_t i = 0; i < kernels; ++i)
    ptx += ".visible .entry idle" + std::to_string(i) +
           "(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .align 64 .b8 "
           "e[128], .param .align 64 .b8 f[128], .param .align 64 .b8 g[128]) { ret; }\n";
  return ptx;
}

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

std::vector<KernelDescription> everyKind(int64_t tileSize) {
  std::vector<KernelDescription> kernels;
  for (const HeadAxis head : {HeadAxis::None, HeadAxis::KvHead, HeadAxis::QueryHead})
    for (const ItemAxis axis : {ItemAxis::None, ItemAxis::Queries, ItemAxis::Keys})
      kernels.push_back({"", head, axis, tileSize});
  return kernels;
}

Signature signatureOf(int64_t queryHeads, int64_t kvHeads, bool noncausal) {
  Signature signature;
  signature.queryHeads = queryHeads;
  signature.kvHeads = kvHeads;
  signature.headDim = signature.valueDim = 1;
  signature.noncausal = noncausal;
  return signature;
}

TEST_F(DeviceWorkItems, agreeWithTheCpuOverRandomBatches) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  const DeviceStream stream;
  for (const bool noncausal : {false, true})
    for (const int64_t tileSize : {1, 16, 100, 128}) {
      const Signature signature = signatureOf(6, 2, noncausal);
      const auto kernels = everyKind(tileSize);
      const Expected<Kernel> kernel =
          Kernel::createCuda(idlePlan(signature, kernels), idleImage(kernels.size()));
      ASSERT_TRUE(kernel) << kernel.status().message();
      SetupRun run(*kernel, {700, 20000, 2000, 5000});
      for (int round = 0; round < 12; ++round) {
        Batch batch;
        const int requests = round == 0 ? 0 : round == 1 ? 700 : 1 + below(40);
        for (int r = 0; r < requests; ++r) {
          const int longest = requests > 40 ? 28 : 400;
          batch.add(below(4) == 0 ? 0 : below(longest), below(4) == 0 ? 0 : below(5000));
        }
        run.upload(batch);
        const Status status = run.run(stream.get());
        ASSERT_TRUE(status) << status.message();
        stream.wait();
        for (size_t i = 0; i < kernels.size(); ++i)
          ASSERT_EQ(run.items(i), expectedItems(kernels[i], signature, batch))
              << "kernel " << i << " round " << round << " tile " << tileSize;
        ASSERT_TRUE(kernel->status(stream.get()));
      }
    }
}

TEST_F(DeviceWorkItems, moreKernelsThanOneLaunchOfTheSetup) {
  const Signature signature = signatureOf(4, 2, false);
  std::vector<KernelDescription> kernels;
  for (int64_t i = 0; i < 35; ++i)
    kernels.push_back({"", HeadAxis::QueryHead, ItemAxis::Queries, 1 + i});
  const Expected<Kernel> kernel =
      Kernel::createCuda(idlePlan(signature, kernels), idleImage(kernels.size()));
  ASSERT_TRUE(kernel) << kernel.status().message();
  Batch batch;
  batch.add(77, 99);
  batch.add(3, 2);
  SetupRun run(*kernel, {2, 80, 77, 99});
  run.upload(batch);
  const DeviceStream stream;
  ASSERT_TRUE(run.run(stream.get()));
  stream.wait();
  for (size_t i = 0; i < kernels.size(); ++i)
    EXPECT_EQ(run.items(i), expectedItems(kernels[i], signature, batch)) << i;
}

struct BadLengths {
  const char *name;
  std::vector<int32_t> cuSeqlensQ, kvLens;
  std::vector<int> served; ///< requests that are sound
};

TEST_F(DeviceWorkItems, requestsWhoseLengthsContradictThePlanHaveNone) {
  const Signature signature = signatureOf(1, 1, false);
  const std::vector<KernelDescription> kernels = {{"", HeadAxis::None, ItemAxis::None, 1}};
  const Expected<Kernel> kernel = Kernel::createCuda(idlePlan(signature, kernels), idleImage(1));
  ASSERT_TRUE(kernel) << kernel.status().message();
  const DeviceStream stream;
  const BadLengths cases[] = {
      {"negative kv_len", {0, 2, 4}, {5, -1}, {0}},
      {"kv_len too long", {0, 2, 4}, {101, 5}, {1}},
      {"q_len too long", {0, 11, 13}, {50, 50}, {1}},
      {"falling", {0, 6, 4, 8}, {9, 9, 9}, {0}},
      {"back and forth", {0, 10, 0, 10, 0, 10}, {9, 9, 9, 9, 9}, {0}},
      {"not from 0", {1, 3, 5}, {9, 9}, {1}},
      {"negative start", {-4, 3, 5}, {9, 9}, {1}},
      {"past the operands", {0, 10, 20, 30}, {9, 9, 9}, {0, 1}},
      {"largest", {0, 2147483647, 2147483647}, {9, 2147483647}, {}},
      {"smallest", {0, -2147483647 - 1, 3}, {-2147483647 - 1, 9}, {}},
  };
  for (const BadLengths &bad : cases) {
    SetupRun run(*kernel, {5, 20, 10, 100});
    Batch batch;
    batch.cuSeqlensQ = bad.cuSeqlensQ;
    batch.kvLens = bad.kvLens;
    run.upload(batch);
    ASSERT_TRUE(run.run(stream.get())) << bad.name;
    stream.wait();
    std::vector<int> served;
    for (const Item &item : run.items(0))
      served.push_back(std::get<0>(item));
    EXPECT_EQ(served, bad.served) << bad.name;
    const Status status = kernel->status(stream.get());
    EXPECT_EQ(status.code(), StatusCode::DataOutOfRange) << bad.name;
    EXPECT_NE(status.message().find("the lengths of a request"), std::string::npos)
        << status.message();
    EXPECT_TRUE(kernel->status(stream.get())) << "reported once";
  }
}

TEST_F(DeviceWorkItems, costLittle) {
  const Signature signature = signatureOf(32, 8, false);
  const std::vector<KernelDescription> kernels = {
      {"", HeadAxis::QueryHead, ItemAxis::Queries, 128}};
  const Expected<Kernel> kernel = Kernel::createCuda(idlePlan(signature, kernels), idleImage(1));
  ASSERT_TRUE(kernel) << kernel.status().message();
  const DeviceStream stream;
  std::mt19937 random(3);
  struct Case {
    const char *name;
    int64_t requests, longest, mostMicroseconds;
  };
  for (const Case &each :
       {Case{"1 request of 128K", 1, 131072, 25}, Case{"64 requests, 512K tokens", 64, 8192, 40},
        Case{"1024 requests of 1 row", 1024, 1, 60},
        Case{"256 requests, 2M tokens", 256, 8192, 120}}) {
    Batch batch;
    for (int64_t r = 0; r < each.requests; ++r)
      batch.add(each.longest, std::max<int64_t>(each.longest, 4096));
    const int64_t total = batch.cuSeqlensQ.back();
    SetupRun run(*kernel, {each.requests, total, each.longest, int64_t{1} << 20});
    run.upload(batch);
    const double all = stream.time([&] { ASSERT_TRUE(run.run(stream.get())); });
    const CapturedGraph graph(stream, [&] { ASSERT_TRUE(run.run(stream.get())); });
    const double replayed = stream.time([&] { graph.launch(stream); });
    stream.wait();
    std::printf("%-26s %7zu items: %6.1f us a run, %6.1f us a replay, page check and empty kernel "
                "included\n",
                each.name, run.items(0).size(), all * 1e6, replayed * 1e6);
    EXPECT_LT(replayed * 1e6, static_cast<double>(each.mostMicroseconds)) << each.name;
    EXPECT_EQ(run.items(0), expectedItems(kernels[0], signature, batch));
  }
}

} // namespace
