// The order in which a device takes work items whose visits a kernel counts.
#include "test/gpu/SetupRun.h"
#include "test/gpu/TestImage.h"

#include "runtime/cuda/device/OrderPhases.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

using namespace skim;
using namespace skim::test;

namespace {

class DeviceOrder : public GpuTest {};

/// The order by the counts of `count_visits` (TestKernels.c): requests of a KV head stay together.
std::vector<Item> expectedOrder(const Signature &signature, std::vector<Item> items) {
  const auto visitsOf = [](const Item &item) {
    const int sum = std::get<0>(item) * 37 + std::get<1>(item) * 501 + std::get<2>(item) * 77;
    return static_cast<int32_t>(static_cast<uint32_t>(sum) % 1009);
  };
  const auto headsPerGroup = static_cast<int>(signature.queryHeads / signature.kvHeads);
  const auto groupOf = [&](const Item &item) {
    return std::pair(std::get<1>(item) / headsPerGroup, std::get<0>(item));
  };
  std::map<std::pair<int, int>, int32_t> longest;
  for (const Item &item : items)
    longest[groupOf(item)] = std::max(longest[groupOf(item)], visitsOf(item));
  const auto rank = [&](const Item &item) {
    const int32_t most = longest[groupOf(item)];
    return std::tuple(-most, groupOf(item), skim_order_bin(visitsOf(item), most),
                      -std::get<2>(item), std::get<1>(item));
  };
  std::ranges::sort(items, [&](const Item &a, const Item &b) { return rank(a) < rank(b); });
  return items;
}

LaunchPlan countingPlan(const Signature &signature, int64_t tileSize) {
  LaunchPlan plan =
      idlePlan(signature, {2, {"", HeadAxis::QueryHead, ItemAxis::Queries, tileSize}});
  plan.kernels[0].symbol = "count_visits";
  plan.kernels[1].symbol = "idle";
  plan.kernels[1].cuda->orderedBy = 0;
  return plan;
}

TEST_F(DeviceOrder, comeLongestFirstWhereVisitsAreCounted) {
  std::mt19937 random(9);
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  const DeviceStream stream;
  const Signature signature = signatureOf(6, 2, false);
  const Expected<Kernel> kernel = Kernel::createCuda(countingPlan(signature, 16), kTestImage);
  ASSERT_TRUE(kernel) << kernel.status().message();
  SetupRun run(*kernel, {64, 40000, 40000, 40000});
  // Lengths change in place, also under a captured graph.
  run.upload(Batch{std::vector<int32_t>(65, 0), std::vector<int32_t>(64, 0)});
  const CapturedGraph graph(stream, [&] { ASSERT_TRUE(run.run(stream.get())); });
  for (int round = 0; round < 12; ++round) {
    Batch batch;
    for (int r = 0; r < 64; ++r)
      batch.add(round == 0 ? r == 5 ? 40000 : 0 : below(3) == 0 ? 0 : below(600), below(5000));
    run.rewrite(batch);
    if (round % 2)
      graph.launch(stream);
    else
      ASSERT_TRUE(run.run(stream.get()));
    stream.wait();
    const std::vector<Item> items =
        expectedItems(kernel->launchPlan().kernels[1], signature, batch);
    ASSERT_EQ(run.items(1), expectedOrder(signature, items)) << round;
    ASSERT_TRUE(kernel->status(stream.get()));
  }
}

TEST_F(DeviceOrder, coverTheRequestsThereAreNotThosePlanned) {
  const DeviceStream stream;
  const Signature signature = signatureOf(6, 2, false);
  const Expected<Kernel> kernel = Kernel::createCuda(countingPlan(signature, 16), kTestImage);
  ASSERT_TRUE(kernel) << kernel.status().message();
  SetupRun run(*kernel, {64, 40000, 40000, 40000});
  // Each batch finds the groups of the larger one before it in the workspace.
  for (const int requests : {64, 21, 1, 0}) {
    Batch batch;
    for (int r = 0; r < requests; ++r)
      batch.add(100 + r * 7, 1000 + r * 37 % 500);
    run.upload(batch);
    ASSERT_TRUE(run.run(stream.get())) << requests;
    stream.wait();
    const std::vector<Item> items =
        expectedItems(kernel->launchPlan().kernels[1], signature, batch);
    EXPECT_EQ(run.items(1), expectedOrder(signature, items)) << requests;
    ASSERT_TRUE(kernel->status(stream.get()));
  }
}

TEST_F(DeviceOrder, comeAsTheirPositionsSayWhereThereAreFewOrVeryMany) {
  const DeviceStream stream;
  const Signature signature = signatureOf(6, 2, false);
  const Expected<Kernel> kernel = Kernel::createCuda(countingPlan(signature, 16), kTestImage);
  ASSERT_TRUE(kernel) << kernel.status().message();
  for (const int64_t tokens : {100, 400000}) {
    Batch batch;
    batch.add(tokens, 2 * tokens);
    SetupRun run(*kernel, {1, tokens, tokens, 2 * tokens});
    run.upload(batch);
    ASSERT_TRUE(run.run(stream.get()));
    stream.wait();
    EXPECT_EQ(run.items(1), expectedItems(kernel->launchPlan().kernels[1], signature, batch));
  }
}

TEST_F(DeviceOrder, orderingCostsLittle) {
  const DeviceStream stream;
  const Signature signature = signatureOf(32, 8, false);
  const Expected<Kernel> kernel = Kernel::createCuda(countingPlan(signature, 192), kTestImage);
  ASSERT_TRUE(kernel) << kernel.status().message();
  for (const int64_t requests : {1, 64}) {
    Batch batch;
    for (int64_t r = 0; r < requests; ++r)
      batch.add(131072 / requests, 131072 / requests);
    SetupRun run(*kernel, {requests, 131072, 131072 / requests, 131072 / requests});
    run.upload(batch);
    const CapturedGraph graph(stream, [&] { ASSERT_TRUE(run.run(stream.get())); });
    const double seconds = stream.time([&] { graph.launch(stream); });
    stream.wait();
    std::printf("%2d requests, 128K tokens: %6.1f us to make, count and order %zu items\n",
                static_cast<int>(requests), seconds * 1e6, run.items(1).size());
    EXPECT_LT(seconds, 120e-6) << requests;
  }
}

} // namespace
