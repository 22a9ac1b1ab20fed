// What a server asks of compiled kernels: pages of a cache, plans in microseconds, a probe that
// costs what it says.
#include "CompiledKernels.h"

#include <skim/PagedKvCache.h>
#include <skim/QualityProbe.h>
#include <skim/WorkspaceMemory.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace skim;
using namespace skim::test;

namespace {

Status runOnce(const Kernel &kernel, const Operands &operands) {
  const Expected<Plan> plan = kernel.plan(*BatchShape::of(operands.cuSeqlensQ, operands.kvLens));
  if (!plan)
    return plan.status();
  const WorkspaceMemory workspace(plan->workspaceBytes());
  return kernel.run(*plan, operands, {}, workspace.span());
}

struct PoolCase {
  KvLayout layout;
  int64_t pageSize;
};

/// A cache over NaN whose sequences hold the keys of the batch, made by forks, copies, truncation
/// and reuse of pages.
class FilledCache {
public:
  FilledCache(RaggedBatch &batch, const PoolCase &pool)
      : k(kTokens * kKvHeads * kHeadDim, std::numeric_limits<float>::quiet_NaN()), v(k) {
    const int64_t pages = kTokens / pool.pageSize;
    const bool nhd = pool.layout == KvLayout::PagedNhd;
    const auto view = [&](std::vector<float> &memory) {
      return TensorView::contiguous(
          memory.data(), DType::F32,
          {pages, nhd ? pool.pageSize : kKvHeads, nhd ? kKvHeads : pool.pageSize, kHeadDim});
    };
    Expected<PagedKvCache> created = PagedKvCache::create({.pages = pages,
                                                           .pageSize = pool.pageSize,
                                                           .kvHeads = kKvHeads,
                                                           .headDim = kHeadDim,
                                                           .dtype = DType::F32,
                                                           .layout = pool.layout,
                                                           .k = view(k),
                                                           .v = view(v)});
    EXPECT_TRUE(created) << created.status().message();
    cache.emplace(*std::move(created));
    const SequenceId junk = *cache->allocate();
    append(junk, batch, 0, 0, 37);
    for (int64_t r = 0; r < batch.requests(); ++r) {
      const int64_t length = batch.kvLens[r];
      // A prefix, a branch that goes another way, and the rest behind the shared prefix.
      const SequenceId prefix = *cache->allocate();
      append(prefix, batch, r, 0, length / 2);
      const SequenceId branch = *cache->fork(prefix);
      append(branch, batch, 0, 0, 5);
      sequences.push_back(*cache->fork(prefix));
      append(sequences.back(), batch, r, length / 2, length - length / 2);
      append(sequences.back(), batch, 0, 0, 3);
      EXPECT_TRUE(cache->truncate(sequences.back(), length));
      EXPECT_TRUE(cache->free(r % 2 ? branch : prefix));
      if (r == 1) {
        EXPECT_TRUE(cache->free(junk));
      }
    }
  }

  std::optional<PagedKvCache> cache;
  std::vector<SequenceId> sequences;

private:
  static constexpr int64_t kTokens = 48 * 64;

  void append(SequenceId sequence, RaggedBatch &batch, int64_t request, int64_t first,
              int64_t count) {
    const auto rows = [&](std::vector<float> &values) {
      return TensorView::contiguous(values.data() +
                                        (batch.cuSeqlensKv[request] + first) * kKvHeads * kHeadDim,
                                    DType::F32, {count, kKvHeads, kHeadDim});
    };
    const Status status = cache->append(sequence, rows(batch.k), rows(batch.v));
    EXPECT_TRUE(status) << status.message();
  }

