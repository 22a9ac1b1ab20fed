// `run` allocates nothing: every allocation of the runtime and of this program is counted.
#include "AllocationCount.h"
#include "Problem.h"

#include <skim/GatherTokens.h>
#include <skim/Metrics.h>

#include <gtest/gtest.h>

#include <cstdlib>

using namespace skim;
using namespace skim::test;

namespace {

TEST(Allocation, isCounted) {
  const int64_t before = allocationCount();
  int *volatile number = new int(1); // volatile: a pair that nobody looks at is optimised away
  delete number;
  void *volatile memory = std::malloc(1);
  std::free(memory);
  EXPECT_EQ(allocationCount(), before + 2);
}

TEST(Allocation, runMakesNone) {
  Problem problem({{40, 60}, {0, 0}, {7, 90}});
  LaunchPlan launchPlan = listPlan(problem.heads);
  launchPlan.signature.compactHeads = HeadAxis::None;
  launchPlan.parameters = {{"window", ParameterType::Index, false, {1}, {}},
                           {"sink", ParameterType::F32, true, {}, {}}};
  launchPlan.buffers = {{"map", DType::U8, 1, {1, 1, 1, ShapeSymbol::MaxKvLength}, true}};
  const Kernel kernel = *Kernel::create(launchPlan, {listAttention});
  std::vector<int32_t> blocks(3 * 4 * 5, 0);
  Operands operands = problem.operands();
  operands.inputs = {{"blocks", TensorView::contiguous(blocks.data(), DType::I32, {3, 4, 5})}};
  const Parameters parameters = {{"sink", std::vector<double>{1, 2, 3, 4}}};
  std::vector<uint8_t> kept(4 * 47 * 90);
  skim_statistics statistics = {};
  RunMetrics metrics;
  RunOptions options;
  options.metrics = &metrics;
  options.statistics = &statistics;
  options.kept = TensorView::contiguous(kept.data(), DType::U8, {4, 47, 90});
  std::vector<int32_t> positions(3 * 90);
  std::vector<int32_t> counts(3);
  operands.compactPositions = TensorView::contiguous(positions.data(), DType::I32, {3, 1, 90});
  operands.compactCounts = TensorView::contiguous(counts.data(), DType::I32, {3, 1});
  const Plan plan = *kernel.plan(problem.shape());
  WorkspaceMemory workspace = filledWorkspace(plan.workspaceBytes());
  ASSERT_TRUE(ThreadPool::shared()); // made on first use

  for (const int64_t threads : {1, 0}) {
    options.threads = threads;
    const int64_t before = allocationCount();
    const Status status = kernel.run(plan, operands, parameters, workspace.span(), options);
    EXPECT_EQ(allocationCount(), before);
    EXPECT_TRUE(status) << status.message();
  }
}

TEST(Allocation, gatherTokensMakesNone) {
  std::vector<float> tokens(4 * 8, 1);
  std::vector<float> gathered(4 * 8);
  std::vector<int32_t> starts = {0, 4};
  std::vector<int32_t> newStarts(2);
  std::vector<int32_t> positions = {0, 2, -1, -1};
  std::vector<int32_t> counts = {2};
  TokenGather gather;
  gather.tokens = TensorView::contiguous(tokens.data(), DType::F32, {4, 2, 4});
  gather.cuSeqlens = TensorView::contiguous(starts.data(), DType::I32, {2});
  gather.positions = TensorView::contiguous(positions.data(), DType::I32, {1, 1, 4});
  gather.counts = TensorView::contiguous(counts.data(), DType::I32, {1, 1});
  gather.gathered = TensorView::contiguous(gathered.data(), DType::F32, {4, 2, 4});
  gather.gatheredCuSeqlens = TensorView::contiguous(newStarts.data(), DType::I32, {2});
  const int64_t before = allocationCount();
  const Status status = gatherTokens(gather);
  EXPECT_EQ(allocationCount(), before);
  EXPECT_TRUE(status) << status.message();
  EXPECT_EQ(newStarts[1], 2);
}

} // namespace
