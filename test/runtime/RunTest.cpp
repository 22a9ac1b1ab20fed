// Whole runs over ragged batches, by fault kind.
#include "Problem.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

using namespace skim;
using namespace skim::test;

namespace {

TEST(Run, batchOfMixedLengthsWithChunks) {
  for (const Heads heads : {Heads{4, 2}, Heads{3, 3}, Heads{7, 1}, Heads{8, 1}}) {
    Problem problem({{33, 33}, {1, 70}, {17, 40}, {16, 16}}, heads);
    ASSERT_TRUE(runOnce(causalKernel(heads), problem.shape(), problem.operands()));
    expectAttention(problem, referenceAttention(problem));
  }
}

/// The kept relation of a single request, as rows of 0 and 1.
std::vector<std::string> keptRows(int64_t queryLength, int64_t kvLength) {
  Problem problem({{queryLength, kvLength}}, {.query = 1, .kv = 1});
  std::vector<uint8_t> kept(static_cast<size_t>(queryLength * kvLength), 5);
  RunOptions options;
  options.kept = TensorView::contiguous(kept.data(), DType::U8, {1, queryLength, kvLength});
  EXPECT_TRUE(
      runOnce(causalKernel(problem.heads), problem.shape(), problem.operands(), {}, options));
  expectAttention(problem, referenceAttention(problem));
  std::vector<std::string> rows;
  for (int64_t row = 0; row < queryLength; ++row) {
    std::string text;
    for (int64_t key = 0; key < kvLength; ++key)
      text += static_cast<char>('0' + kept[row * kvLength + key]);
    rows.push_back(text);
  }
  return rows;
}

TEST(Run, K3_causalityIsAlignedToTheBottomRight) {
  EXPECT_EQ(keptRows(2, 5), (std::vector<std::string>{"11110", "11111"}));
  EXPECT_EQ(keptRows(5, 2), (std::vector<std::string>{"00", "00", "00", "10", "11"}));
}

TEST(Run, K3_chunksGiveTheWholeBitForBit) {
  Problem whole({{100, 100}});
  ASSERT_TRUE(runOnce(causalKernel({}), whole.shape(), whole.operands()));
  int64_t done = 0;
  for (const int64_t length : {30, 30, 40}) {
    Problem chunk({{length, done + length}});
    const int64_t rowSize = chunk.heads.query * chunk.heads.dim;
    std::copy_n(whole.q.begin() + done * rowSize, chunk.q.size(), chunk.q.begin());
    std::copy_n(whole.k.begin(), chunk.k.size(), chunk.k.begin());
    std::copy_n(whole.v.begin(), chunk.v.size(), chunk.v.begin());
    ASSERT_TRUE(runOnce(causalKernel({}), chunk.shape(), chunk.operands()));
    EXPECT_EQ(std::memcmp(chunk.out.data(), whole.out.data() + done * rowSize,
                          chunk.out.size() * sizeof(float)),
              0);
    done += length;
  }
}

TEST(Run, K4_membersOfZeroLength) {
  Problem problem({{150, 100}, {0, 0}, {150, 300}, {7, 0}, {0, 9}});
  ASSERT_TRUE(runOnce(causalKernel({}), problem.shape(), problem.operands()));
  expectAttention(problem, referenceAttention(problem));
  // Request 3 has rows and no keys.
  for (int64_t token = 300; token < 307; ++token) {
    EXPECT_EQ(problem.out[token * 32], 0.0f);
    EXPECT_EQ(problem.lse[token], -kInfinity);
  }
}

std::atomic<int64_t> itemsSeen = 0;
void countItems(const skim_kernel_args *, const skim_work_item *, int64_t, int64_t count, int64_t) {
  itemsSeen += count;
}

TEST(Run, K4_batchWithNothingToDo) {
  const Kernel kernel = *Kernel::create(causalPlan({}), {countItems});
  itemsSeen = 0;
  for (const std::vector<Lengths> &lengths :
       {std::vector<Lengths>{}, {{0, 0}}, {{0, 50}, {0, 0}}}) {
    Problem problem(lengths);
    skim_statistics statistics = {1, 1, 1, 1};
    ASSERT_TRUE(
        runOnce(kernel, problem.shape(), problem.operands(), {}, {.statistics = &statistics}));
    EXPECT_EQ(statistics.tiles_visited, 0);
    EXPECT_EQ(statistics.pairs_kept, 0);
  }
  EXPECT_EQ(itemsSeen, 0);
}

TEST(Run, K8_listsAreSetsAndBadEntriesAreReported) {
  Problem problem({{16, 64}}, {.query = 2, .kv = 1});
  const Kernel kernel = *Kernel::create(listPlan(problem.heads), {listAttention});
  std::vector<int32_t> blocks = {3, 0, 3, -1, 700}; // rows 48 to 63: one query block
  std::vector<int32_t> counts = {3};
  Operands operands = problem.operands();
  operands.inputs = {{"blocks", TensorView::contiguous(blocks.data(), DType::I32, {1, 5})},
                     {"blocks_counts", TensorView::contiguous(counts.data(), DType::I32, {1})}};
  const auto listed = [](int64_t, int64_t, int64_t, int64_t k) { return k / 8 == 0 || k / 8 == 3; };
  const Attention expected = referenceAttention(problem, listed);

  skim_statistics statistics = {};
  ASSERT_TRUE(runOnce(kernel, problem.shape(), operands, {}, {.statistics = &statistics}));
  expectAttention(problem, expected);
  EXPECT_EQ(statistics.pairs_kept, 2 * 16 * 16) << "a block listed twice counts once";

  std::swap(blocks[0], blocks[1]);
  ASSERT_TRUE(runOnce(kernel, problem.shape(), operands));
  expectAttention(problem, expected);

  counts[0] = 5; // now the padding and the bad entry are in use
  const Status status = runOnce(kernel, problem.shape(), operands);
  EXPECT_EQ(status.code(), StatusCode::DataOutOfRange);
  EXPECT_EQ(status.message(), "input 'blocks': expected entries below 8 along 'k / 8', or -1 for "
                              "none, but got 700 in request 0");
  expectAttention(problem, expected);

  operands.inputs.pop_back(); // without counts the whole capacity is in use
  EXPECT_EQ(runOnce(kernel, problem.shape(), operands).code(), StatusCode::DataOutOfRange);

  blocks[4] = -1;
  EXPECT_TRUE(runOnce(kernel, problem.shape(), operands))
      << "the status must not stick to the next run";
  expectAttention(problem, expected);
}

void reportLabel(const skim_kernel_args *args, const skim_work_item *, int64_t, int64_t, int64_t) {
  __atomic_fetch_or(args->status, SKIM_STATUS_UNLISTED_LABEL | SKIM_STATUS_INDEX_OUT_OF_RANGE,
                    __ATOMIC_RELAXED);
}

TEST(Run, rule14_unlistedLabelsOnTheDeviceAreReported) {
  Problem problem({{4, 4}});
  const Kernel kernel = *Kernel::create(causalPlan({}), {reportLabel});
  EXPECT_EQ(
      runOnce(kernel, problem.shape(), problem.operands()).message(),
      "an index in an input lies outside its axis; a value is not a label of the pattern's match");
}

TEST(Run, K9_statisticsAreTheSumOverAllItems) {
  Problem problem({{20, 20}, {3, 50}});
  skim_statistics statistics = {};
  ASSERT_TRUE(runOnce(causalKernel({}), problem.shape(), problem.operands(), {},
                      {.statistics = &statistics}));
  EXPECT_EQ(statistics.pairs_kept, 4 * (20 * 21 / 2 + 48 + 49 + 50));
  EXPECT_EQ(statistics.tiles_visited, 0) << "the kernel reports none";
}

/// Keeps all keys of even heads and the first key alone of odd ones, in what it reports.
void countByHead(const skim_kernel_args *args, const skim_work_item *items, int64_t first,
                 int64_t count, int64_t) {
  for (int64_t i = first; i < first + count; ++i)
    args->statistics[i].pairs_kept = items[i].head % 2 == 0 ? 10 : 1;
}

TEST(Run, K9_headStatisticsTellHeadsApart) {
  Problem problem({{kRows, kRows}, {2 * kRows, 2 * kRows}});
  LaunchPlan launchPlan = causalPlan({});
  // Items of KV heads belong to no query head.
  launchPlan.kernels.insert(launchPlan.kernels.begin(),
                            {"keys", HeadAxis::KvHead, ItemAxis::Keys, kKeys});
  const Kernel kernel = *Kernel::create(launchPlan, {countByHead, countByHead});
  std::vector<skim_statistics> heads(4, {-1, -1, -1, -1});
  ASSERT_TRUE(runOnce(kernel, problem.shape(), problem.operands(), {}, {.headStatistics = heads}));
  for (int64_t head = 0; head < 4; ++head) {
    EXPECT_EQ(heads[head].pairs_kept, 3 * (head % 2 == 0 ? 10 : 1)) << "head " << head;
    EXPECT_EQ(heads[head].tiles_visited, 0);
  }

  EXPECT_EQ(runOnce(kernel, problem.shape(), problem.operands(), {},
                    {.headStatistics = std::span(heads).first(2)})
                .message(),
            "head_statistics: expected one entry for each of the 4 query heads but got 2");
}

TEST(Run, kernelSecondsHaveOneEntryAKernel) {
  Problem problem({{20, 20}});
  LaunchPlan launchPlan = causalPlan({});
  launchPlan.kernels.push_back({"keys", HeadAxis::KvHead, ItemAxis::Keys, kKeys});
  const Kernel kernel = *Kernel::create(launchPlan, {causalAttention, countItems});
  std::vector<double> seconds = {-1, -1};
  ASSERT_TRUE(runOnce(kernel, problem.shape(), problem.operands(), {}, {.kernelSeconds = seconds}));
  EXPECT_GT(seconds[0], 0);
  EXPECT_GE(seconds[1], 0);

  EXPECT_EQ(runOnce(kernel, problem.shape(), problem.operands(), {},
                    {.kernelSeconds = std::span(seconds).first(1)})
                .message(),
            "kernel_seconds: expected one entry for each of the 2 kernels but got 1");
}

TEST(Run, K11_viewsOfPackedAndTransposedArraysGiveTheSame) {
  Problem dense({{20, 20}, {9, 9}});
  ASSERT_TRUE(runOnce(causalKernel({}), dense.shape(), dense.operands()));
  const std::vector<float> expected = dense.out;
  const int64_t tokens = dense.tokens();

  // q, k and v as slices of one packed projection [tokens, (4 + 2 + 2) * 8].
  std::vector<float> packed(static_cast<size_t>(tokens * 64), kNaN);
  for (int64_t token = 0; token < tokens; ++token) {
    std::copy_n(&dense.q[token * 32], 32, &packed[token * 64]);
    std::copy_n(&dense.k[token * 16], 16, &packed[token * 64 + 32]);
    std::copy_n(&dense.v[token * 16], 16, &packed[token * 64 + 48]);
  }
  Operands operands = dense.operands();
  operands.q = TensorView::strided(packed.data(), DType::F32, {tokens, 4, 8}, {64, 8, 1});
  operands.k = TensorView::strided(&packed[32], DType::F32, {tokens, 2, 8}, {64, 8, 1});
  operands.v = TensorView::strided(&packed[48], DType::F32, {tokens, 2, 8}, {64, 8, 1});
  // out and lse transposed: [heads, tokens, dim] and [tokens, heads] in memory.
  std::vector<float> out(static_cast<size_t>(tokens * 32), kNaN);
  std::vector<float> lse(static_cast<size_t>(tokens * 4), kNaN);
  operands.out = TensorView::strided(out.data(), DType::F32, {tokens, 4, 8}, {8, tokens * 8, 1});
  operands.lse = TensorView::strided(lse.data(), DType::F32, {4, tokens}, {1, 4});
  const Kernel kernel = causalKernel({});
  for (int call = 0; call < 2; ++call) {
    ASSERT_TRUE(runOnce(kernel, dense.shape(), operands));
    for (int64_t token = 0; token < tokens; ++token)
      for (int64_t head = 0; head < 4; ++head) {
        ASSERT_EQ(lse[token * 4 + head], dense.lse[head * tokens + token]);
        for (int64_t i = 0; i < 8; ++i)
          ASSERT_EQ(out[(head * tokens + token) * 8 + i], expected[(token * 4 + head) * 8 + i]);
      }
  }
}

TEST(Run, K17_neighboursAndThreadsDoNotChangeAnything) {
  Problem batch({{20, 30}, {50, 60}, {1, 90}, {9, 4}});
  ASSERT_TRUE(runOnce(causalKernel({}), batch.shape(), batch.operands(), {}, {.threads = 1}));
  const std::vector<float> alone = batch.out;
  const Expected<ThreadPool> pool = ThreadPool::create(5);
  ASSERT_TRUE(pool);
  for (int64_t threads : {0, 2, 5}) {
    std::fill(batch.out.begin(), batch.out.end(), kNaN);
    ASSERT_TRUE(runOnce(causalKernel({}), batch.shape(), batch.operands(), {},
                        {.threads = threads, .pool = &*pool}));
    EXPECT_EQ(std::memcmp(batch.out.data(), alone.data(), alone.size() * sizeof(float)), 0);
  }
}

TEST(Run, lseIsOptionalAndTokensPastTheBatchAreLeftAlone) {
  Problem problem({{5, 9}});
  Operands operands = problem.operands();
  std::vector<float> q(problem.q);
  std::vector<float> out(problem.out.size() + 64, kNaN);
  q.resize(q.size() + 64);
  operands.q = TensorView::contiguous(q.data(), DType::F32, {7, 4, 8});
  operands.out = TensorView::contiguous(out.data(), DType::F32, {7, 4, 8});
  operands.lse = {};
  ASSERT_TRUE(runOnce(causalKernel({}), problem.shape(), operands));
  for (size_t i = problem.out.size(); i < out.size(); ++i)
    EXPECT_NE(out[i], out[i]);
  std::copy_n(out.begin(), problem.out.size(), problem.out.begin());
  problem.lse = referenceAttention(problem).lse;
  expectAttention(problem, referenceAttention(problem));
}

TEST(Run, manyThreadsMayRunOneKernel) {
  const Kernel kernel = causalKernel({});
  Problem shared({{30, 40}, {12, 12}});
  const Attention expected = referenceAttention(shared);
  const Plan plan = *kernel.plan(shared.shape());
  std::vector<Problem> problems(4, shared);
  std::vector<Status> statuses(problems.size());
  std::vector<std::thread> threads;
  threads.reserve(problems.size());
  for (size_t i = 0; i < problems.size(); ++i)
    threads.emplace_back([&, i] {
      WorkspaceMemory workspace = filledWorkspace(plan.workspaceBytes());
      for (int round = 0; round < 20 && statuses[i]; ++round)
        statuses[i] = kernel.run(plan, problems[i].operands(), {}, workspace.span());
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < problems.size(); ++i) {
    ASSERT_TRUE(statuses[i]) << statuses[i].message();
    expectAttention(problems[i], expected);
  }
}

TEST(Run, softmaxScaleReplacesItsDefault) {
  Problem problem({{6, 6}});
  ASSERT_TRUE(runOnce(causalKernel({}), problem.shape(), problem.operands()));
  const std::vector<float> byDefault = problem.out;
  Operands operands = problem.operands();
  operands.softmaxScale = 1 / std::sqrt(8.0);
  ASSERT_TRUE(runOnce(causalKernel({}), problem.shape(), operands));
  EXPECT_EQ(problem.out, byDefault);
  operands.softmaxScale = 0; // all keys alike
  ASSERT_TRUE(runOnce(causalKernel({}), problem.shape(), operands));
  EXPECT_NEAR(problem.lse[5], std::log(6.0), 1e-6);
}

TEST(Run, keepsCodeAliveAsLongAsTheKernel) {
  auto code = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = code;
  {
    const Kernel copy = *Kernel::create(causalPlan({}), {causalAttention}, std::move(code));
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

} // namespace