  std::vector<float> k;
  std::vector<float> v;
};

TEST(Serving, K7_pagesOfACacheGiveWhatContiguousKeysGiveBitForBit) {
  RaggedBatch batch;
  for (const PatternKind &kind : kPatternKinds) {
    const Kernel kernel = compileKind(kind.text);
    Operands operands = batch.operands(kernel);
    const Status whole = runOnce(kernel, operands);
    ASSERT_TRUE(whole) << kind.name << ": " << whole.message();
    const std::vector<float> out = batch.out;
    const std::vector<float> lse = batch.lse;
    for (const PoolCase &pool : {PoolCase{KvLayout::PagedNhd, 1}, PoolCase{KvLayout::PagedHnd, 16},
                                 PoolCase{KvLayout::PagedNhd, 48}}) {
      const FilledCache filled(batch, pool);
      EXPECT_GT(filled.cache->statistics().pagesShared, 0);
      Operands paged = operands;
      KvBatch tables;
      ASSERT_TRUE(filled.cache->bind(filled.sequences, tables, paged));
      std::ranges::fill(batch.out, std::numeric_limits<float>::quiet_NaN());
      const Status status = runOnce(kernel, paged);
      ASSERT_TRUE(status) << kind.name << ": " << status.message();
      EXPECT_EQ(batch.out, out) << kind.name << " over pages of " << pool.pageSize;
      EXPECT_EQ(batch.lse, lse) << kind.name << " over pages of " << pool.pageSize;
    }
  }
}

double threadSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

TEST(Serving, plansOf256RequestsTakeAtMost50Microseconds) {
  constexpr int64_t kRequests = 256;
  std::vector<int32_t> starts = {0};
  std::vector<int32_t> lengths;
  for (int32_t r = 0; r < kRequests; ++r) {
    starts.push_back(starts.back() + 1 + r * 7 % 512);
    lengths.push_back(1000 + r * 131);
  }
  const auto view = [](const std::vector<int32_t> &values) {
    return TensorView::contiguous(values.data(), DType::I32, {std::ssize(values)});
  };
  for (const PatternKind &kind : kPatternKinds) {
    const Kernel kernel = compileKind(kind.text);
    std::vector<double> seconds;
    for (int i = 0; i < 200; ++i) {
      const double start = threadSeconds();
      const Expected<Plan> plan = kernel.plan(*BatchShape::of(view(starts), view(lengths)));
      seconds.push_back(threadSeconds() - start);
      ASSERT_TRUE(plan);
    }
    std::ranges::nth_element(seconds, seconds.begin() + 100);
    RecordProperty(kind.name, std::to_string(seconds[100] * 1e6) + " microseconds");
    std::printf("plan of 256 requests, %s: %.1f microseconds\n", kind.name, seconds[100] * 1e6);
    EXPECT_LE(seconds[100], 50e-6) << kind.name;
  }
}

TEST(Serving, theProbeTakesAboutItsRateOfDenseAttention) {
  constexpr int64_t kTokens = 2048;
  const Kernel dense = compileKind("pattern all { keep true }");
  std::vector<float> rows(kTokens * kQueryHeads * kHeadDim, 0.5F);
  std::vector<float> out(rows.size());
  std::vector<float> lse(kTokens * kQueryHeads);
  const std::vector<int32_t> starts = {0, kTokens};
  Operands operands;
  operands.q = TensorView::contiguous(rows.data(), DType::F32, {kTokens, kQueryHeads, kHeadDim});
  operands.k = TensorView::contiguous(rows.data(), DType::F32, {kTokens, kKvHeads, kHeadDim});
  operands.v = operands.k;
  operands.cuSeqlensQ = TensorView::contiguous(starts.data(), DType::I32, {2});
  operands.cuSeqlensKv = operands.cuSeqlensQ;
  operands.kvLens = TensorView::contiguous(starts.data() + 1, DType::I32, {1});
  operands.out = TensorView::contiguous(out.data(), DType::F32, {kTokens, kQueryHeads, kHeadDim});
  operands.lse = TensorView::contiguous(lse.data(), DType::F32, {kQueryHeads, kTokens});

  const Plan plan = *dense.plan(*BatchShape::of(operands.cuSeqlensQ, operands.kvLens));
  const WorkspaceMemory workspace(plan.workspaceBytes());
  RunOptions runOptions;
  runOptions.threads = 1;
  double denseSeconds = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {
    const double start = threadSeconds();
    ASSERT_TRUE(dense.run(plan, operands, {}, workspace.span(), runOptions));
    denseSeconds = std::min(denseSeconds, threadSeconds() - start);
  }

  // Over seeds, so that the mean of what is taken comes close to the rate.
  constexpr double kRate = 1.0 / 16;
  constexpr int kSeeds = 40;
  const QualityProbe probe = *QualityProbe::create(dense, {.rate = kRate});
  const double start = threadSeconds();
  size_t probed = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Expected<QualitySample> sample =
        probe.measure(operands, {}, {.seed = seed, .threads = 1});
    ASSERT_TRUE(sample) << sample.status().message();
    probed += sample->rows.size();
    for (const ProbedRow &row : sample->rows)
      ASSERT_EQ(row.outputError, 0) << "dense beside dense";
  }
  const double share = (threadSeconds() - start) / kSeeds / denseSeconds;
  const double taken = static_cast<double>(probed) / kSeeds / (kTokens * kQueryHeads);
  std::printf("probe at rate %.4f: %.4f of the rows in %.4f of the time of dense attention\n",
              kRate, taken, share);
  EXPECT_NEAR(taken, kRate, kRate / 2);
  EXPECT_LE(share, 2 * kRate);
}

} // namespace
