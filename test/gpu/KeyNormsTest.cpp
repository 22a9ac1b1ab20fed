// The norms of keys that the runtime computes ahead of kernels that ask for them.
#include "test/gpu/Device.h"

#include "runtime/WorkspaceLayout.h"

#include <skim/Kernel.h>

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

using namespace skim;
using namespace skim::test;

namespace {

class DeviceKeyNorms : public GpuTest {};

constexpr int64_t kQueryHeads = 4, kKvHeads = 2;
constexpr const char *kIdleImage =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry idle(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, "
    ".param .align 64 .b8 e[128], .param .align 64 .b8 f[128], .param .align 64 .b8 g[128]) { ret; "
    "}\n";

LaunchPlan idlePlan(int64_t dim) {
  LaunchPlan plan;
  plan.pattern = "idle";
  plan.signature.queryHeads = kQueryHeads;
  plan.signature.kvHeads = kKvHeads;
  plan.signature.headDim = plan.signature.valueDim = dim;
  plan.signature.operand = plan.signature.output = DType::BF16;
  plan.buffers = {{"other", DType::F32, 1, {ShapeSymbol::Requests, 3, 1, 1}, true},
                  {"norms", DType::F32, 1, {ShapeSymbol::Requests, kKvHeads, 1, 1}, true}};
  plan.kernels = {{.symbol = "idle", .cuda = CudaLaunch{.threads = 32, .keyNorms = 1}}};
  return plan;
}

uint16_t toBf16(float value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); // towards 0
}
float fromBf16(uint16_t value) { return std::bit_cast<float>(uint32_t{value} << 16); }

/// Requests over keys of their own, with NaN in every slot that belongs to none.
struct Batch {
  Batch(int64_t dim, std::vector<int32_t> lengths, int64_t page, bool nhd, int32_t rows)
      : dim(dim), kvLens(std::move(lengths)), page(page), nhd(nhd), rows(rows) {
    for (int32_t length : kvLens) {
      cuSeqlensQ.push_back(cuSeqlensQ.back() + rows);
      // A hole between any two requests.
      cuSeqlensKv.push_back(cuSeqlensKv.back() + length + 3);
      columns = std::max(columns, page ? (length + page - 1) / page : 0);
    }
    const auto requests = static_cast<int64_t>(kvLens.size());
    pages = page ? requests * columns + 1 : 1;
    slots = page ? page : cuSeqlensKv.back();
    keys.assign(static_cast<size_t>(pages * slots * kKvHeads * dim), toBf16(NAN));
    for (int64_t i = 0; i < requests * columns; ++i)
      table.push_back(static_cast<int32_t>(requests * columns - i)); // backwards, page 0 unused
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (int64_t request = 0; request < requests; ++request)
      for (int64_t head = 0; head < kKvHeads; ++head) {
        float largest = 0;
        for (int32_t key = 0; key < kvLens[static_cast<size_t>(request)]; ++key) {
          float sum = 0;
          for (int64_t i = 0; i < dim; ++i) {
            uint16_t &element = at(request, key, head, i);
            element = toBf16(normal(random));
            sum += fromBf16(element) * fromBf16(element);
          }
          largest = std::max(largest, sum);
        }
        expected.push_back(largest);
      }
  }

  uint16_t &at(int64_t request, int64_t key, int64_t head, int64_t i) {
    int64_t block = 0, slot = cuSeqlensKv[static_cast<size_t>(request)] + key;
    if (page) {
      block = table[static_cast<size_t>(request * columns + key / page)];
      slot = key % page;
    }
    const int64_t row =
        nhd ? (block * slots + slot) * kKvHeads + head : (block * kKvHeads + head) * slots + slot;
    return keys[static_cast<size_t>(row * dim + i)];
  }

