// Rules 9 to 13 and 17: numbers, attention, rest entries, casts, `skip`, `dense when`.
#include "Run.h"

#include "reference/Casts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace skim::reference;
using namespace skim::reference::testing;
using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Compares every row with attention over the kept keys alone.
void expectAttention(const Result &result, const Problem &problem) {
  for (int64_t head = 0; head < result.heads; ++head) {
    for (int64_t token = 0; token < result.tokens; ++token) {
      Row row = attendKept(result, problem, head, token);
      std::vector<double> out(result.out.begin() + (token * result.heads + head) * result.valueDim,
                              result.out.begin() +
                                  (token * result.heads + head + 1) * result.valueDim);
      EXPECT_THAT(out, Pointwise(DoubleNear(1e-12), row.out)) << head << ", " << token;
      double lse = result.lse[head * result.tokens + token];
      if (std::isinf(row.lse))
        EXPECT_EQ(lse, -infinity);
      else
        EXPECT_NEAR(lse, row.lse, 1e-12);
    }
  }
}

TEST(ReferenceRules, Rule9_NumbersFromInputsAreF32) {
  Problem problem = makeProblem(1, 1);
  problem.inputs["x"] = {{1}, {3}};
  // In f64, 3 * f32(0.1) is not f32(0.3); in f32 the product rounds to it.
  EXPECT_THAT(keptBy("pattern p { input x: f32[k] keep x * 0.1 == 0.3 }", problem),
              ElementsAre("1"));
  // 2^24 + 1 has no f32.
  problem.inputs["x"] = {{1}, {16777216}};
  EXPECT_THAT(keptBy("pattern p { input x: f32[k] keep x + 1.0 == x }", problem), ElementsAre("1"));
  // An index beside f32 is rounded first.
  EXPECT_THAT(keptBy("pattern p { input x: f32[k] keep 16777217 == x }", problem),
              ElementsAre("1"));
}

TEST(ReferenceRules, Rule9_NumbersFromOperandsAreF64) {
  Problem problem = makeProblem(1, 1);
  problem.softmaxScale = 1;
  problem.q.data = {16777216, 1};
  problem.k.data = {1, 1};
  EXPECT_THAT(keptBy("pattern p { keep dot(Q, K) > 16777216.0 }", problem), ElementsAre("1"));
}

TEST(ReferenceRules, Rule10_OneKeyGivesItsValueAndItsScore) {
  Problem problem = makeProblem(1, 3);
  problem.softmaxScale = 0.5;
  problem.q.data = {2, 1};
  problem.k.data = {0, 0, 3, 4, 0, 0};
  problem.v.data = {9, 9, 5, -7, 9, 9};
  Result result = run("pattern p { keep k == 1 }", problem);
  EXPECT_THAT(result.out, ElementsAre(5, -7));
  EXPECT_THAT(result.lse, ElementsAre(5)); // (2 * 3 + 1 * 4) / 2
  EXPECT_THAT(result.density, ElementsAre(DoubleEq(1.0 / 3)));
}

TEST(ReferenceRules, Rule10_SoftmaxOverTheKeptKeys) {
  Problem problem = makeProblem(
      Shape{.queryHeads = 6, .kvHeads = 2, .dim = 5, .valueDim = 3, .lengths = {{9, 9}, {3, 8}}});
  expectAttention(run("pattern p { keep q - k < 3 or k % 4 == 1 }", problem), problem);
}

TEST(ReferenceRules, Rule10_ARowWithoutKeysGivesZeroAndMinusInfinity) {
  Problem problem = makeProblem(2, 2);
  Result result = run("pattern p { keep q == 1  sink_logit 3.0 }", problem);
  EXPECT_EQ(result.out[0], 0);
  EXPECT_EQ(result.out[1], 0);
  EXPECT_EQ(result.lse[0], -infinity);
  EXPECT_TRUE(std::isfinite(result.lse[1]));
}

TEST(ReferenceRules, Rule10_ASinkTakesItsShareOfTheSum) {
  Problem problem = makeProblem(1, 1);
  problem.softmaxScale = 1;
  problem.q.data = {1, 0};
  problem.k.data = {2, 0};
  problem.v.data = {8, 4};
  Result result = run("pattern p { keep true  sink_logit 2.0 }", problem);
  EXPECT_THAT(result.out, ElementsAre(DoubleEq(4), DoubleEq(2)));
  EXPECT_NEAR(result.lse[0], 2 + std::log(2), 1e-15);
  problem.parameters["x"] = {-infinity};
  result = run("pattern p(x: f32) { keep true  sink_logit x }", problem);
  EXPECT_THAT(result.out, ElementsAre(8, 4));
}

TEST(ReferenceRules, Rule10_LogitChangesTheScore) {
  Problem problem = makeProblem(2, 4);
  problem.softmaxScale = 1;
  std::fill(problem.q.data.begin(), problem.q.data.end(), 0);
  problem.v.data = {1, 0, 0, 1, 0, 0, 0, 0};
  // Row q = 3: weights exp(-(3 - k)).
  Result result = run("pattern p { keep true  logit s - 1.0 * (q - k) }", problem);
  double total = 1 + std::exp(-1) + std::exp(-2) + std::exp(-3);
  EXPECT_NEAR(result.out[2], std::exp(-3) / total, 1e-15);
  EXPECT_NEAR(result.out[3], std::exp(-2) / total, 1e-15);
  EXPECT_NEAR(result.lse[1], std::log(total), 1e-15);
}

