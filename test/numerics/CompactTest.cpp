// `compact` on the CPU target: which tokens, for which heads, of which requests.
#include "test/numerics/Cases.h"
#include "test/numerics/CpuRun.h"

#include "runtime/LaunchPlan.h"

#include <skim/GatherTokens.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace skim;
using namespace skim::numerics;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

namespace {

/// Compiles and runs, and compares with the reference.
RunResult gather(const Case &c, HeadAxis axis) {
  Expected<Kernel> kernel = compileCase(c);
  if (!kernel) {
    ADD_FAILURE() << kernel.status().message();
    return {};
  }
  EXPECT_EQ(kernel->launchPlan().signature.compactHeads, axis);
  ReferenceRun expected = runOnReference(c);
  EXPECT_TRUE(expected.ok) << expected.message;
  RunResult result = runOnCpu(*kernel, c, {});
  EXPECT_EQ(compareRuns(c, expected.result, result), "");
  return result;
}

std::vector<int32_t> rowOf(const RunResult &result, int64_t row) {
  const GatheredTokens &tokens = result.gathered;
  auto first = tokens.positions.begin() + row * tokens.capacity;
  return {first, first + tokens.counts[row]};
}

std::vector<int32_t> upTo(int32_t end) {
  std::vector<int32_t> positions(end);
  for (int32_t i = 0; i < end; ++i)
    positions[i] = i;
  return positions;
}

TEST(Compact, ClosedFormsAreCutToEachRequest) {
  Case c =
      makeCase("pattern p(sink: index) { keep q - k < 9  compact k < sink or k >= kv_len - 2 }",
               {{4, 9}, {3, 3}, {0, 6}, {2, 0}, {5, 2}, {1, 1}}, {.heads = 2, .dim = 16});
  c.problem.parameters["sink"] = {2};
  RunResult result = gather(c, HeadAxis::None);
  EXPECT_THAT(rowOf(result, 0), ElementsAre(0, 1, 7, 8));
  EXPECT_THAT(rowOf(result, 1), ElementsAre(0, 1, 2));
  EXPECT_THAT(rowOf(result, 2), IsEmpty()); // It has no row.
  EXPECT_THAT(rowOf(result, 3), IsEmpty()); // It has no key.
  EXPECT_THAT(rowOf(result, 4), ElementsAre(0, 1));
  EXPECT_THAT(rowOf(result, 5), ElementsAre(0));
}

TEST(Compact, HeadsAreThoseOfTheSet) {
  Case c = makeCase("pattern p { input x: bool[kv_head, k / 4]  input y: f32[head, k]"
                    "  keep true  compact x and y > 0 }",
                    {{3, 11}, {6, 6}}, {.heads = 4, .kvHeads = 2, .dim = 16});
  addInput(c, "x", "bool", {2, 2, 3}, [](int64_t i) { return i % 3 != 1; });
  addInput(c, "y", "f32", {2, 4, 11}, [](int64_t i) { return i % 5 < 2 ? 1 : -1; });
  gather(c, HeadAxis::QueryHead);

  Case shared = makeCase("pattern p { input x: bool[kv_head, k / 4]  keep true  compact x }",
                         {{3, 11}, {6, 6}}, {.heads = 4, .kvHeads = 2, .dim = 16});
  addInput(shared, "x", "bool", {2, 2, 3}, [](int64_t i) { return i % 3 != 1; });
  RunResult result = gather(shared, HeadAxis::KvHead);
  EXPECT_THAT(rowOf(result, 0), ElementsAre(0, 1, 2, 3, 8, 9, 10));
  EXPECT_THAT(rowOf(result, 3), ElementsAre(0, 1, 2, 3));
}

TEST(Compact, ListsSelectionsAndMatches) {
  Case c = makeCase("pattern p(kind: index[head]) { input chosen: list[k]  input x: f32[k]"
                    "  let best = top_k(x, 2)  keep true"
                    "  compact match kind { 0: chosen 1: best _: not best } }",
                    {{2, 8}, {7, 7}}, {.heads = 3, .kvHeads = 3, .dim = 16});
  c.problem.parameters["kind"] = {0, 1, 2};
  addInput(c, "chosen", "list", {2, 3},
           [](int64_t i) { return std::vector{5, 2, 5, 6, -1, 0}[i]; });
  addInput(c, "x", "f32", {2, 8}, [](int64_t i) { return double(i * 37 % 11); });
  RunResult result = gather(c, HeadAxis::QueryHead);
  EXPECT_THAT(rowOf(result, 0), ElementsAre(2, 5));
  EXPECT_THAT(rowOf(result, 3), ElementsAre(0, 6));
  EXPECT_EQ(result.gathered.counts[1], 2);
  EXPECT_EQ(result.gathered.counts[2], 6);
}

// UniPrefill, arXiv:2605.06221: the last rows' attention says which tokens go on.
TEST(Compact, TokensThatTheLastRowsAttend) {
  Case c =
      makeCase("pattern p { let mass = sum(softmax(dot(last(Q, 8), K), over: k), over: (q, heads))"
               "  keep true  compact top_p(mass, 0.5) or k >= kv_len - 8 }",
               {{120, 120}, {20, 90}, {0, 30}}, {.heads = 4, .kvHeads = 2, .dim = 32});
  RunResult result = gather(c, HeadAxis::None);
  EXPECT_GT(result.gathered.counts[0], 8);
  EXPECT_LT(result.gathered.counts[0], 120);
  EXPECT_EQ(result.gathered.counts[2], 0);
}

// Rule 17.
TEST(Compact, Rule17_WhereTheRequestIsDenseAllTokensAreGathered) {
  Case c = makeCase("pattern p(short: index[head]) { keep k == 0  compact k / 16 < 1 and k < 3"
                    "  dense when kv_len <= short }",
                    {{4, 9}, {3, 30}}, {.heads = 2, .dim = 16});
  c.problem.parameters["short"] = {9, 40};
  RunResult result = gather(c, HeadAxis::QueryHead);
  EXPECT_THAT(rowOf(result, 0), ElementsAreArray(upTo(9)));
  EXPECT_THAT(rowOf(result, 1), ElementsAreArray(upTo(9)));
  EXPECT_THAT(rowOf(result, 2), ElementsAre(0, 1, 2));
  EXPECT_THAT(rowOf(result, 3), ElementsAreArray(upTo(30)));
}

TEST(Compact, IsARefusedResultOfOtherPatterns) {
  Case c = makeCase("pattern p { keep q - k < 3 }", {{4, 4}}, {.dim = 16});
  Expected<Kernel> kernel = compileCase(c);
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_EQ(kernel->launchPlan().signature.compactHeads, std::nullopt);
  PreparedRun prepared(*kernel, c, {});
  std::vector<int32_t> counts(1, 5);
  prepared.operands.compactCounts = TensorView::contiguous(counts.data(), DType::I32, {1, 1});
  run(*kernel, prepared);
  EXPECT_EQ(prepared.result.status.message(),
            "compact_counts: expected nothing (the pattern has no compact) but got i32[1, 1]");
  EXPECT_THAT(counts, ElementsAre(5));
}

// Each result alone, at strides of its own; without both the kernel does nothing.
TEST(Compact, ResultsAreOptional) {
  Case c = makeCase("pattern p { keep true  compact k % 2 == 1 }", {{5, 5}, {2, 4}}, {.dim = 16});
  Expected<Kernel> kernel = compileCase(c);
  ASSERT_TRUE(kernel) << kernel.status().message();
  for (bool wantsPositions : {false, true})
    for (bool wantsCounts : {false, true}) {
      PreparedRun prepared(*kernel, c, {});
      std::vector<int32_t> positions(40, 9), counts(4, 9);
      prepared.operands.compactPositions =
          wantsPositions ? TensorView::strided(positions.data(), DType::I32, {2, 1, 6}, {20, 8, 1})
                         : TensorView();
      prepared.operands.compactCounts =
          wantsCounts ? TensorView::strided(counts.data() + 3, DType::I32, {2, 1}, {-2, 1})
                      : TensorView();
      run(*kernel, prepared);
      ASSERT_TRUE(prepared.result.status) << prepared.result.status.message();
      std::vector<int32_t> expected(40, 9);
      if (wantsPositions) {
        std::ranges::copy(std::vector{1, 3, -1, -1, -1, -1}, expected.begin());
        std::ranges::copy(std::vector{1, 3, -1, -1, -1, -1}, expected.begin() + 20);
      }
      EXPECT_EQ(positions, expected);
      EXPECT_EQ(counts, wantsCounts ? (std::vector{9, 2, 9, 2}) : std::vector(4, 9));
    }
}

// What a run gathers is what `gatherTokens` takes.
TEST(Compact, PacksHiddenStates) {
  Case c = makeCase("pattern p { keep true  compact k % 3 == 0 }", {{5, 7}, {4, 4}}, {.dim = 16});
  RunResult result = gather(c, HeadAxis::None);
  std::vector<float> hidden(9 * 2), packed(9 * 2, -1);
  for (size_t i = 0; i < hidden.size(); ++i)
    hidden[i] = static_cast<float>(i);
  std::vector<int32_t> starts = {0, 5, 9}, lengths = {7, 4}, newStarts(3), newPositions(9);
  GatheredTokens &tokens = result.gathered;
  TokenGather arguments;
  arguments.tokens = TensorView::contiguous(hidden.data(), DType::F32, {9, 2});
  arguments.cuSeqlens = TensorView::contiguous(starts.data(), DType::I32, {3});
  arguments.kvLens = TensorView::contiguous(lengths.data(), DType::I32, {2});
  arguments.positions =
      TensorView::contiguous(tokens.positions.data(), DType::I32, {2, 1, tokens.capacity});
  arguments.counts = TensorView::contiguous(tokens.counts.data(), DType::I32, {2, 1});
  arguments.gathered = TensorView::contiguous(packed.data(), DType::F32, {9, 2});
  arguments.gatheredCuSeqlens = TensorView::contiguous(newStarts.data(), DType::I32, {3});
  arguments.gatheredPositions = TensorView::contiguous(newPositions.data(), DType::I32, {9});
  Status status = gatherTokens(arguments);
  ASSERT_TRUE(status) << status.message();
  // The five rows of the first request sit at 2 to 6: its token 0 is not among them.
  EXPECT_THAT(newStarts, ElementsAre(0, 2, 4));
  newPositions.resize(4);
  EXPECT_THAT(newPositions, ElementsAre(3, 6, 0, 3));
  packed.resize(8);
  EXPECT_THAT(packed, ElementsAre(2, 3, 8, 9, 10, 11, 16, 17));
}

} // namespace
