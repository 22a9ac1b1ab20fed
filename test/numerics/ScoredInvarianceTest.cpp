// Rule 16 where scores decide: results depend neither on the batch nor on how a prompt was cut.
#include "test/numerics/ScoredCases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using namespace skim;
using namespace skim::numerics;

namespace {

constexpr Heads kHeads{.heads = 4, .kvHeads = 2, .dim = 64};

/// Rows [begin, begin + count) of a result as a result of its own.
RunResult rowsOf(const RunResult &result, int64_t begin, int64_t count) {
  RunResult rows = result;
  int64_t row = result.heads * result.valueDim;
  rows.out.assign(result.out.begin() + begin * row, result.out.begin() + (begin + count) * row);
  rows.lse.clear();
  for (int64_t h = 0; h != result.heads; ++h) {
    auto first = result.lse.begin() + h * result.tokens + begin;
    rows.lse.insert(rows.lse.end(), first, first + count);
  }
  rows.kept.clear();
  return rows;
}

bool sameRows(const RunResult &whole, int64_t begin, RunResult part) {
  part.kept.clear();
  return sameResults(rowsOf(whole, begin, part.tokens), part);
}

TEST(ScoredInvariance, BatchNeighboursChangeNoBit) {
  for (const char *program : {kPeakBlocks, kEnergyBlocks, kColumnsAndDiagonals, kRowSelections}) {
    Case alone = makeCase(program, {{200, 333}}, kHeads, 5);
    std::unique_ptr<Kernel> kernel = compileScored(alone);
    EXPECT_EQ(checkScored(kernel, alone), "") << program;
    Case batch =
        batchOf({makeCase(program, {{65, 500}}, kHeads, 2), alone,
                 makeCase(program, {{1, 1}}, kHeads, 3), makeCase(program, {{0, 40}}, kHeads, 4)});
    EXPECT_EQ(checkScored(kernel, batch), "") << program;
    if (!kernel)
      continue;
    RunResult expected = runOnCpu(*kernel, alone, {}),
              actual = runOnCpu(*kernel, batch, {.seed = 1});
    ASSERT_TRUE(expected.status && actual.status)
        << expected.status.message() << actual.status.message();
    EXPECT_TRUE(sameRows(actual, 65, expected)) << program;
  }
}

/// Patterns that reduce no query axis away and do not mention the call: blocks up to 64.
const char *const kChunkInvariant[] = {
    kPeakBlocks, kEnergyBlocks, kRowSelections,
    "pattern p { let s = smooth(dot(int8(mean(Q, into: q / 32)), mean(K, 16), visible: any), 3)\n"
    "  keep top_p(softmax(s, over: k / 16), 0.6) and not (s < -0.5) or q - k < 9 }",
    "pattern p { let v = var(dot(Q, K), into: (q / 16, k / 16), over: group)\n"
    "  keep cover(q / 64, k / 32, top_k(v, 2)) or k < 4 }"};

TEST(ScoredInvariance, ChunksChangeNoBit) {
  constexpr int64_t kLength = 448, kCuts[] = {0, 64, 256, 320, 448};
  for (const char *program : kChunkInvariant) {
    Case whole = makeCase(program, {{kLength, kLength}}, kHeads);
    std::unique_ptr<Kernel> kernel = compileScored(whole);
    EXPECT_EQ(checkScored(kernel, whole), "") << program;
    if (!kernel)
      continue;
    RunResult expected = runOnCpu(*kernel, whole, {});
    ASSERT_TRUE(expected.status) << expected.status.message();
    for (size_t i = 1; i != std::size(kCuts); ++i) {
      RunResult actual = runOnCpu(*kernel, chunkOf(whole, kCuts[i - 1], kCuts[i], 64), {});
      ASSERT_TRUE(actual.status) << actual.status.message();
      EXPECT_TRUE(sameRows(expected, kCuts[i - 1], actual))
          << program << ", rows from " << kCuts[i - 1];
    }
  }
}

// The reference has the rule as well: chunks keep exactly the same pairs.
TEST(ScoredInvariance, ChunksKeepTheSamePairsInTheReference) {
  constexpr int64_t kLength = 256, kCuts[] = {0, 64, 192, 256};
  for (const char *program : kChunkInvariant) {
    Case whole = makeCase(program, {{kLength, kLength}}, kHeads);
    ReferenceRun expected = runOnReference(whole);
    ASSERT_TRUE(expected.ok) << expected.message;
    for (size_t i = 1; i != std::size(kCuts); ++i) {
      ReferenceRun chunk = runOnReference(chunkOf(whole, kCuts[i - 1], kCuts[i], 64));
      ASSERT_TRUE(chunk.ok) << chunk.message;
      for (int64_t h = 0; h != kHeads.heads; ++h)
        for (int64_t t = kCuts[i - 1]; t != kCuts[i]; ++t)
          for (int64_t k = 0; k != kCuts[i]; ++k)
            ASSERT_EQ(expected.result.isKept(h, t, k), chunk.result.isKept(h, t - kCuts[i - 1], k))
                << program << "\n"
                << t << ", " << k;
    }
  }
}

} // namespace
