// Kinds of faults that sparse attention is known for, at the level of meaning: what
// every target is then compared with.
#include "Run.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace skim::reference;
using namespace skim::reference::testing;
using ::testing::ElementsAre;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(ReferenceFaults, K1_RowsWithoutKeys) {
  Problem problem = makeProblem(
      Shape{.queryHeads = 2, .kvHeads = 1, .dim = 8, .valueDim = 8, .lengths = {{256, 256}}});
  problem.inputs["layout"] = {{4, 4}, {0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1}};
  Result result = run("pattern p { input layout: bool[q / 64, k / 64] keep layout }", problem);
  for (int64_t token = 0; token < 256; ++token) {
    for (int64_t head = 0; head < 2; ++head) {
      Row row = attendKept(result, problem, head, token);
      EXPECT_EQ(std::isinf(row.lse), token < 64);
      double lse = result.lse[head * 256 + token];
      if (token < 64)
        EXPECT_EQ(lse, -infinity);
      else
        EXPECT_NEAR(lse, row.lse, 1e-12);
      for (int64_t i = 0; i < 8; ++i)
        EXPECT_NEAR(result.out[(token * 2 + head) * 8 + i], row.out[i], token < 64 ? 0 : 1e-12);
    }
  }
  Result early = run("pattern p { keep true }", makeProblem(130, 2));
  for (int64_t token = 0; token < 130; ++token)
    EXPECT_EQ(std::isinf(early.lse[token]), token < 128) << token;
}

TEST(ReferenceFaults, K2_LengthsOfNoMultiple) {
  for (int64_t length : {1, 7, 63, 64, 65, 127, 129, 300}) {
    Problem problem = makeProblem(length, length);
    // More cells than there are: all of them, which is dense.
    problem.inputs["x"] = {{(length + 63) / 64}, std::vector<double>((length + 63) / 64, 1.0)};
    Result result = run("pattern p { input x: f32[k / 64] keep top_k(x, 1000) }", problem);
    EXPECT_THAT(result.density, ElementsAre(1.0)) << length;
    Row last = attendKept(result, problem, 0, length - 1);
    EXPECT_NEAR(result.lse[length - 1], last.lse, 1e-12);
  }
}

TEST(ReferenceFaults, K3_QueryLengthsUnlikeKeyLengths) {
  EXPECT_THAT(keptBy("pattern p { keep true }", makeProblem(2, 5)), ElementsAre("11110", "11111"));
  EXPECT_THAT(keptBy("pattern p { keep true }", makeProblem(5, 2)),
              ElementsAre("00", "00", "00", "10", "11"));
  EXPECT_THAT(keptBy("pattern p { keep q - k < 2 }", makeProblem(2, 5)),
              ElementsAre("00110", "00011"));
}

TEST(ReferenceFaults, K4_EmptyRequests) {
  Problem problem = makeProblem(Shape{.lengths = {{150, 100}, {0, 0}, {150, 300}, {3, 0}, {0, 9}}});
  Result result = run("pattern p { keep q - k < 16  rest mean(16, q / 16) }", problem);
  ASSERT_EQ(result.tokens, 303);
  for (int64_t token = 300; token < 303; ++token) {
    EXPECT_EQ(result.lse[token], -infinity);
    EXPECT_EQ(result.out[token * 2], 0);
  }
  EXPECT_TRUE(std::isfinite(result.lse[299]));
  Result nothing = run("pattern p { keep true }", makeProblem(Shape{.lengths = {{0, 0}, {0, 0}}}));
  EXPECT_TRUE(nothing.out.empty());
  Result none = run("pattern p { keep true }", makeProblem(Shape{}));
  EXPECT_TRUE(none.lse.empty());
}