  /// What the device finds.
  std::vector<float> run() {
    const LaunchPlan launchPlan = idlePlan(dim);
    const Expected<Kernel> kernel = Kernel::createCuda(launchPlan, kIdleImage, -1);
    EXPECT_TRUE(kernel) << kernel.status().message();
    const auto requests = static_cast<int64_t>(kvLens.size());
    const BatchShape shape = {requests, cuSeqlensQ.back(), rows, mostKeys};
    const Expected<Plan> plan = kernel->plan(shape);
    EXPECT_TRUE(plan) << plan.status().message();
    const WorkspaceLayout layout = *layOutDeviceWorkspace(launchPlan, shape, 1);
    const DeviceBytes workspace(static_cast<size_t>(plan->workspaceBytes()), 0xff);
    const DeviceBytes element(64);
    const DeviceBytes out(static_cast<size_t>(cuSeqlensQ.back() * kQueryHeads * dim * 2));
    const DeviceArray deviceKeys(keys);
    const DeviceArray deviceQ(cuSeqlensQ), deviceLens(kvLens), deviceKv(cuSeqlensKv);
    const DeviceArray deviceTable(table);
    Operands operands;
    operands.q =
        TensorView::contiguous(out.data(), DType::BF16, {cuSeqlensQ.back(), kQueryHeads, dim});
    const DeviceBytes results(out.size());
    operands.out =
        TensorView::contiguous(results.data(), DType::BF16, {cuSeqlensQ.back(), kQueryHeads, dim});
    operands.cuSeqlensQ = TensorView::contiguous(deviceQ.data(), DType::I32, {requests + 1});
    operands.kvLens = TensorView::contiguous(deviceLens.data(), DType::I32, {requests});
    if (page) {
      operands.kvLayout = nhd ? KvLayout::PagedNhd : KvLayout::PagedHnd;
      operands.k =
          nhd ? TensorView::contiguous(deviceKeys.data(), DType::BF16, {pages, page, kKvHeads, dim})
              : TensorView::contiguous(deviceKeys.data(), DType::BF16,
                                       {pages, kKvHeads, page, dim});
      operands.blockTable =
          TensorView::contiguous(deviceTable.data(), DType::I32, {requests, columns});
    } else {
      operands.k = TensorView::contiguous(deviceKeys.data(), DType::BF16, {slots, kKvHeads, dim});
      operands.cuSeqlensKv = TensorView::contiguous(deviceKv.data(), DType::I32, {requests + 1});
    }
    operands.v = operands.k;
    const DeviceStream stream;
    RunOptions options;
    options.stream = stream.get();
    const Status status = kernel->run(*plan, operands, {}, workspace.span(), options);
    EXPECT_TRUE(status) << status.message();
    stream.wait();
    std::vector<float> norms(static_cast<size_t>(requests * kKvHeads));
    workspace.read(std::as_writable_bytes(std::span(norms)),
                   static_cast<size_t>(layout.placements[1].offset));
    return norms;
  }

  int64_t dim;
  std::vector<int32_t> kvLens;
  int64_t page;
  bool nhd;
  int32_t rows;
  int64_t columns = 0, pages = 1, slots = 0, mostKeys = 5000;
  std::vector<int32_t> cuSeqlensQ{0}, cuSeqlensKv{0}, table;
  std::vector<uint16_t> keys;
  std::vector<float> expected;
};

void expectNear(const std::vector<float> &found, const std::vector<float> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-5F * expected[i]) << i;
}

TEST_F(DeviceKeyNorms, areTheLargestOfEachRequestAndHead) {
  for (int64_t dim : {64, 96, 128, 192, 256})
    for (int64_t page : {0, 1, 7, 64})
      for (bool nhd : {true, false}) {
        if (page == 0 && !nhd)
          continue;
        SCOPED_TRACE(testing::Message() << "dim " << dim << " page " << page << " nhd " << nhd);
        Batch batch(dim, {1, 511, 0, 4097, 64}, page, nhd, 2048);
        expectNear(batch.run(), batch.expected);
      }
}

TEST_F(DeviceKeyNorms, areNotANumberWhereAKeyIsNone) {
  Batch batch(128, {700, 700}, 0, true, 2048);
  batch.at(1, 650, 0, 127) = toBf16(NAN);
  const std::vector<float> found = batch.run();
  EXPECT_TRUE(std::isnan(found[2]));
  batch.expected.erase(batch.expected.begin() + 2);
  expectNear({found[0], found[1], found[3]}, batch.expected);
}

TEST_F(DeviceKeyNorms, areNotTakenForFewRows) {
  Batch batch(128, {700}, 0, true, 2047);
  EXPECT_THAT(batch.run(), testing::Each(0.0F));
}

TEST_F(DeviceKeyNorms, K16LengthsOutOfRangeTouchNoMemory) {
  Batch batch(128, {700, 900}, 16, true, 2048);
  batch.mostKeys = 800;
  const std::vector<float> found = batch.run();
  expectNear({found[0], found[1]}, {batch.expected[0], batch.expected[1]});
  EXPECT_EQ(found[2], 0.0F);
}

} // namespace
