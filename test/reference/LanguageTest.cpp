// The functions and forms of the language, one small case each.
#include "Run.h"

#include "frontends/text/Limits.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "llvm/Support/VirtualFileSystem.h"

#include <cmath>

using namespace skim::reference;
using namespace skim::reference::testing;
using ::testing::ElementsAre;

namespace {

/// What one row keeps of a map `x` over `k`.
std::string keeps(const std::string &set, std::vector<double> x) {
  Problem problem = makeProblem(1, x.size());
  problem.inputs["x"] = {{static_cast<int64_t>(x.size())}, std::move(x)};
  return lastRowKeptBy("pattern p { input x: f32[k] keep " + set + " }", problem);
}

TEST(ReferenceLanguage, ElementwiseFunctions) {
  EXPECT_EQ(keeps("abs(x) == 2", {-2, 2, 1}), "110");
  EXPECT_EQ(keeps("relu(x) == 0", {-2, 2, 0}), "101");
  EXPECT_EQ(keeps("exp(x) > 2.71 and exp(x) < 2.72", {0, 1, 2}), "010");
  EXPECT_EQ(keeps("log(x) == 0", {-1, 0, 1}), "001");
  EXPECT_EQ(keeps("log(x) < -1000", {-1, 0, 1}), "010"); // -inf is defined
  EXPECT_EQ(keeps("tanh(x) > 0.76 and tanh(x) < 0.77", {0, 1, 2}), "010");
  EXPECT_EQ(keeps("min(x, 1) == 1", {0, 1, 2}), "011");
  EXPECT_EQ(keeps("max(x, 1, 1.5) == 1.5", {0, 1, 2}), "110");
  EXPECT_EQ(keeps("-x * 2 + 1 == -3", {0, 1, 2}), "001");
  EXPECT_EQ(keeps("x / 2 == 0.5", {0, 1, 2}), "010");
  EXPECT_EQ(keeps("x / 0 > 0", {-1, 0, 1}), "001");
}

TEST(ReferenceLanguage, IndexArithmeticFloors) {
  Problem problem = makeProblem(1, 4);
  problem.inputs["n"] = {{4}, {-5, -1, 0, 7}};
  auto indexKeeps = [&](const std::string &set) {
    return lastRowKeptBy("pattern p { input n: index[k] keep " + set + " }", problem);
  };
  EXPECT_EQ(indexKeeps("n / 2 == -3"), "1000");
  EXPECT_EQ(indexKeeps("n / 2 == -1"), "0100");
  EXPECT_EQ(indexKeeps("n % 3 == 1"), "1001");
  EXPECT_EQ(indexKeeps("n % 3 == 2"), "0100");
  EXPECT_EQ(indexKeeps("n - k * 2 == 1"), "0001");
  EXPECT_EQ(indexKeeps("n * 0.5 == 3.5"), "0001");
}

TEST(ReferenceLanguage, Reductions) {
  EXPECT_EQ(keeps("x == max(x, over: k)", {1, 3, 2, 3}), "0101");
  EXPECT_EQ(keeps("x == min(x, over: k)", {1, 3, 2, 1}), "1001");
  EXPECT_EQ(keeps("x > mean(x, over: k)", {1, 3, 2, 2}), "0100");
  EXPECT_EQ(keeps("sum(x, into: k / 2) == 4", {1, 3, 2, 3, 4}), "11001");
  EXPECT_EQ(keeps("mean(x, 2) == 2", {1, 3, 2, 3}), "1100");
  EXPECT_EQ(keeps("var(x, into: k / 4) == 1.25", {1, 2, 3, 4, 9}), "11110");
  EXPECT_EQ(keeps("var(x, into: k / 4) == 0", {1, 2, 3, 4, 9}), "00001");
}

TEST(ReferenceLanguage, ReductionsActTogether) {
  Problem problem = makeProblem(Shape{.queryHeads = 2, .lengths = {{2, 2}}});
  problem.inputs["x"] = {{2, 2, 2}, {1, 7, 2, 3, 10, 7, 20, 30}};
  // The mean of five... of all visible cells at once: (1 + 2 + 3 + 10 + 20 + 30) / 6.
  EXPECT_THAT(
      keptBy("pattern p { input x: f32[head, q, k] keep mean(x, over: (q, k, heads)) == 11 }",
             problem),
      ElementsAre("10", "11"));
  EXPECT_THAT(
      keptBy("pattern p { input x: f32[head, q, k] keep max(x, into: k / 2, over: group) == 10 }",
             problem),
      ElementsAre("10", "00"));
}

TEST(ReferenceLanguage, SoftmaxIsTakenOverDefinedCells) {
  EXPECT_EQ(keeps("softmax(x, over: k) > 0.3333 and softmax(x, over: k) < 0.3334", {5, 5, NAN, 5}),
            "1101");
  Problem problem = makeProblem(2, 2);
  problem.inputs["x"] = {{2}, {0, 0}};
  EXPECT_THAT(keptBy("pattern p { input x: f32[q] keep softmax(x, over: q) == 0.5 }", problem),
              ElementsAre("10", "11"));
}

TEST(ReferenceLanguage, SmoothIsACentredMeanOfDefinedCells) {
  EXPECT_EQ(keeps("smooth(x, 3) == 2", {1, 3, 2, 1, 5}), "11100");
  EXPECT_EQ(keeps("smooth(x, 1) == x", {1, 3, 2, 1, 3}), "11111");
  EXPECT_EQ(keeps("smooth(x, 99) == 2", {1, 3, 2, NAN, 2}), "11101");
}

TEST(ReferenceLanguage, WhereLeavesTheRestUndefined) {
  EXPECT_EQ(keeps("top_k(x where k >= 1, 1)", {9, 3, 2, 3}), "0100");
  EXPECT_EQ(keeps("not ((x where k >= 1) >= 0)", {9, 3, 2, 3}), "1000");
  EXPECT_EQ(keeps("top_k(sum(x, into: k / 2) where k / 2 >= 1, 1)", {9, 3, 2, 3}), "0011");
}

TEST(ReferenceLanguage, LastTakesTheLastRows) {
  Problem problem = makeProblem(4, 4);
  EXPECT_THAT(keptBy("pattern p { keep dot(last(Q, 2), K) > -1000 }", problem),
              ElementsAre("0000", "0000", "1110", "1111"));
  EXPECT_THAT(keptBy("pattern p { keep dot(last(Q, 0), K) > -1000 }", problem),
              ElementsAre("0000", "0000", "0000", "0000"));
  // Key 3 is seen by one of the two rows, the others by both.
  EXPECT_THAT(
      keptBy("pattern p { keep sum(dot(last(Q, 9), K, scale: 0) + 1, over: q) >= 3 }", problem),
      ElementsAre("1000", "1100", "1100", "1100"));
}

TEST(ReferenceLanguage, LinearAppliesAWeight) {
  Problem problem = makeProblem(1, 2);
  problem.q.data = {1, 2};
  problem.k.data = {1, 0, 0, 1};
  // W Q = (1 + 4, 3 + 8); dot with W K: columns (1, 3) and (2, 4).
  problem.inputs["w"] = {{2, 2}, {1, 2, 3, 4}};
  EXPECT_EQ(lastRowKeptBy(
                "pattern p { input w: vec keep dot(linear(Q, w), linear(K, w), scale: 1) == 38 }",
                problem),
            "10");
}

TEST(ReferenceLanguage, VectorInputsAndArithmetic) {
  Problem problem = makeProblem(1, 4);
  problem.q.data = {1, 2};
  problem.inputs["c"] = {{2, 2}, {3, 0, 0, 3}};
  EXPECT_EQ(
      lastRowKeptBy("pattern p { input c: vec[k / 2] keep dot(Q, c, scale: 1) == 6 }", problem),
      "0011");
  problem.k.data = {1, 1, 3, 1, 2, 0, 4, 0};
  EXPECT_EQ(
      lastRowKeptBy("pattern p { keep dot(Q * 2, K - mean(K, over: k), scale: 1) == 3 }", problem),
      "0100"); // Mean (2.5, 0.5): 2 * (0.5 + 2 * 0.5).
}

TEST(ReferenceLanguage, CoverRoundsUpVisiblePairs) {
  Problem problem = makeProblem(4, 4);
  EXPECT_THAT(keptBy("pattern p { keep cover(q / 2, k / 2, q == 3 and k == 0) }", problem),
              ElementsAre("0000", "0000", "1100", "1100"));
  EXPECT_THAT(keptBy("pattern p { keep cover(k / 2, q == 3 and k == 0) }", problem),
              ElementsAre("0000", "0000", "0000", "1100"));
  // Future pairs do not count unless they can be attended.
  EXPECT_THAT(keptBy("pattern p { keep cover(q / 2, k / 2, q - k < 0) }", problem),
              ElementsAre("0000", "0000", "0000", "0000"));
  EXPECT_THAT(keptBy("pattern p { keep cover(q / 2, k / 2, q - k < 0) noncausal }", problem),
              ElementsAre("1111", "1111", "0011", "0011"));
  // A key that a row does not see does not bring its block in.
  EXPECT_THAT(keptBy("pattern p { keep cover(k / 4, k == 2) }", problem),
              ElementsAre("0000", "0000", "1110", "1111"));
}

TEST(ReferenceLanguage, UniformNames) {
  Problem problem = makeProblem(Shape{.queryHeads = 4, .kvHeads = 2, .lengths = {{1, 5}}});
  problem.layer = 3;
  Result result =
      run("pattern p { keep k == head or k == layer and kv_head == 1 or k == kv_len - q_len }",
          problem);
  EXPECT_THAT(kept(result, problem, 0, 0), ElementsAre("10001"));
  EXPECT_THAT(kept(result, problem, 0, 2), ElementsAre("00111"));
}

TEST(ReferenceLanguage, ParametersHaveDefaultsAndMayBePerHead) {
  Problem problem = makeProblem(Shape{.queryHeads = 2, .lengths = {{1, 6}}});
  const char *text =
      "pattern p(a: index = 1, b: index[head] = 2, constexpr c: index = 4, on: bool = true) {"
      "  keep (k < a or k >= kv_len - b or k % c == 3) and on }";
  Result result = run(text, problem);
  EXPECT_THAT(kept(result, problem, 0, 1), ElementsAre("100111"));
  problem.parameters = {{"a", {2}}, {"b", {0, 1}}, {"c", {5}}};
  result = run(text, problem);
  EXPECT_THAT(kept(result, problem, 0, 0), ElementsAre("110100"));
  EXPECT_THAT(kept(result, problem, 0, 1), ElementsAre("110101"));
  problem.parameters["on"] = {0};
  EXPECT_THAT(kept(run(text, problem), problem), ElementsAre("000000"));
}

TEST(ReferenceLanguage, PatternsCallPatterns) {
  const char *text =
      "pattern inner(n: index, m: index = 1) { let edge = k < n keep edge or q - k < m }"
      "pattern outer(n: index = 9) { let m = 2 keep inner(1) or inner(m: m, n: 0) and k != 2 }";
  EXPECT_THAT(keptBy(text, makeProblem(4, 4)), ElementsAre("1000", "1100", "1110", "1001"));
}

TEST(ReferenceLanguage, CallsNestAsDeepAsTheCheckerAdmits) {
  std::string source = "pattern p1 { keep k < 2 }\n";
  for (unsigned i = 2; i != skim::text::maxNesting; ++i)
    source += "pattern p" + std::to_string(i) + " { keep p" + std::to_string(i - 1) + "() }\n";
  EXPECT_EQ(lastRowKeptBy(source, makeProblem(4, 4)), "1100");
}

TEST(ReferenceLanguage, CompactGathersTokens) {
  Problem problem = makeProblem(Shape{.queryHeads = 2, .kvHeads = 1, .lengths = {{1, 4}, {1, 3}}});
  problem.inputs["x"] = {{2, 4}, {1, 4, 2, 3, 9, 1, 8, 7}};
  Result result = run("pattern p { input x: f32[k] keep true compact top_k(x, 2) }", problem);
  EXPECT_THAT(result.compacted[0][0], ElementsAre(1, 3));
  EXPECT_THAT(result.compacted[1][1], ElementsAre(0, 2));
}

TEST(ReferenceLanguage, CompactGathersNothingWithoutRows) {
  Problem problem = makeProblem(Shape{.lengths = {{0, 4}, {2, 3}}});
  Result result = run("pattern p { keep true compact k < 2 }", problem);
  EXPECT_THAT(result.compacted[0][0], ElementsAre());
  EXPECT_THAT(result.compacted[1][0], ElementsAre(0, 1));
}

TEST(ReferenceLanguage, DiagonalInputs) {
  Problem problem = makeProblem(2, 4);
  problem.inputs["d"] = {{4}, {1, 0, 0, 1}};
  EXPECT_THAT(keptBy("pattern p { input d: bool[q - k] keep d }", problem),
              ElementsAre("0010", "1001"));
}

TEST(ReferenceLanguage, ImportsBringPatterns) {
  llvm::vfs::InMemoryFileSystem files;
  files.addFile("/part.skim", 0,
                llvm::MemoryBuffer::getMemBuffer("pattern part(n: index) { keep k < n }"));
  skim::text::Diagnostics diagnostics;
  skim::text::Program program =
      skim::text::loadBuffer(llvm::MemoryBuffer::getMemBuffer(
                                 "import \"part.skim\"\npattern p { keep part(2) }", "/p.skim"),
                             diagnostics, files);
  const skim::text::Pattern *pattern = skim::text::findEntry(program, "p", diagnostics);
  ASSERT_FALSE(diagnostics.hasErrors());
  Problem problem = makeProblem(1, 4);
  auto outcome = interpret(program, *pattern, problem);
  ASSERT_TRUE(std::holds_alternative<Result>(outcome));
  EXPECT_THAT(kept(std::get<Result>(outcome), problem), ElementsAre("1100"));
}

} // namespace
