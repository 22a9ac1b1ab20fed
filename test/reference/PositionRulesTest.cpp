// Rules 1 to 5: where rows sit, what they see, which cells exist, what `not` means,
// and maps that have no query axis.
#include "Run.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace skim::reference;
using namespace skim::reference::testing;
using ::testing::ElementsAre;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(ReferenceRules, Rule1_PositionsAreBottomRight) {
  EXPECT_THAT(keptBy("pattern p { keep true }", makeProblem(2, 5)), ElementsAre("11110", "11111"));
  // Row 0 of three sits at q = 4 - 3 = 1.
  EXPECT_THAT(keptBy("pattern p { keep q == 1 }", makeProblem(3, 4)),
              ElementsAre("1100", "0000", "0000"));
}

TEST(ReferenceRules, Rule1_RowsBeforePositionZeroSeeNothing) {
  EXPECT_THAT(keptBy("pattern p { keep true }", makeProblem(5, 2)),
              ElementsAre("00", "00", "00", "10", "11"));
  // Without causality they see every key, and their positions are negative.
  EXPECT_THAT(keptBy("pattern p { keep q < 0 - 1 or k == 1  noncausal }", makeProblem(5, 2)),
              ElementsAre("11", "11", "01", "01", "01"));
}

TEST(ReferenceRules, Rule1_RemaindersAndQuotientsOfNegativePositionsFloor) {
  // Rows -3 -2 -1 0 1: q / 2 is -2 -1 -1 0 0, q % 2 is 1 0 1 0 1.
  EXPECT_THAT(keptBy("pattern p { keep q / 2 == 0 - 1  noncausal }", makeProblem(5, 2)),
              ElementsAre("00", "11", "11", "00", "00"));
  EXPECT_THAT(keptBy("pattern p { keep q % 2 == 1  noncausal }", makeProblem(5, 2)),
              ElementsAre("11", "00", "11", "00", "11"));
}

TEST(ReferenceRules, Rule2_VisibleIsCausalAndWithinTheLength) {
  EXPECT_THAT(keptBy("pattern p { keep k >= q }", makeProblem(3, 3)),
              ElementsAre("100", "010", "001"));
  EXPECT_THAT(keptBy("pattern p { keep k >= q  noncausal }", makeProblem(3, 3)),
              ElementsAre("111", "011", "001"));
}

TEST(ReferenceRules, Rule2_AScoreCellNeedsEveryRowToSeeEveryKey) {
  // Cells (q / 2, k / 2): a diagonal block is not seen whole by its first row.
  const char *text = "pattern p { keep dot(mean(Q, into: q / 2), mean(K, 2)) > 0 - 1000 }";
  EXPECT_THAT(keptBy(text, makeProblem(4, 4)), ElementsAre("0000", "0000", "1100", "1100"));
  // (q, k / 2): row 1 sees block 0 whole, row 2 does not see key 3.
  const char *pooled = "pattern p { keep dot(Q, mean(K, 2)) > 0 - 1000 }";
  EXPECT_THAT(keptBy(pooled, makeProblem(4, 4)), ElementsAre("0000", "1100", "1100", "1111"));
}

TEST(ReferenceRules, Rule2_VisibleAnyNeedsSomeRowToSeeTheFirstKey) {
  const char *text =
      "pattern p { keep dot(mean(Q, into: q / 2), mean(K, 2), visible: any) > 0 - 1000 }";
  EXPECT_THAT(keptBy(text, makeProblem(4, 4)), ElementsAre("1000", "1100", "1110", "1111"));
}

TEST(ReferenceRules, Rule2_ATailBlockIsItsExistingKeys) {
  // The mean of the tail block is key 4 alone, and rows that see it see the block.
  Problem problem = makeProblem(5, 5);
  std::fill(problem.q.data.begin(), problem.q.data.end(), 1.0);
  problem.k.data = {1, 1, 1, 1, 1, 1, 1, 1, 3, 3};
  problem.softmaxScale = 1;
  EXPECT_THAT(keptBy("pattern p { keep dot(Q, mean(K, 4)) == 6 }", problem),
              ElementsAre("00000", "00000", "00000", "00000", "00001"));
}

TEST(ReferenceRules, Rule2_AReducedCellExistsWhenAContributionDoes) {
  // Row sums exist from the first visible key on; block (0, 1) has no visible pair.
  const char *text =
      "pattern p { let s = sum(dot(Q, K), into: (q / 2, k / 2)) keep s >= 0 or s < 0 noncausal }";
  EXPECT_THAT(keptBy(text, makeProblem(4, 4)), ElementsAre("1111", "1111", "1111", "1111"));
  const char *causal = "pattern p { let s = sum(dot(Q, K), into: (q / 2, k / 2))"
                       "            keep not (s >= 0 or s < 0) or k == 0 }";
  EXPECT_THAT(keptBy(causal, makeProblem(4, 4)), ElementsAre("1000", "1000", "1000", "1000"));
}

TEST(ReferenceRules, Rule2_AnInputCellExistsWhenSomePairIsVisible) {
  Problem problem = makeProblem(4, 4);
  problem.inputs["x"] = {{2, 2}, {1, 9, 1, 1}};
  // Block (0, 1) lies in the future: its 9 neither counts nor is selected.
  EXPECT_THAT(keptBy("pattern p { input x: f32[q / 2, k / 2] keep top_k(x, 1) }", problem),
              ElementsAre("1000", "1100", "1100", "1100"));
  EXPECT_THAT(
      keptBy("pattern p { input x: f32[q / 2, k / 2] keep top_k(x, 1) noncausal }", problem),
      ElementsAre("0011", "0011", "1100", "1100"));
}