/// Four keys of dimension 1; rows q = 2 and q = 3 see blocks of two whole where the
/// last row of the tile allows.
Problem restProblem() {
  Problem problem = makeProblem(Shape{.dim = 1, .valueDim = 1, .lengths = {{2, 4}}});
  problem.softmaxScale = 1;
  problem.q.data = {1, 2};
  problem.k.data = {1, 3, 5, 7};
  problem.v.data = {10, 20, 40, 80};
  return problem;
}

TEST(ReferenceRules, Rule11_RestEntersByItsMeanWithItsSize) {
  Result result = run("pattern p { keep k == q  rest mean(2, q / 2) }", restProblem());
  // Block 0 enters for both rows: mean key 2, mean value 15, weight 2. Block 1 is kept in part.
  double own = std::exp(1 * 5), pooled = 2 * std::exp(1 * 2);
  EXPECT_NEAR(result.out[0], (own * 40 + pooled * 15) / (own + pooled), 1e-12);
  EXPECT_NEAR(result.lse[0], std::log(own + pooled), 1e-12);
  own = std::exp(2 * 7), pooled = 2 * std::exp(2 * 2);
  EXPECT_NEAR(result.out[1], (own * 80 + pooled * 15) / (own + pooled), 1e-12);
  EXPECT_THAT(result.restEntries, ElementsAre(2));
}

TEST(ReferenceRules, Rule11_ABlockNeedsEveryRowOfTheTile) {
  // Nothing kept: block 1 is not seen whole by row 2, so it enters for neither row of the tile.
  Result tile = run("pattern p { keep false  rest mean(2, q / 2) }", restProblem());
  EXPECT_NEAR(tile.out[1], 15, 1e-12);
  // With tiles of one row, row 3 has it.
  Result rows = run("pattern p { keep false  rest mean(2, q) }", restProblem());
  EXPECT_NEAR(rows.out[0], 15, 1e-12);
  double first = std::exp(2 * 2), second = std::exp(2 * 6);
  EXPECT_NEAR(rows.out[1], (first * 15 + second * 60) / (first + second), 1e-9);
  // One kept key of any row keeps the block out.
  Result kept = run("pattern p { keep q == 3 and k == 0  rest mean(2, q / 2) }", restProblem());
  EXPECT_EQ(kept.lse[0], -infinity);
  EXPECT_NEAR(kept.out[1], 10, 1e-12);
}

TEST(ReferenceRules, Rule11_ATailBlockIsItsExistingKeys) {
  Problem problem = restProblem();
  // Three rows of blocks of 3: block 1 is key 3 alone, weight 1.
  Result result = run("pattern p { keep false  rest mean(3, q) }", problem);
  double block = 3 * std::exp(2 * 3.0), tail = std::exp(2 * 7.0);
  EXPECT_NEAR(result.out[1], (block * 70 / 3 + tail * 80) / (block + tail), 1e-9);
  EXPECT_NEAR(result.lse[1], std::log(block + tail), 1e-12);
}

TEST(ReferenceRules, Rule11_RestIsDecidedForEachQueryHead) {
  Problem problem = makeProblem(
      Shape{.queryHeads = 2, .kvHeads = 1, .dim = 1, .valueDim = 1, .lengths = {{1, 4}}});
  Result result = run("pattern p { keep k < 2 and head == 0  rest mean(2, q) }", problem);
  EXPECT_THAT(result.restEntries, ElementsAre(1, 2));
}

TEST(ReferenceRules, Rule11_LogitLeavesRestAlone) {
  Result plain = run("pattern p { keep false  rest mean(2, q) }", restProblem());
  Result logit = run("pattern p { keep false  rest mean(2, q)  logit s * 100.0 }", restProblem());
  EXPECT_EQ(plain.out, logit.out);
  EXPECT_EQ(plain.lse, logit.lse);
}

TEST(ReferenceRules, Rule12_Bf16RoundsToNearestEven) {
  EXPECT_EQ(toBf16(1.0), 1.0);
  EXPECT_EQ(toBf16(1 + 0x1p-8), 1.0); // half way, to even
  EXPECT_EQ(toBf16(1 + 0x3p-8), 1 + 0x1p-6);
  EXPECT_EQ(toBf16(1 + 0x1p-8 + 0x1p-30), 1 + 0x1p-7);
  EXPECT_EQ(toBf16(-3.141592653589793), -3.140625);
  EXPECT_EQ(toBf16(0x1p-133), 0x1p-133); // the smallest subnormal
  EXPECT_EQ(toBf16(0x1p-134), 0);
  EXPECT_EQ(toBf16(3.4e38), infinity);
  EXPECT_TRUE(std::isnan(toBf16(NAN)));
}

