// K7: random operations on a paged KV cache beside a plain one that keeps each sequence as a list
// of tokens. Slots that hold no token of a sequence are NaN before every operation, so whatever
// reads one shows.
#include "PlainKvCache.h"
#include "Problem.h"

#include "runtime/CheckedMath.h"

#include <skim/PagedKvCache.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace skim;
using namespace skim::test;

namespace {

constexpr int kOperations = 25000; // of each case
constexpr int64_t kMostSequences = 12;

class PagedKvCacheModel : public testing::TestWithParam<ModelCase> {
protected:
  PagedKvCacheModel()
      : plain(test), random(static_cast<unsigned>(test.pageSize * 31 + test.pages)) {
    // Odd strides: pages, heads and slots are padded, keys and values interleaved.
    const bool nhd = test.layout == KvLayout::PagedNhd;
    const int64_t inner = kDim + 1;
    const int64_t middle = (nhd ? kHeads : test.pageSize) * inner + 2;
    const int64_t page = (nhd ? test.pageSize : kHeads) * middle + 5;
    memory.resize(static_cast<size_t>(test.pages * page * 2 * dtypeSize(test.cache)));
    const auto view = [&](int64_t offset) {
      return TensorView::strided(
          memory.data() + offset * dtypeSize(test.cache), test.cache,
          {test.pages, nhd ? test.pageSize : kHeads, nhd ? kHeads : test.pageSize, kDim},
          {2 * page, middle, inner, 1});
    };
    options = {.pages = test.pages,
               .pageSize = test.pageSize,
               .kvHeads = kHeads,
               .headDim = kDim,
               .dtype = test.cache,
               .layout = test.layout,
               .k = view(0),
               .v = view(page)};
  }

  void SetUp() override {
    Expected<PagedKvCache> created = PagedKvCache::create(options);
    ASSERT_TRUE(created) << created.status().message();
    cache.emplace(*std::move(created));
  }

  int64_t below(int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(random);
  }
  SequenceId someSequence() {
    return std::next(plain.sequences.begin(), below(std::ssize(plain.sequences)))->first;
  }
  int64_t offset(const TensorView &pool, int64_t page, int64_t slot, int64_t head) const {
    const int slotAxis = test.layout == KvLayout::PagedNhd ? 1 : 2;
    return page * pool.strides[0] + slot * pool.strides[slotAxis] +
           head * pool.strides[3 - slotAxis];
  }
  std::vector<SequenceId> ids() const {
    std::vector<SequenceId> result;
    result.reserve(plain.sequences.size());
    for (const auto &[id, sequence] : plain.sequences)
      result.push_back(id);
    return result;
  }

  void poison();
  void step();
  void append();
  void fork();
  void refused();
  void compareContents();
  void compareAttention();

