// Rules 6 to 8: heads, axes that meet, and selections.
#include "Run.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace skim::reference;
using namespace skim::reference::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What a map over `k` keeps on a single row, whose values are `x`.
std::string select(const std::string &set, std::vector<double> x) {
  Problem problem = makeProblem(1, x.size());
  problem.inputs["x"] = {{static_cast<int64_t>(x.size())}, std::move(x)};
  return lastRowKeptBy("pattern p { input x: f32[k] keep " + set + " }", problem);
}

TEST(ReferenceRules, Rule6_AKvHeadCoversItsQueryHeads) {
  Problem problem = makeProblem(Shape{.queryHeads = 4, .kvHeads = 2, .lengths = {{1, 3}}});
  problem.inputs["x"] = {{2, 3}, {3, 1, 1, 1, 1, 3}};
  Result result = run("pattern p { input x: f32[kv_head, k] keep top_k(x, 1) }", problem);
  EXPECT_THAT(kept(result, problem, 0, 0), ElementsAre("100"));
  EXPECT_THAT(kept(result, problem, 0, 1), ElementsAre("100"));
  EXPECT_THAT(kept(result, problem, 0, 2), ElementsAre("001"));
  EXPECT_THAT(kept(result, problem, 0, 3), ElementsAre("001"));
}

TEST(ReferenceRules, Rule6_HeadsOfOneGroupMayDiffer) {
  Problem problem = makeProblem(Shape{.queryHeads = 2, .kvHeads = 1, .lengths = {{1, 2}}});
  problem.inputs["x"] = {{2, 2}, {1, 0, 0, 1}};
  Result result = run("pattern p { input x: bool[head, k] keep x }", problem);
  EXPECT_THAT(kept(result, problem, 0, 0), ElementsAre("10"));
  EXPECT_THAT(kept(result, problem, 0, 1), ElementsAre("01"));
}

TEST(ReferenceRules, Rule6_GroupAndHeadsReduce) {
  Problem problem = makeProblem(Shape{.queryHeads = 4, .kvHeads = 2, .lengths = {{1, 2}}});
  problem.inputs["x"] = {{4, 2}, {5, 0, 0, 4, 0, 1, 0, 1}};
  Result group =
      run("pattern p { input x: f32[head, k] keep top_k(sum(x, over: group), 1) }", problem);
  EXPECT_THAT(kept(group, problem, 0, 1), ElementsAre("10"));
  EXPECT_THAT(kept(group, problem, 0, 2), ElementsAre("01"));
  Result all =
      run("pattern p { input x: f32[head, k] keep top_k(sum(x, over: heads), 1) }", problem);
  for (int64_t head = 0; head < 4; ++head)
    EXPECT_THAT(kept(all, problem, 0, head), ElementsAre("01"));
  // 5 + 0 over 6 + 4: several axes at once.
  Result both =
      run("pattern p { input x: f32[head, k] keep sum(x, over: (k, heads)) == 11 }", problem);
  EXPECT_THAT(kept(both, problem, 0, 3), ElementsAre("11"));
}

TEST(ReferenceRules, Rule6_MapsOfKeysHaveAKvHead) {
  Problem problem = makeProblem(Shape{.queryHeads = 2, .kvHeads = 1, .lengths = {{2, 2}}});
  // Defined for the KV head: reducing over `group` finds no query heads to join.
  Error error = fail("pattern p { keep sum(dot(K, K), over: group) > 0 }", problem);
  EXPECT_THAT(error.message, HasSubstr("no such axis"));
  EXPECT_THAT(keptBy("pattern p { keep dot(K, K) >= 0 }", problem), ElementsAre("10", "11"));
}

TEST(ReferenceRules, Rule7_DifferentBlocksOfMapsDoNotMeet) {
  Problem problem = makeProblem(4, 4);
  problem.inputs["x"] = {{2}, {1, 2}};
  problem.inputs["y"] = {{1}, {1}};
  Error error = fail("pattern p { input x: f32[k / 2] input y: f32[k / 4] keep x > y }", problem);
  EXPECT_EQ(error.message, "axes 'k / 2' and 'k / 4' do not meet");
  EXPECT_TRUE(error.range.isValid());
  EXPECT_THAT(
      keptBy("pattern p { input x: f32[k / 2] input y: f32[k / 4] keep max(x, into: k / 4) > y }",
             problem),
      ElementsAre("1000", "1100", "1110", "1111"));
}

TEST(ReferenceRules, Rule7_IntoNeedsABlockThatDivides) {
  Problem problem = makeProblem(6, 6);
  problem.inputs["x"] = {{3}, {1, 2, 4}};
  Error error = fail("pattern p { input x: f32[k / 2] keep sum(x, into: k / 3) > 0 }", problem);
  EXPECT_THAT(error.message, HasSubstr("cannot be reduced"));
  EXPECT_EQ(
      lastRowKeptBy("pattern p { input x: f32[k / 2] keep sum(x, into: k / 4) == 3 }", problem),
      "111100");
}

TEST(ReferenceRules, Rule7_AbsentAxesBroadcastAndSetsCombineFreely) {
  Problem problem = makeProblem(4, 4);
  problem.inputs["columns"] = {{2}, {1, 0}};
  problem.inputs["rows"] = {{4}, {0, 1, 0, 1}};
  const char *text = "pattern p { input columns: bool[k / 2] input rows: bool[q] "
                     "            keep (columns and rows) or q / 3 == k / 3 }";
  EXPECT_THAT(keptBy(text, problem), ElementsAre("1000", "1100", "1110", "1101"));
}