TEST(ReferenceRules, Rule12_Fp8IsE4m3fnAndSaturates) {
  EXPECT_EQ(toFp8(448), 448);
  EXPECT_EQ(toFp8(1e9), 448);
  EXPECT_EQ(toFp8(-infinity), -448);
  EXPECT_EQ(toFp8(17), 16); // half way between 16 and 18
  EXPECT_EQ(toFp8(19), 20);
  EXPECT_EQ(toFp8(0.3), 0.3125);
  EXPECT_EQ(toFp8(0x1p-9), 0x1p-9); // the smallest subnormal
  EXPECT_EQ(toFp8(0x1p-10), 0);
  EXPECT_EQ(toFp8(0x3p-10), 0x1p-8);
  EXPECT_TRUE(std::isnan(toFp8(NAN)));
}

TEST(ReferenceRules, Rule12_IntegersScaleByTheLargestOfEachVector) {
  std::vector<double> x = {127, -63.5, 0.4, 2.5};
  quantise(x, 127);
  EXPECT_THAT(x, ElementsAre(127, -64, 0, 2)); // half to even
  x = {14, -7, 1, 3};
  quantise(x, 7);
  EXPECT_THAT(x, ElementsAre(14, -8, 0, 4)); // 0.5 and 1.5 and -3.5 steps of 2
  x = {0, 0};
  quantise(x, 7);
  EXPECT_THAT(x, ElementsAre(0, 0));
}

TEST(ReferenceRules, Rule12_CastsEnterTheScore) {
  Problem problem = makeProblem(Shape{.dim = 2, .valueDim = 1, .lengths = {{1, 2}}});
  problem.softmaxScale = 1;
  problem.q.data = {17, 0};
  problem.k.data = {1, 0, 14, 3};
  auto keeps = [&](const std::string &set) {
    return lastRowKeptBy("pattern p { keep " + set + " }", problem);
  };
  EXPECT_EQ(keeps("dot(fp8(Q), K) == 16"), "10");
  EXPECT_EQ(keeps("dot(fp8(Q, scale: 17.0), K) == 17"), "10");
  EXPECT_EQ(keeps("dot(bf16(Q), K) == 17"), "10");
  EXPECT_EQ(keeps("dot(int4(K), int4(K), scale: 1) == 212"), "01"); // 14 and 4
  EXPECT_EQ(keeps("dot(Q, K, scale: 2) == 34"), "10");
}

TEST(ReferenceRules, Rule13_SkipIsIgnored) {
  Problem problem = makeProblem(6, 6);
  Result plain = run("pattern p { keep q - k < 4 }", problem);
  Result skip = run("pattern p { keep q - k < 4  skip 0.01 under max }", problem);
  EXPECT_EQ(plain.out, skip.out);
  EXPECT_EQ(plain.lse, skip.lse);
  EXPECT_EQ(plain.kept, skip.kept);
}

TEST(ReferenceRules, Rule17_DenseIsDecidedForEachRequestAndHead) {
  Problem problem = makeProblem(Shape{.queryHeads = 2, .lengths = {{1, 2}, {1, 4}}});
  Result result = run("pattern p { keep k == 0  dense when kv_len < 3 }", problem);
  EXPECT_THAT(kept(result, problem, 0), ElementsAre("11"));
  EXPECT_THAT(kept(result, problem, 1), ElementsAre("1000"));
  problem.inputs["full"] = {{2, 2}, {0, 1, 1, 0}};
  result = run("pattern p { input full: bool[head] keep k == 0  dense when full }", problem);
  EXPECT_THAT(kept(result, problem, 0, 0), ElementsAre("10"));
  EXPECT_THAT(kept(result, problem, 0, 1), ElementsAre("11"));
  EXPECT_THAT(kept(result, problem, 1, 0), ElementsAre("1111"));
  EXPECT_THAT(kept(result, problem, 1, 1), ElementsAre("1000"));
}

TEST(ReferenceRules, Rule17_DenseHasNoRestAndNoCompact) {
  Problem problem = makeProblem(2, 6);
  const char *text = "pattern p(limit: index) { keep k == 0  rest mean(2, q / 2)  compact k < 2"
                     "                          dense when kv_len <= limit }";
  problem.parameters["limit"] = {5};
  Result sparse = run(text, problem);
  EXPECT_GT(sparse.restEntries[0], 0);
  EXPECT_THAT(sparse.compacted[0][0], ElementsAre(0, 1));
  problem.parameters["limit"] = {6};
  Result dense = run(text, problem);
  EXPECT_EQ(dense.restEntries[0], 0);
  EXPECT_THAT(dense.compacted[0][0], ElementsAre(0, 1, 2, 3, 4, 5));
  expectAttention(dense, problem);
}

TEST(ReferenceRules, Rule17_ACalledPatternIsDenseByItself) {
  const char *text = "pattern part { keep k == 0  dense when kv_len < 5 }"
                     "pattern p { keep part() and q - k < 2 }";
  EXPECT_THAT(keptBy(text, makeProblem(2, 4)), ElementsAre("0110", "0011"));
}

} // namespace