TEST(ReferenceRules, Rule3_ArithmeticNeedsAllOperandsDefined) {
  Problem problem = makeProblem(3, 3);
  problem.inputs["x"] = {{3}, {1, nan, 1}};
  problem.inputs["y"] = {{3}, {1, 1, nan}};
  const char *inputs = "pattern p { input x: f32[k] input y: f32[k] ";
  EXPECT_THAT(keptBy(std::string(inputs) + "keep x + y > 0 noncausal }", problem),
              ElementsAre("100", "100", "100"));
  EXPECT_THAT(keptBy(std::string(inputs) + "keep max(x, y) > 0 noncausal }", problem),
              ElementsAre("100", "100", "100"));
}

TEST(ReferenceRules, Rule3_ComparingAndSelectingTheUndefinedIsFalse) {
  Problem problem = makeProblem(1, 4);
  problem.inputs["x"] = {{4}, {nan, 2, nan, 1}};
  auto keeps = [&](const std::string &set) {
    return lastRowKeptBy("pattern p { input x: f32[k] keep " + set + " }", problem);
  };
  EXPECT_EQ(keeps("x < 5"), "0101");
  EXPECT_EQ(keeps("x >= 0"), "0101");
  EXPECT_EQ(keeps("x == x"), "0101");
  EXPECT_EQ(keeps("x != 2"), "0001");
  EXPECT_EQ(keeps("not (x != 2)"), "1110");
  EXPECT_EQ(keeps("top_k(x, 4)"), "0101");
  EXPECT_EQ(keeps("top_p(x, 1.0)"), "0101");
}

TEST(ReferenceRules, Rule3_AReductionOverNothingIsUndefined) {
  Problem problem = makeProblem(1, 4);
  problem.inputs["x"] = {{4}, {nan, nan, 2, nan}};
  auto keeps = [&](const std::string &set) {
    return lastRowKeptBy("pattern p { input x: f32[k] keep " + set + " }", problem);
  };
  // Never 0 or -inf: neither comparison holds of block 0.
  EXPECT_EQ(keeps("sum(x, into: k / 2) >= 0 or sum(x, into: k / 2) < 0"), "0011");
  EXPECT_EQ(keeps("max(x, into: k / 2) < 100"), "0011");
  // Undefined cells do not count: the mean of block 1 is 2.
  EXPECT_EQ(keeps("mean(x, into: k / 2) == 2"), "0011");
  EXPECT_EQ(keeps("(x where k < 2) == 2"), "0000");
  EXPECT_EQ(keeps("max(x where k < 2, over: k) < 100"), "0000");
}

TEST(ReferenceRules, Rule4_NotIsTheComplementOverAllPairs) {
  EXPECT_THAT(keptBy("pattern p { keep not (k < 1 or q - k < 1) }", makeProblem(4, 4)),
              ElementsAre("0000", "0000", "0100", "0110"));
  // The complement holds of future pairs, and a cover of it sees them only without causality.
  EXPECT_THAT(keptBy("pattern p { keep not not (q - k < 2) }", makeProblem(3, 3)),
              ElementsAre("100", "110", "011"));
  EXPECT_THAT(keptBy("pattern p { keep not (q >= k) noncausal }", makeProblem(3, 3)),
              ElementsAre("011", "001", "000"));
}

TEST(ReferenceRules, Rule4_NotOfAnUndefinedCellHolds) {
  Problem problem = makeProblem(1, 2);
  problem.inputs["x"] = {{2}, {nan, 1}};
  EXPECT_THAT(keptBy("pattern p { input x: f32[k] keep not (x > 0) }", problem), ElementsAre("10"));
}

TEST(ReferenceRules, Rule5_MapsWithoutAQueryAxisAreDecidedOnce) {
  // Column 2 wins over all valid cells; row 0 and 1 do not get another in its place.
  Problem problem = makeProblem(3, 3);
  problem.inputs["x"] = {{3}, {1, 2, 3}};
  EXPECT_THAT(keptBy("pattern p { input x: f32[k] keep top_k(x, 1) }", problem),
              ElementsAre("000", "000", "001"));
  // Diagonals likewise: distance 2 wins, though only the last row has it.
  problem.inputs["d"] = {{3}, {1, 2, 3}};
  EXPECT_THAT(keptBy("pattern p { input d: f32[q - k] keep top_k(d, 1) }", problem),
              ElementsAre("000", "000", "100"));
}

TEST(ReferenceRules, Rule5_ColumnsOfScoresAreDecidedOverAllRows) {
  Problem problem = makeProblem(3, 3);
  problem.softmaxScale = 1;
  problem.q.data = {1, 0, 1, 0, 1, 0};
  problem.k.data = {1, 0, 2, 0, 4, 0};
  // Sums over the rows that see the key: 3 * 1, 2 * 2, 1 * 4; the tie goes to key 1.
  EXPECT_THAT(keptBy("pattern p { keep top_k(sum(dot(Q, K), over: q), 1) }", problem),
              ElementsAre("000", "010", "010"));
  // Diagonal sums: distance 0 has 1 + 2 + 4, distance 1 has 1 + 2, distance 2 has 1.
  EXPECT_THAT(keptBy("pattern p { keep sum(dot(Q, K), into: q - k) == 3 }", problem),
              ElementsAre("000", "100", "010"));
}

} // namespace
