// The workspace query: exact, from shapes alone, and what buffers kernels see.
#include "Problem.h"

#include "runtime/WorkspaceLayout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <thread>

using namespace skim;
using namespace skim::test;

namespace {

LaunchPlan bufferedPlan() {
  LaunchPlan plan = causalPlan({});
  const ShapeExpr blocks = ShapeExpr::ceilDiv(ShapeSymbol::MaxKvLength, kKeys);
  plan.buffers = {{"pool", DType::F32, 8, {ShapeSymbol::Requests, ShapeSymbol::KvHeads, 1, blocks}},
                  {"map", DType::U8, 1, {ShapeSymbol::Requests, 1, 3, blocks}, /*zeroed=*/true}};
  return plan;
}

/// What the kernel below saw.
struct Seen {
  skim_buffer pool;
  skim_buffer map;
  bool mapIsZero;
} seen;

void lookAtBuffers(const skim_kernel_args *args, const skim_work_item *, int64_t, int64_t,
                   int64_t) {
  seen.pool = args->buffers[0];
  seen.map = args->buffers[1];
  const auto *bytes = static_cast<const uint8_t *>(seen.map.data);
  const int64_t count = seen.map.extents[0] * seen.map.extents[2] * seen.map.extents[3];
  seen.mapIsZero = true;
  for (int64_t i = 0; i < count; ++i)
    seen.mapIsZero &= bytes[i] == 0;
  // The whole of both buffers belongs to the kernel.
  std::memset(seen.map.data, 1, static_cast<size_t>(count));
  std::memset(seen.pool.data, 1,
              static_cast<size_t>(seen.pool.extents[0] * seen.pool.extents[1] *
                                  seen.pool.extents[3] * 8 * sizeof(float)));
}

TEST(Workspace, oneByteLessIsAnError) {
  const Kernel kernel = causalKernel({});
  Problem problem({{5, 7}, {20, 30}});
  const Plan plan = *kernel.plan(problem.shape());
  WorkspaceMemory exact = filledWorkspace(plan.workspaceBytes());
  EXPECT_TRUE(kernel.run(plan, problem.operands(), {}, exact.span()));

  const auto bytes = static_cast<size_t>(plan.workspaceBytes());
  const Status status = kernel.run(plan, problem.operands(), {}, exact.span().first(bytes - 1));
  EXPECT_EQ(status.code(), StatusCode::WorkspaceTooSmall);
  EXPECT_EQ(status.message(), "workspace: expected " + std::to_string(bytes) +
                                  " bytes or more but got " + std::to_string(bytes - 1));
}

TEST(Workspace, aNullPointerIsAnError) {
  const Kernel kernel = causalKernel({});
  Problem problem({{5, 7}});
  const Plan plan = *kernel.plan(problem.shape());
  const auto bytes = static_cast<size_t>(plan.workspaceBytes());
  std::byte *const none = nullptr;
  const Status status = kernel.run(plan, problem.operands(), {}, std::span(none, bytes));
  EXPECT_EQ(status.code(), StatusCode::WorkspaceTooSmall);
  EXPECT_EQ(status.message(),
            "workspace: expected " + std::to_string(bytes) + " bytes but got a null pointer");
}

TEST(Workspace, misalignmentIsAnError) {
  const Kernel kernel = causalKernel({});
  Problem problem({{5, 7}});
  const Plan plan = *kernel.plan(problem.shape());
  WorkspaceMemory memory = filledWorkspace(plan.workspaceBytes() + 8);
  const Status status = kernel.run(plan, problem.operands(), {}, memory.span().subspan(8));
  EXPECT_EQ(status.code(), StatusCode::WorkspaceTooSmall);
  EXPECT_EQ(status.message(),
            "workspace: expected memory aligned to 64 bytes but got an address that is not");
}

TEST(Workspace, nothingIsWrittenPastItsEnd) {
  const Kernel kernel = *Kernel::create(bufferedPlan(), {lookAtBuffers});
  Problem problem({{5, 7}, {33, 100}, {1, 64}});
  const Plan plan = *kernel.plan(problem.shape());
  WorkspaceMemory memory = filledWorkspace(plan.workspaceBytes() + 256);
  const auto bytes = static_cast<size_t>(plan.workspaceBytes());
  skim_statistics statistics = {};
  ASSERT_TRUE(kernel.run(plan, problem.operands(), {}, memory.span(), {.statistics = &statistics}));
  for (size_t i = bytes; i < bytes + 256; ++i)
    ASSERT_EQ(memory.span()[i], std::byte{0xcd}) << i - bytes << " bytes past the end";
}

TEST(Workspace, buffersHaveTheirExtentsAndAreClearedWhereAsked) {
  const Kernel kernel = *Kernel::create(bufferedPlan(), {lookAtBuffers});
  Problem problem({{5, 7}, {33, 100}, {1, 64}});
  const Plan plan = *kernel.plan(problem.shape());
  WorkspaceMemory memory = filledWorkspace(plan.workspaceBytes());
  for (int run = 0; run < 2; ++run) { // the second finds what the first left
    ASSERT_TRUE(kernel.run(plan, problem.operands(), {}, memory.span(), {.threads = 1}));
    EXPECT_EQ(std::vector(seen.pool.extents, seen.pool.extents + 4),
              (std::vector<int64_t>{3, 2, 1, 13}));
    EXPECT_EQ(std::vector(seen.pool.strides, seen.pool.strides + 4),
              (std::vector<int64_t>{2 * 13 * 8, 13 * 8, 0, 8}));
    EXPECT_EQ(std::vector(seen.map.strides, seen.map.strides + 4),
              (std::vector<int64_t>{3 * 13, 0, 13, 1}));
    EXPECT_TRUE(seen.mapIsZero);
  }
}

TEST(Workspace, regionsAreAlignedAndApart) {
  const LaunchPlan plan = bufferedPlan();
  const WorkspaceLayout layout = *layOutWorkspace(plan, {3, 100, 60, 200}, 1);
  std::vector<int64_t> offsets = {layout.status,       layout.parameters, layout.scalars,
                                  layout.inputs,       layout.capacities, layout.buffers,
                                  layout.requestOrder, layout.workItems,  layout.statistics};
  for (const BufferPlacement &placement : layout.placements)
    offsets.push_back(placement.offset);
  for (size_t i = 0; i < offsets.size(); ++i) {
    EXPECT_EQ(offsets[i] % Plan::kWorkspaceAlignment, 0);
    EXPECT_GE(offsets[i], i > 0 ? offsets[i - 1] : 0);
  }
  EXPECT_EQ(layout.placements[0].bytes, 3 * 2 * 25 * 8 * 4);
  EXPECT_EQ(layout.bytes, layout.placements[1].offset + layout.placements[1].bytes);
}

/// Marks the slice of its worker and looks for the marks of others.
std::atomic<int64_t> workersSeen = 0, sharedSlices = 0;
void useScratch(const skim_kernel_args *args, const skim_work_item *, int64_t, int64_t,
                int64_t worker) {
  const skim_buffer &scratch = args->buffers[0];
  if (worker >= scratch.extents[0])
    return;
  auto *slice = static_cast<uint8_t *>(scratch.data) + worker * scratch.strides[0];
  const auto mark = static_cast<uint8_t>(worker + 1);
  std::memset(slice, mark, static_cast<size_t>(scratch.extents[3]));
  std::this_thread::yield();
  for (int64_t i = 0; i < scratch.extents[3]; ++i)
    if (slice[i] != mark)
      ++sharedSlices;
  for (int64_t most = workersSeen; most < worker + 1;)
    if (workersSeen.compare_exchange_weak(most, worker + 1))
      break;
}

LaunchPlan scratchPlan() {
  LaunchPlan plan = causalPlan({});
  plan.buffers = {
      {"scratch", DType::U8, 1, {1, 1, 1, ShapeSymbol::MaxKvLength}, false, /*perWorker=*/true}};
  return plan;
}

TEST(Workspace, everyWorkerHasASliceOfItsOwn) {
  const Kernel kernel = *Kernel::create(scratchPlan(), {useScratch});
  Problem problem({{500, 700}, {33, 100}});
  const Plan plan = *kernel.plan(problem.shape(), /*workers=*/3);
  EXPECT_GE(plan.workspaceBytes(), 3 * 700);
  EXPECT_LT((*kernel.plan(problem.shape(), 1)).workspaceBytes(), plan.workspaceBytes());
  WorkspaceMemory memory(plan.workspaceBytes());
  const Expected<ThreadPool> pool = ThreadPool::create(8);
  ASSERT_TRUE(pool);
  for (const int64_t threads : {0, 1, 2, 8}) {
    workersSeen = sharedSlices = 0;
    ASSERT_TRUE(kernel.run(plan, problem.operands(), {}, memory.span(),
                           {.threads = threads, .pool = &*pool}));
    EXPECT_GE(workersSeen, 1);
    EXPECT_LE(workersSeen, threads == 0 ? 3 : std::min<int64_t>(threads, 3));
    EXPECT_EQ(sharedSlices, 0);
  }
  EXPECT_EQ(kernel.plan(problem.shape(), -1).status().message(),
            "workers: expected 0 to 4096 but got -1");
}

TEST(Workspace, planSizesForBatchesThatAreSmallerToo) {
  const Kernel kernel = causalKernel({});
  Problem large({{40, 90}, {20, 30}});
  const Plan plan = *kernel.plan(large.shape());
  WorkspaceMemory memory = filledWorkspace(plan.workspaceBytes());
  Problem small({{3, 11}});
  ASSERT_TRUE(kernel.run(plan, small.operands(), {}, memory.span()));
  expectAttention(small, referenceAttention(small));
}

TEST(Workspace, K5_sizesThatOverflowAreErrors) {
  LaunchPlan plan = bufferedPlan();
  const int64_t most = (int64_t{1} << 31) - 1;
  plan.buffers[0].extents[2] = int64_t{1} << 31;
  const Kernel tooLarge = *Kernel::create(plan, {causalAttention});
  EXPECT_EQ(tooLarge.plan({most, most, most, most}).status().message(),
            "buffer 'pool': its size overflows 64 bits");

  plan.buffers[0].extents[2] = ShapeExpr::mul(std::numeric_limits<int64_t>::max(), 2);
  const Kernel expression = *Kernel::create(plan, {causalAttention});
  EXPECT_EQ(expression.plan({1, 1, 1, 1}).status().message(),
            "buffer 'pool': size overflows 64 bits: 9223372036854775807 * 2");

  plan.buffers[0].extents[2] = -5;
  const Kernel negative = *Kernel::create(plan, {causalAttention});
  EXPECT_EQ(negative.plan({1, 1, 1, 1}).status().message(),
            "buffer 'pool': expected extents of at least 0 but got -5 on axis 2");

  plan = causalPlan({.query = 64, .kv = 1});
  plan.kernels[0].axis = ItemAxis::Keys;
  plan.kernels[0].tileSize = 1;
  const Kernel items = *Kernel::create(plan, {causalAttention});
  EXPECT_EQ(items.plan({most, most, most, most}).status().message(),
            "kernel 'attention': the number of its work items overflows 64 bits");

  plan.kernels[0].head = HeadAxis::KvHead;
  const Kernel bytes = *Kernel::create(plan, {causalAttention});
  EXPECT_EQ(bytes.plan({most, most, most, most}).status().message(),
            "the size of the workspace overflows 64 bits");
}

TEST(Workspace, planRefusesShapesOutOfRange) {
  const Kernel kernel = causalKernel({});
  EXPECT_EQ(kernel.plan({-1, 0, 0, 0}).status().message(),
            "requests: expected 0 to 2^31 - 1 but got -1");
  EXPECT_EQ(kernel.plan({0, int64_t{1} << 31, 0, 0}).status().message(),
            "total_query_tokens: expected 0 to 2^31 - 1 but got 2147483648");
  EXPECT_EQ(kernel.plan({0, 0, -7, 0}).status().message(),
            "max_query_length: expected 0 to 2^31 - 1 but got -7");
  EXPECT_EQ(kernel.plan({0, 0, 0, -1}).status().message(),
            "max_kv_length: expected 0 to 2^31 - 1 but got -1");
}

} // namespace