  const ModelCase &test = GetParam();
  std::vector<std::byte> memory;
  PagedKvCacheOptions options;
  std::optional<PagedKvCache> cache;
  PlainCache plain;
  std::mt19937 random;
  int64_t nextToken = 0;
  std::vector<SequenceId> freed;
};

/// NaN in every slot that holds no token of a sequence.
void PagedKvCacheModel::poison() {
  std::vector<bool> owned(static_cast<size_t>(test.pages * test.pageSize));
  KvBatch batch;
  Operands operands;
  ASSERT_TRUE(cache->bind(ids(), batch, operands));
  const int64_t rowSize = operands.blockTable.shape[1];
  for (size_t r = 0; r < batch.kvLens.size(); ++r)
    for (int64_t t = 0; t < batch.kvLens[r]; ++t)
      owned[batch.blockTable[r * rowSize + t / test.pageSize] * test.pageSize + t % test.pageSize] =
          true;
  for (int64_t i = 0; i < std::ssize(owned); ++i)
    for (int64_t head = 0; head < kHeads && !owned[i]; ++head)
      for (int64_t j = 0; j < kDim; ++j)
        for (const TensorView &pool : {options.k, options.v})
          encode(pool.data, test.cache,
                 offset(pool, i / test.pageSize, i % test.pageSize, head) + j, kNaN);
}

void PagedKvCacheModel::append() {
  const SequenceId id = someSequence();
  std::vector<int64_t> added(static_cast<size_t>(below(2 * test.pageSize + 2)));
  for (int64_t &token : added)
    token = nextToken++;
  const bool fits = plain.append(plain.sequences[id], added);
  const Status status =
      cache->append(id, Rows(added, false, test.rows).view(), Rows(added, true, test.rows).view());
  ASSERT_EQ(status.code(), fits ? StatusCode::Ok : StatusCode::Exhausted) << status.message();
}

void PagedKvCacheModel::fork() {
  const SequenceId id = someSequence();
  PlainSequence child = plain.sequences[id];
  std::optional<int64_t> tokens;
  if (below(2))
    tokens = below(std::ssize(child.tokens) + 1);
  plain.resize(child, tokens.value_or(std::ssize(child.tokens)));
  const Expected<SequenceId> forked = cache->fork(id, tokens);
  ASSERT_TRUE(forked) << forked.status().message();
  ASSERT_FALSE(plain.sequences.contains(*forked));
  plain.sequences[*forked] = std::move(child);
}

/// Calls that must change nothing.
void PagedKvCacheModel::refused() {
  const SequenceId id = someSequence();
  const std::vector<int64_t> one = {0};
  const Rows rows(one, false, test.rows);
  TensorView oneHead = rows.view();
  oneHead.shape[1] = 1;
  const int64_t length = std::ssize(plain.sequences[id].tokens);
  const SequenceId stale = freed.empty() ? SequenceId{-1} : freed[below(std::ssize(freed))];
  for (const Status &status :
       {cache->append(stale, rows.view(), rows.view()), cache->free(stale),
        cache->truncate(stale, 0), cache->fork(stale).status(), cache->tokens(stale).status(),
        cache->append(id, rows.view(), oneHead), cache->append(id, oneHead, rows.view()),
        cache->truncate(id, length + 1), cache->truncate(id, -1),
        cache->fork(id, length + 1).status()})
    ASSERT_EQ(status.code(), StatusCode::InvalidArgument) << status.message();
}

void PagedKvCacheModel::step() {
  const int64_t choice = below(100);
  const bool full = std::ssize(plain.sequences) >= kMostSequences;
  if (plain.sequences.empty() || (choice < 8 && !full)) {
    PlainSequence sequence;
    KvScales scales;
    if (test.cache == DType::F8E4M3 && below(2)) {
      sequence.scale = static_cast<float>(1 + below(7)) / 4;
      scales = {std::vector<float>(kHeads, sequence.scale),
                std::vector<float>(kHeads, sequence.scale)};
    }
    const Expected<SequenceId> id = cache->allocate(scales);
    ASSERT_TRUE(id);
    plain.sequences[*id] = std::move(sequence);
  } else if (choice < 20 && !full) {
    ASSERT_NO_FATAL_FAILURE(fork());
  } else if (choice < 30) {
    const SequenceId id = someSequence();
    const int64_t tokens = below(std::ssize(plain.sequences[id].tokens) + 1);
    plain.resize(plain.sequences[id], tokens);
    ASSERT_TRUE(cache->truncate(id, tokens));
  } else if (choice < 40) {
    const SequenceId id = someSequence();
    plain.sequences.erase(id);
    freed.push_back(id);
    ASSERT_TRUE(cache->free(id));
  } else if (choice < 45) {
    ASSERT_NO_FATAL_FAILURE(refused());
  } else {
    ASSERT_NO_FATAL_FAILURE(append());
  }
}

/// What lies in the pool, found through the block table, and what `read` gives.
void PagedKvCacheModel::compareContents() {
  KvBatch batch;
  Operands operands;
  const std::vector<SequenceId> all = ids();
  ASSERT_TRUE(cache->bind(all, batch, operands));
  const int64_t rowSize = operands.blockTable.shape[1];
  for (size_t r = 0; r < all.size(); ++r) {
    const PlainSequence &sequence = plain.sequences[all[r]];
    const auto length = std::ssize(sequence.tokens);
    ASSERT_EQ(batch.kvLens[r], length);
    ASSERT_EQ(*cache->tokens(all[r]), length);
    std::vector<float> k(static_cast<size_t>(length * kHeads * kDim));
    std::vector<float> v(k.size());
    const auto first = length > 0 ? below(length) : 0;
    ASSERT_TRUE(cache->read(
        all[r], first, TensorView::contiguous(k.data(), DType::F32, {length - first, kHeads, kDim}),
        TensorView::contiguous(v.data(), DType::F32, {length - first, kHeads, kDim})));
    for (int64_t t = 0; t < length; ++t)
      for (int64_t i = 0; i < kHeads * kDim; ++i)
        for (const bool value : {false, true}) {
          const TensorView &pool = value ? operands.v : operands.k;
          const int32_t page = batch.blockTable[r * rowSize + t / test.pageSize];
          float expected = elementOf(sequence.tokens[t], i / kDim, i % kDim, value);
          expected = rounded(rounded(expected, test.rows) / sequence.scale, test.cache);
          ASSERT_EQ(decode(pool.data, test.cache,
                           offset(pool, page, t % test.pageSize, i / kDim) + i % kDim),
                    expected);
          if (t >= first) {
            ASSERT_EQ((value ? v : k)[(t - first) * kHeads * kDim + i], expected * sequence.scale);
          }
        }
  }
}

/// Attention over the pages beside attention over a contiguous copy.
void PagedKvCacheModel::compareAttention() {
  const std::vector<SequenceId> all = ids();
  std::vector<Lengths> lengths;
  lengths.reserve(all.size());
  for (const SequenceId id : all)
    lengths.push_back({3, std::ssize(plain.sequences[id].tokens)});
  const Heads heads = {4, kHeads, kDim, kDim};
  Problem problem(lengths, heads);
  for (size_t r = 0; r < all.size(); ++r) {
    const int64_t at = problem.cuSeqlensKv[r] * kHeads * kDim;
    const std::initializer_list<int64_t> shape = {lengths[r].kv, kHeads, kDim};
    ASSERT_TRUE(cache->read(all[r], 0,
                            TensorView::contiguous(problem.k.data() + at, DType::F32, shape),
                            TensorView::contiguous(problem.v.data() + at, DType::F32, shape)));
  }
  const Kernel kernel = causalKernel(heads);
  Operands operands = problem.operands();
  ASSERT_TRUE(runOnce(kernel, problem.shape(), operands));
  const std::vector<float> expected = problem.out;
  std::ranges::fill(problem.out, kNaN);
  KvBatch batch;
  ASSERT_TRUE(cache->bind(all, batch, operands));
  const Status status = runOnce(kernel, problem.shape(), operands);
  ASSERT_TRUE(status) << status.message();
  ASSERT_EQ(problem.out, expected);
}

TEST_P(PagedKvCacheModel, agreesWithAPlainCache) {
  std::set<StatusCode> met;
  for (int i = 0; i < kOperations; ++i) {
    ASSERT_NO_FATAL_FAILURE(poison()) << "operation " << i;
    ASSERT_NO_FATAL_FAILURE(step()) << "operation " << i;
    const PagedKvCacheStatistics expected = plain.statistics();
    const PagedKvCacheStatistics actual = cache->statistics();
    ASSERT_EQ(actual, expected) << "operation " << i << ": free " << actual.pagesFree << " of "
                                << expected.pagesFree << ", shared " << actual.pagesShared << " of "
                                << expected.pagesShared;
    if (i % 8 == 0) {
      ASSERT_NO_FATAL_FAILURE(compareContents()) << "operation " << i;
    }
    if (i % 500 == 0 && test.cache == DType::F32) {
      ASSERT_NO_FATAL_FAILURE(compareAttention()) << "operation " << i;
    }
  }
  // The run has met what it is about.
  const PagedKvCacheStatistics statistics = cache->statistics();
  EXPECT_GT(statistics.exhausted, kOperations / 100);
  if (test.pageSize > 1 && test.pages > 1) {
    EXPECT_GT(statistics.pageCopies, kOperations / 100);
  }
  if (test.cache == DType::F8E4M3) {
    EXPECT_GT(statistics.saturated, kOperations / 100);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, PagedKvCacheModel,
    testing::Values(
        ModelCase{"nhd_f32", 24, 4, KvLayout::PagedNhd, DType::F32, DType::F32},
        ModelCase{"hnd_f32", 24, 3, KvLayout::PagedHnd, DType::F32, DType::F32},
        ModelCase{"one_token", 40, 1, KvLayout::PagedNhd, DType::F32, DType::F32},
        ModelCase{"one_page", 1, 16, KvLayout::PagedHnd, DType::F32, DType::BF16},
        ModelCase{"nhd_bf16_from_f32", 20, 8, KvLayout::PagedNhd, DType::BF16, DType::F32},
        ModelCase{"hnd_f16_from_f16", 20, 5, KvLayout::PagedHnd, DType::F16, DType::F16},
        ModelCase{"nhd_fp8_from_bf16", 20, 4, KvLayout::PagedNhd, DType::F8E4M3, DType::BF16},
        ModelCase{"hnd_fp8_from_f32", 12, 16, KvLayout::PagedHnd, DType::F8E4M3, DType::F32}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
