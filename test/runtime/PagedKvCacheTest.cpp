// The paged KV cache: what each call gives, and what it refuses.
#include "Problem.h"

#include <skim/PagedKvCache.h>

#include <gtest/gtest.h>

#include <numeric>

using namespace skim;
using namespace skim::test;

namespace {

constexpr PagedKvCacheOptions kSmall = {
    .pages = 4, .pageSize = 4, .kvHeads = 2, .headDim = 8, .dtype = DType::F32};

/// Counting rows [tokens, 2, 8].
struct Rows {
  explicit Rows(int64_t tokens, float start = 0) : data(static_cast<size_t>(tokens * 16)) {
    std::iota(data.begin(), data.end(), start);
  }
  TensorView view() const {
    return TensorView::contiguous(data.data(), DType::F32, {std::ssize(data) / 16, 2, 8});
  }
  std::vector<float> data;
};

PagedKvCache cacheOf(const PagedKvCacheOptions &options) {
  Expected<PagedKvCache> cache = PagedKvCache::create(options);
  EXPECT_TRUE(cache) << cache.status().message();
  return *std::move(cache);
}

std::string refusal(const PagedKvCacheOptions &options) {
  const Expected<PagedKvCache> cache = PagedKvCache::create(options);
  return cache ? "accepted" : cache.status().message();
}

TEST(PagedKvCache, sharesThePagesOfAPrefixAndCopiesTheTailOnWrite) {
  PagedKvCache cache = cacheOf(kSmall);
  const SequenceId first = *cache.allocate();
  const Rows rows(6);
  ASSERT_TRUE(cache.append(first, rows.view(), rows.view()));
  const SequenceId second = *cache.fork(first);
  EXPECT_EQ(cache.statistics().pagesFree, 2);
  EXPECT_EQ(cache.statistics().pagesShared, 2);

  const Rows more(1, 1000);
  ASSERT_TRUE(cache.append(second, more.view(), more.view()));
  const PagedKvCacheStatistics statistics = cache.statistics();
  EXPECT_EQ(statistics.pages, 4);
  EXPECT_EQ(statistics.pagesFree, 1);
  EXPECT_EQ(statistics.pagesShared, 1);
  EXPECT_EQ(statistics.pageCopies, 1);
  EXPECT_EQ(statistics.sequences, 2);
  EXPECT_EQ(statistics.tokens, 13);

  // The first one grows in place: nobody shares its tail any more.
  ASSERT_TRUE(cache.append(first, more.view(), more.view()));
  EXPECT_EQ(cache.statistics().pageCopies, 1);
  KvBatch batch;
  Operands operands;
  const SequenceId both[] = {second, first};
  ASSERT_TRUE(cache.bind(both, batch, operands));
  EXPECT_EQ(batch.kvLens, (std::vector<int32_t>{7, 7}));
  EXPECT_EQ(batch.blockTable, (std::vector<int32_t>{0, 2, 0, 1}));
  EXPECT_EQ(operands.k.describe(), "f32[4, 4, 2, 8]");
  EXPECT_EQ(operands.blockTable.describe(), "i32[2, 2]");
  EXPECT_FALSE(operands.kScales.isPresent());
}

TEST(PagedKvCache, exhaustionSaysWhatIsNeededAndChangesNothing) {
  PagedKvCache cache = cacheOf(kSmall);
  const SequenceId first = *cache.allocate();
  const Rows rows(10);
  ASSERT_TRUE(cache.append(first, rows.view(), rows.view()));
  const SequenceId second = *cache.fork(first);
  const PagedKvCacheStatistics before = cache.statistics();
  // One page for the copy of the tail, one for tokens 12 and 13.
  const Rows four(4);
  const Status status = cache.append(second, four.view(), four.view());
  EXPECT_EQ(status.code(), StatusCode::Exhausted);
  EXPECT_EQ(status.message(),
            "the cache is exhausted: 4 more tokens need 2 pages but 1 of 4 are free");
  PagedKvCacheStatistics after = cache.statistics();
  EXPECT_EQ(after.exhausted, 1);
  after.exhausted = 0;
  EXPECT_EQ(after, before);
  EXPECT_EQ(*cache.tokens(second), 10);
  // Two tokens fit in the copy.
  const Rows two(2);
  EXPECT_TRUE(cache.append(second, two.view(), two.view()));
  // Freeing the other makes room.
  ASSERT_TRUE(cache.free(first));
  EXPECT_TRUE(cache.append(second, four.view(), four.view()));
}

TEST(PagedKvCache, quantisesByTheScalesOfTheSequence) {
  PagedKvCacheOptions options = kSmall;
  options.dtype = DType::F8E4M3;
  PagedKvCache cache = cacheOf(options);
  const SequenceId plain = *cache.allocate();
  const SequenceId scaled = *cache.allocate({.k = {0.5f, 2.0f}, .v = {4.0f, 1.0f}});
  Rows rows(1, 1);
  rows.data[8] = 1000; // head 1: 448 at scale 1, 500 is beyond it at scale 2 as well
  for (const SequenceId id : {plain, scaled})
    ASSERT_TRUE(cache.append(id, rows.view(), rows.view()));
  EXPECT_EQ(cache.statistics().saturated, 4);
  Rows k(1);
  Rows v(1);
  ASSERT_TRUE(cache.read(plain, 0, k.view(), v.view()));
  EXPECT_EQ(k.data[8], 448);
  ASSERT_TRUE(cache.read(scaled, 0, k.view(), v.view()));
  EXPECT_EQ(k.data[0], 1);
  EXPECT_EQ(k.data[8], 896);
  EXPECT_EQ(v.data[8], 448);

  KvBatch batch;
  Operands operands;
  const SequenceId forked = *cache.fork(scaled);
  const SequenceId both[] = {plain, forked};
  ASSERT_TRUE(cache.bind(both, batch, operands));
  EXPECT_EQ(batch.kScales, (std::vector<float>{1, 1, 0.5f, 2}));
  EXPECT_EQ(batch.vScales, (std::vector<float>{1, 1, 4, 1}));
  EXPECT_EQ(operands.kScales.describe(), "f32[2, 2]");

  // A kernel for other operands says so.
  Problem problem({{1, 1}, {1, 1}});
  Operands all = problem.operands();
  ASSERT_TRUE(cache.bind(both, batch, all));
  const Status status = runOnce(causalKernel({}), problem.shape(), all);
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_EQ(status.message(), "k: the kernel reads keys and values of f32, not f8e4m3[4, 4, 2, 8]");
}

TEST(PagedKvCache, scalesWithoutFp8AreRefusedByRuns) {
  Problem problem({{1, 4}});
  Operands operands = problem.operands();
  const std::vector<float> scales = {1, 1};
  operands.vScales = TensorView::contiguous(scales.data(), DType::F32, {1, 2});
  EXPECT_EQ(runOnce(causalKernel({}), problem.shape(), operands).message(),
            "v_scales: expected nothing (keys and values are not FP8) but got f32[1, 2]");
}

TEST(PagedKvCache, emptySequencesServeRequestsWithoutKeys) {
  PagedKvCache cache = cacheOf(kSmall);
  const SequenceId id = *cache.allocate();
  const Rows none(0);
  ASSERT_TRUE(cache.append(id, none.view(), none.view()));
  EXPECT_EQ(cache.statistics().pagesFree, 4);
  Problem problem({{3, 0}});
  Operands operands = problem.operands();
  KvBatch batch;
  ASSERT_TRUE(cache.bind({&id, 1}, batch, operands));
  ASSERT_TRUE(runOnce(causalKernel({}), problem.shape(), operands));
  expectAttention(problem, referenceAttention(problem));
}

TEST(PagedKvCache, refusesImpossibleOptions) {
  PagedKvCacheOptions options = kSmall;
  options.pages = 0;
  EXPECT_EQ(refusal(options), "pages: expected 1 to 2^31 - 1 but got 0");
  options = kSmall;
  options.pageSize = -1;
  EXPECT_EQ(refusal(options), "page_size: expected 1 to 2^31 - 1 but got -1");
  options = kSmall;
  options.dtype = DType::I32;
  EXPECT_EQ(refusal(options), "dtype: expected f32, f16, bf16 or f8e4m3 but got i32");
  options = kSmall;
  options.layout = KvLayout::Contiguous;
  EXPECT_EQ(refusal(options), "layout: expected a paged layout but got a contiguous one");
  options = kSmall;
  std::vector<float> memory(4 * 4 * 2 * 8);
  options.k = TensorView::contiguous(memory.data(), DType::F32, {4, 4, 2, 8});
  EXPECT_EQ(refusal(options),
            "v: expected memory for keys and values, or for neither but got nothing");
  options.v = TensorView::contiguous(memory.data(), DType::F32, {4, 4, 2, 4});
  EXPECT_EQ(refusal(options), "v: expected f32[4, 4, 2, 8] but got f32[4, 4, 2, 4]");
  options.v = TensorView::strided(memory.data(), DType::F32, {4, 4, 2, 8}, {0, 16, 8, 1});
  EXPECT_NE(refusal(options), "accepted");
  options = kSmall;
  options.pages = options.pageSize = options.kvHeads = options.headDim = 2147483647;
  EXPECT_EQ(refusal(options), "the size of the cache overflows 64 bits");
  options.headDim = options.kvHeads = 1;
  options.dtype = DType::F8E4M3;
  EXPECT_EQ(refusal(options), "no memory for a cache of 9223372028264841218 bytes");
}

TEST(PagedKvCache, refusesWrongCalls) {
  PagedKvCache cache = cacheOf(kSmall);
  const SequenceId id = *cache.allocate();
  const Rows rows(2);
  EXPECT_EQ(cache.append(SequenceId{7}, rows.view(), rows.view()).message(),
            "sequence: expected a sequence of this cache but got 7, which is none");
  EXPECT_EQ(cache.append(id, rows.view(), Rows(3).view()).message(),
            "v: expected f32[2, 2, 8] but got f32[3, 2, 8]");
  EXPECT_EQ(
      cache.append(id, TensorView::contiguous(rows.data.data(), DType::I32, {2, 2, 8}), rows.view())
          .message(),
      "k: expected f32, f16 or bf16, or the cache's type but got i32[2, 2, 8]");
  EXPECT_EQ(cache.truncate(id, 1).message(),
            "tokens: expected 0 to 0, the tokens of the sequence but got 1");
  EXPECT_EQ(cache.read(id, 0, rows.view(), rows.view()).message(),
            "k: expected rows within the 0 tokens of the sequence but got 2 rows from token 0");
  EXPECT_EQ(cache.allocate({.k = {1, 1}, .v = {}}).status().message(),
            "scales of k: expected nothing (the cache is not FP8) but got 2 values");
  PagedKvCacheOptions options = kSmall;
  options.dtype = DType::F8E4M3;
  PagedKvCache fp8 = cacheOf(options);
  EXPECT_EQ(fp8.allocate({.k = {1}, .v = {}}).status().message(),
            "scales of k: expected one value for each of the 2 KV heads but got 1");
  EXPECT_EQ(fp8.allocate({.k = {}, .v = {1, 0}}).status().message(),
            "scales of v: expected finite positive values but got 0.000000");
  ASSERT_TRUE(cache.free(id));
  EXPECT_FALSE(cache.free(id));
}

} // namespace