TEST(ReferenceFaults, K4_EmptyRequestsThatSelect) {
  Problem problem = makeProblem(Shape{.lengths = {{0, 0}, {2, 0}, {0, 3}, {2, 2}}});
  problem.inputs["x"] = {{4, 3}, std::vector<double>(12, 1.0)};
  Result result = run("pattern p { input x: f32[q - k]"
                      "  let p = softmax(dot(last(Q, 2), K), over: k)"
                      "  keep top_k(x, 1) or cover(q / 2, k / 2, top_k(sum(p, into: q - k), 1))"
                      "    or top_k(smooth(sum(p, over: q), 3), 1) or dot(Q, mean(K, 2)) > 100 }",
                      problem);
  EXPECT_THAT(kept(result, problem, 3), ElementsAre("10", "11"));
}

TEST(ReferenceFaults, K8_ContentsOfLists) {
  Problem problem = makeProblem(1, 7);
  problem.inputs["x"] = {{5}, {3, 0, 3, -1, 7}};
  problem.inputs["x_counts"] = {{}, {3}};
  Result sorted = run("pattern p { input x: list[k] keep x }", problem);
  EXPECT_THAT(kept(sorted, problem), ElementsAre("1001000"));
  EXPECT_FALSE(sorted.indexOutOfRange); // The last two lie past the count.
  problem.inputs["x"].data = {0, 3, 3, -1, 7};
  Result permuted = run("pattern p { input x: list[k] keep x }", problem);
  EXPECT_EQ(sorted.out, permuted.out);
  EXPECT_EQ(sorted.lse, permuted.lse);
  problem.inputs.erase("x_counts");
  EXPECT_TRUE(run("pattern p { input x: list[k] keep x }", problem).indexOutOfRange);
}

TEST(ReferenceFaults, K10_HeadsOfAGroupWithMasksOfTheirOwn) {
  for (auto [queryHeads, kvHeads, dim, valueDim] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t>{7, 1, 64, 64},
        {28, 4, 80, 80},
        {24, 4, 96, 96},
        {5, 5, 128, 128},
        {12, 12, 256, 64},
        {8, 1, 192, 128}}) {
    Problem problem = makeProblem(Shape{queryHeads, kvHeads, dim, valueDim, {{6, 6}}});
    Result result = run("pattern p { keep k % (head + 1) == 0 }", problem);
    for (int64_t head = 0; head < queryHeads; ++head) {
      Row row = attendKept(result, problem, head, 5);
      EXPECT_TRUE(result.isKept(head, 5, 0));
      EXPECT_EQ(result.isKept(head, 5, 1), head == 0);
      EXPECT_NEAR(result.lse[head * 6 + 5], row.lse, 1e-12);
      EXPECT_NEAR(result.out[(5 * queryHeads + head) * valueDim], row.out[0], 1e-12);
    }
  }
}

TEST(ReferenceFaults, K12_PartsMergeByTheirLse) {
  Problem problem = makeProblem(4, 9);
  Result left = run("pattern p { keep k < 4 }", problem);
  Result none = run("pattern p { keep false }", problem);
  Result right = run("pattern p { keep k >= 4 }", problem);
  Result whole = run("pattern p { keep true }", problem);
  for (int64_t token = 0; token < 4; ++token) {
    double a = std::exp(left.lse[token]), b = std::exp(right.lse[token]);
    EXPECT_EQ(std::exp(none.lse[token]), 0);
    EXPECT_NEAR(std::log(a + b), whole.lse[token], 1e-12);
    for (int64_t i = 0; i < 2; ++i)
      EXPECT_NEAR((a * left.out[token * 2 + i] + b * right.out[token * 2 + i]) / (a + b),
                  whole.out[token * 2 + i], 1e-12);
  }
}

TEST(ReferenceFaults, K12_LseOfExtremeScores) {
  Problem problem = makeProblem(1, 2);
  problem.softmaxScale = 1;
  problem.k.data = {1, 0, 0, 0};
  for (double score : {88.9, -1e4, 1e4}) {
    problem.q.data = {score, 0};
    EXPECT_EQ(run("pattern p { keep k == 0 }", problem).lse[0], score);
    Result both = run("pattern p { keep true }", problem);
    EXPECT_NEAR(both.lse[0], std::max(score, 0.0), 1e-12);
    EXPECT_TRUE(std::isfinite(both.out[0]));
  }
}

} // namespace
