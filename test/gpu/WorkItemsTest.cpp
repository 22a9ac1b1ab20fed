// The work items that the device makes from lengths in its memory.
#include "test/gpu/SetupRun.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <tuple>

using namespace skim;
using namespace skim::test;

namespace {

class DeviceWorkItems : public GpuTest {};

/// Entry points that return at once, one a kernel.
std::string idleImage(size_t kernels) {
  std::string ptx = ".version 7.0\n.target sm_80\n.address_size 64\n";
  for (size_t i = 0; i < kernels; ++i)
    ptx += ".visible .entry idle" + std::to_string(i) +
           "(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .align 64 .b8 "
           "e[128], .param .align 64 .b8 f[128], .param .align 64 .b8 g[128]) { ret; }\n";
  return ptx;
}

std::vector<KernelDescription> everyKind(int64_t tileSize) {
  std::vector<KernelDescription> kernels;
  for (const HeadAxis head : {HeadAxis::None, HeadAxis::KvHead, HeadAxis::QueryHead})
    for (const ItemAxis axis : {ItemAxis::None, ItemAxis::Queries, ItemAxis::Keys})
      kernels.push_back({"", head, axis, tileSize});
  return kernels;
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