TEST(ReferenceRules, Rule7_IndexMapsMeetPositions) {
  Problem problem = makeProblem(4, 4);
  problem.inputs["start"] = {{4}, {0, 1, 1, 3}};
  EXPECT_THAT(keptBy("pattern p { input start: index[q] keep k >= start }", problem),
              ElementsAre("1000", "0100", "0110", "0001"));
}

TEST(ReferenceRules, Rule7_DistancesMeetSingleTokens) {
  Problem problem = makeProblem(3, 3);
  problem.inputs["d"] = {{3}, {1, 2, 3}};
  problem.inputs["r"] = {{3}, {2, 2, 2}};
  problem.inputs["c"] = {{3}, {5, 0, 0}};
  problem.inputs["b"] = {{2}, {1, 3}};
  const char *inputs = "pattern p { input d: f32[q - k] input r: f32[q] input c: f32[k]"
                       "            input b: f32[q / 2] input e: f32[k / 2] ";
  problem.inputs["e"] = {{2}, {0, 0}};
  EXPECT_THAT(keptBy(std::string(inputs) + "keep d * r == 4 }", problem),
              ElementsAre("000", "100", "010"));
  EXPECT_THAT(keptBy(std::string(inputs) + "keep top_k(d + c, 1) }", problem),
              ElementsAre("100", "100", "100"));
  // Beside blocks of rows a distance stays one, and is what is selected.
  EXPECT_THAT(keptBy(std::string(inputs) + "keep d == b }", problem),
              ElementsAre("100", "010", "100"));
  EXPECT_THAT(fail(std::string(inputs) + "keep d > e }", problem).message,
              HasSubstr("do not meet"));
}

TEST(ReferenceRules, Rule8_TopKTakesTheLargestAndTiesGoToTheSmallerKey) {
  EXPECT_EQ(select("top_k(x, 2)", {1, 3, 2, 3}), "0101");
  EXPECT_EQ(select("top_k(x, 1)", {1, 3, 2, 3}), "0100");
  EXPECT_EQ(select("top_k(x, 3)", {7, 7, 7, 7}), "1110");
  EXPECT_EQ(select("top_k(x, 2)", {-1, nan, -3, -2}), "1001");
}

TEST(ReferenceRules, Rule8_TheCountIsRoundedUpAndClamped) {
  EXPECT_EQ(select("top_k(x, 0)", {1, 2, 3, 4}), "0000");
  EXPECT_EQ(select("top_k(x, 0 - 3)", {1, 2, 3, 4}), "0000");
  EXPECT_EQ(select("top_k(x, 9)", {1, 2, 3, 4}), "1111");
  EXPECT_EQ(select("top_k(x, 1.5)", {1, 2, 3, 4}), "0011");
  // 1e-6 under the ceiling: what rounding of a ratio adds does not count.
  EXPECT_EQ(select("top_k(x, 2.0000005)", {1, 2, 3, 4}), "0011");
  EXPECT_EQ(select("top_k(x, 2.00001)", {1, 2, 3, 4}), "0111");
  // 0.2 in f32 lies above a fifth, yet a fifth of 10 cells are 2.
  EXPECT_EQ(select("top_k(x, 0.2 * kv_len)", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), "0000000011");
}

TEST(ReferenceRules, Rule8_SelectionIsMadeForEachValueOfTheOtherAxes) {
  Problem problem = makeProblem(4, 4);
  problem.inputs["x"] = {{2, 4}, {1, 2, 0, 0, 4, 3, 2, 5}};
  EXPECT_THAT(keptBy("pattern p { input x: f32[q / 2, k] keep top_k(x, 1) }", problem),
              ElementsAre("0000", "0100", "0000", "0001"));
}

TEST(ReferenceRules, Rule8_WithoutAKeyAxisDiagonalsAreSelected) {
  Problem problem = makeProblem(3, 3);
  problem.inputs["d"] = {{3}, {5, 1, 5}};
  EXPECT_THAT(keptBy("pattern p { input d: f32[q - k] keep top_k(d, 1) }", problem),
              ElementsAre("100", "010", "001"));
  problem.inputs["r"] = {{3}, {1, 2, 3}};
  EXPECT_THAT(fail("pattern p { input r: f32[q] keep top_k(r, 1) }", problem).message,
              HasSubstr("expected a map along keys"));
}

TEST(ReferenceRules, Rule8_TopPTakesTheSmallestPrefixThatReachesTheMass) {
  // Sum 10: 4 + 3 reach 0.7, 0.75 needs one more.
  EXPECT_EQ(select("top_p(x, 0.7)", {1, 2, 3, 4}), "0011"); // f32(0.7) < 0.7
  EXPECT_EQ(select("top_p(x, 0.75)", {1, 2, 3, 4}), "0111");
  EXPECT_EQ(select("top_p(x, 0.5)", {4, 2, 1, 1}), "1000");
  EXPECT_EQ(select("top_p(x, 0.0)", {1, 2, 3, 4}), "0001");
  EXPECT_EQ(select("top_p(x, 1.0)", {1, nan, 3, 4}), "1011");
  // Negatives count as 0, and at least one cell is taken.
  EXPECT_EQ(select("top_p(x, 1.0)", {-5, 2, -1, 2}), "0101");
  EXPECT_EQ(select("top_p(x, 0.9)", {-5, -2, -3, -2}), "0100");
  EXPECT_EQ(select("top_p(x, 0.9)", {nan, nan}), "00");
}

TEST(ReferenceRules, Rule8_CellsOfTheMapAreCounted) {
  // Two blocks of two keys, not two keys.
  Problem problem = makeProblem(1, 6);
  problem.inputs["x"] = {{3}, {3, 1, 2}};
  EXPECT_THAT(keptBy("pattern p { input x: f32[k / 2] keep top_k(x, 2) }", problem),
              ElementsAre("110011"));
}

} // namespace
