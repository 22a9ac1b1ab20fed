// Runs of compiled kernels allocate nothing, whatever their kind, and over pages as well.
#include "CompiledKernels.h"

#include "test/runtime/AllocationCount.h"

#include <skim/Metrics.h>
#include <skim/PagedKvCache.h>
#include <skim/WorkspaceMemory.h>

#include <gtest/gtest.h>

using namespace skim;
using namespace skim::test;

namespace {

class RunAllocation : public testing::TestWithParam<PatternKind> {};

TEST_P(RunAllocation, isNone) {
  RaggedBatch batch;
  const Kernel kernel = compileKind(GetParam().text);
  Operands contiguous = batch.operands(kernel);
  PagedKvCache cache = *PagedKvCache::create(
      {.pages = 64, .kvHeads = kKvHeads, .headDim = kHeadDim, .dtype = DType::F32});
  std::vector<SequenceId> sequences;
  for (int64_t r = 0; r < batch.requests(); ++r) {
    sequences.push_back(*cache.allocate());
    const auto rows = [&](std::vector<float> &values) {
      return TensorView::contiguous(values.data() + batch.cuSeqlensKv[r] * kKvHeads * kHeadDim,
                                    DType::F32, {batch.kvLens[r], kKvHeads, kHeadDim});
    };
    ASSERT_TRUE(cache.append(sequences[r], rows(batch.k), rows(batch.v)));
  }
  Operands paged = contiguous;
  KvBatch tables;
  ASSERT_TRUE(cache.bind(sequences, tables, paged));

  const Plan plan = *kernel.plan(*BatchShape::of(contiguous.cuSeqlensQ, contiguous.kvLens));
  const WorkspaceMemory workspace(plan.workspaceBytes());
  ASSERT_TRUE(ThreadPool::shared()); // made on first use
  RunMetrics metrics;
  skim_statistics statistics = {};
  RunOptions options;
  options.metrics = &metrics;
  options.statistics = &statistics;
  for (const Operands *operands : {&contiguous, &paged})
    for (const int64_t threads : {1, 0}) {
      options.threads = threads;
      const int64_t before = allocationCount();
      const Status status = kernel.run(plan, *operands, {}, workspace.span(), options);
      EXPECT_EQ(allocationCount(), before);
      EXPECT_TRUE(status) << status.message();
    }
  EXPECT_EQ(metrics.totals().runs, 4);
  EXPECT_GT(metrics.totals().pagesVisited, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RunAllocation, testing::ValuesIn(kPatternKinds),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
