// Rule 9: what depends on scores may differ within their error, and nowhere else.
#include "Run.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

using namespace skim::reference;
using namespace skim::reference::testing;

namespace {

const Options withOpen{.open = true, .kept = {}};

Problem randomProblem(const Shape &shape) {
  Problem problem = makeProblem(shape);
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (Tokens *operand : {&problem.q, &problem.k, &problem.v})
    for (double &x : operand->data)
      x = static_cast<float>(normal(random));
  return problem;
}

/// One query of dimension 1 and value 1 at the last of these keys.
Problem lastRowOver(const std::vector<double> &keys) {
  Problem problem =
      makeProblem(Shape{.dim = 1, .lengths = {{1, static_cast<int64_t>(keys.size())}}});
  problem.q.data = {1};
  problem.k.data = keys;
  return problem;
}

/// The last row of the first head: `0`, `1`, or `?` where it is open.
std::string decisions(const std::string &text, const Problem &problem) {
  Result result = run(text, problem, withOpen);
  std::string row;
  for (int64_t k = 0; k < result.maxKvLen; ++k)
    row += result.isOpen(0, result.tokens - 1, k)   ? '?'
           : result.isKept(0, result.tokens - 1, k) ? '1'
                                                    : '0';
  return row;
}

TEST(Errors, WhatScoresDoNotDecideIsNeverOpen) {
  Problem problem = randomProblem({.queryHeads = 2, .dim = 8, .lengths = {{40, 40}}});
  problem.inputs["x"] = {{40}, std::vector<double>(40, 0.3)};
  problem.inputs["x"].data[7] = std::nextafter(0.3F, 1.0F);
  Result result = run("pattern p { input x: f32[k]\n"
                      "  keep top_k(x * 3.0, 5) or q - k < 4 and x > 0.3 }",
                      problem, withOpen);
  EXPECT_EQ(std::count(result.open.begin(), result.open.end(), 1), 0);
  EXPECT_GT(std::count(result.kept.begin(), result.kept.end(), 1), 0);
}

TEST(Errors, SelectionsAreOpenAtTheirBoundary) {
  Problem problem = lastRowOver({3, 2 + 0x1p-20, 2, 1});
  const std::string scores = "pattern p { let s = dot(Q, K, scale: 1)\n keep ";
  EXPECT_EQ(decisions(scores + "top_k(s, 2) }", problem), "1??0");
  EXPECT_EQ(decisions(scores + "top_k(s, 1) }", problem), "1000");
  EXPECT_EQ(decisions(scores + "top_k(s, 3) }", problem), "1110");
  EXPECT_EQ(decisions(scores + "top_k(s, 9) }", problem), "1111");
  // 3 of 8 is half of three quarters.
  EXPECT_EQ(decisions(scores + "top_p(s, 0.375) }", problem), "1??0");
  EXPECT_EQ(decisions(scores + "top_p(s, 0.3) }", problem), "1000");
  EXPECT_EQ(decisions(scores + "top_p(s, 0.5) }", problem), "1??0");
  EXPECT_EQ(decisions(scores + "top_p(s, 0.75) }", problem), "1110");
  EXPECT_EQ(decisions(scores + "top_p(s, 0.0) }", problem), "1000");
  EXPECT_EQ(decisions(scores + "top_p(s, 1.0) }", problem), "1111");
}

TEST(Errors, EqualNumbersWithoutErrorAreDecidedByPosition) {
  // What relu cuts off is 0 on every target.
  Problem problem = lastRowOver({-1, -2, 5, -3, -4});
  EXPECT_EQ(decisions("pattern p { keep top_k(relu(dot(Q, K, scale: 1)), 3) }", problem), "11100");
  EXPECT_EQ(decisions("pattern p { keep relu(dot(Q, K, scale: 1)) * 0.5 <= 0.0 }", problem),
            "11011");
  EXPECT_EQ(decisions("pattern p { keep top_p(relu(dot(Q, K, scale: 1)), 1.0) }", problem),
            "00100");
}

TEST(Errors, ComparisonsAreOpenWhereIntervalsMeet) {
  Problem problem = lastRowOver({3, 2 + 0x1p-20, 2, 1});
  const std::string scores = "pattern p { let s = dot(Q, K, scale: 1)\n keep ";
  EXPECT_EQ(decisions(scores + "s > 2.0 }", problem), "1??0");
  EXPECT_EQ(decisions(scores + "not (s > 2.0) }", problem), "0??1");
  EXPECT_EQ(decisions(scores + "s > 2.0 or k == 1 }", problem), "11?0");
  EXPECT_EQ(decisions(scores + "s > 2.0 and k == 1 }", problem), "0?00");
  EXPECT_EQ(decisions(scores + "log(s - 2.5) > 0.0 or s == 7.0 }", problem), "0000");
  // A logarithm near 0 may not exist at all.
  EXPECT_EQ(decisions(scores + "not (log(s - 2.0) > 9.0) }", problem), "1??1");
  EXPECT_EQ(decisions(scores + "exp(1000.0 * s) > 1.0 }", problem), "????"); // f32 overflows.
}

TEST(Errors, ASurePairDecidesABlock) {
  Problem problem = lastRowOver({3, 2, 2, 1, 1, 2, 1, 1});
  EXPECT_EQ(decisions("pattern p { keep cover(k / 2, dot(Q, K, scale: 1) > 2.0) }", problem),
            "11????00");
  EXPECT_EQ(decisions("pattern p { keep cover(q / 4, k / 2, dot(Q, K, scale: 1) > 2.0) }", problem),
            "11????00");
}

TEST(Errors, OpenFiltersMakeTheirSumsOpen) {
  Problem problem = lastRowOver({3, 2, 1, 5, 1, 1});
  // Block 0 holds an open cell; blocks 1 and 2 are decided.
  EXPECT_EQ(decisions("pattern p { let s = dot(Q, K, scale: 1)\n"
                      "  keep sum(s where s > 2.0, into: k / 2) > 1.0 }",
                      problem),
            "??1100");
}

TEST(Errors, CastsFlipOnlyBetweenTwoValues) {
  // 17 and 19 lie halfway between values of fp8 (16, 18, 20); their means carry an error.
  Problem problem = lastRowOver({17 - 0x1p-20, 17 + 0x1p-20, 16.5, 16.5, 18, 18});
  const std::string pools = "pattern p { let s = dot(Q, fp8(mean(K, 2)), scale: 1)\n keep s ";
  EXPECT_EQ(decisions(pools + "> 17.0 }", problem), "000011"); // The first mean is 17 exactly.
  problem.k.data[0] = 17 - 0x1p-19;
  problem.k.data[1] = static_cast<float>(17 + 0x1.8p-19);
  EXPECT_EQ(decisions(pools + "> 17.0 }", problem), "??0011");
  EXPECT_EQ(decisions(pools + "< 21.0 }", problem), "111111");
  // int8 of a vector of one component is that component.
  EXPECT_EQ(decisions("pattern p { keep dot(Q, int8(K), scale: 1) > 17.2 }", problem), "000011");
}

/// Ways to decide over the scores s.
const char *const kDecisions[] = {
    "keep top_k(s, 9)",
    "keep top_p(softmax(s, over: k), 0.8)",
    "keep top_p(s, 0.4)",
    "keep s * abs(s) - tanh(s) / 3.0 > 0.1",
    "keep max(s, 0.2) - min(s, 0.1) < 0.35 * exp(s)",
    "keep log(relu(s)) / (s + 4.0) >= 0.05",
    "keep top_k(sum(softmax(s, over: k), over: q), 11)",
    "keep top_k(mean(exp(s), into: q - k, over: heads), 11)",
    "keep var(s, into: (q / 8, k / 4)) > 0.8",
    "keep max(s, into: (q / 4, k / 4), over: group) > 1.9",
    "let m = min(s where k >= 1, into: q / 16)\n keep m >= -0.3 * max(s, into: q / 16)",
    "keep cover(q / 4, k / 4, top_k(s, 2))",
    "keep smooth(s, 5) > 0.3",
    "keep sum(s where s > 1.5, over: k) > 3.0",
    "keep softmax(s, over: q) > 0.05",
    "keep top_k(s, 3.0 + sum(relu(s), over: k))",
    "let t = s - mean(s, over: k)\n keep not (t > 0.4) and t * t > 0.01",
};

struct Changes {
  int64_t pairs = 0, open = 0; ///< All, and those that are open.
  int64_t changed = 0;         ///< Those that a target decides otherwise.
  int64_t outside = 0;         ///< Of these, those that are not open.
};

/// Decides over `scores`, and again after all queries are off by up to `share` of themselves. Then
/// scores are off by that share of the sum of |q_i k_i| at most.
Changes changesOf(const std::string &scores, double share, const std::string &decision) {
  Problem problem =
      randomProblem({.queryHeads = 4, .kvHeads = 2, .dim = 16, .lengths = {{150, 150}, {70, 90}}});
  problem.inputs["w"] = {{4, 16}, std::vector<double>(64)};
  for (int64_t i = 0; i < 64; ++i)
    problem.inputs["w"].data[i] = std::sin(static_cast<double>(i));
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> off(-share, share);
  Problem other = problem;
  for (double &x : other.q.data)
    x *= 1 + off(random);
  std::string text = "pattern p { input w: vec\n let s = ";
  for (const std::string &part : {scores, std::string("\n "), decision, std::string("\n}")})
    text += part;
  Result result = run(text, problem, withOpen), changed = run(text, other);
  Changes changes;
  changes.pairs = result.kept.size();
  for (size_t i = 0; i < result.kept.size(); ++i) {
    bool differs = result.kept[i] != changed.kept[i];
    changes.open += result.open[i];
    changes.changed += differs;
    changes.outside += differs && !result.open[i];
  }
  return changes;
}

TEST(Errors, ATargetWithinTheErrorDecidesOtherwiseOnlyWhereItIsOpen) {
  int64_t changed = 0;
  for (auto [scores, error] :
       {std::pair("dot(Q, K)", 0x1p-16), std::pair("dot(Q, fp8(K))", 0x1p-12),
        std::pair("dot(linear(Q, w), linear(K, w))", 0x1p-16)}) {
    int64_t open = 0, pairs = 0;
    for (const char *decision : kDecisions) {
      Changes changes = changesOf(scores, error, decision);
      EXPECT_EQ(changes.outside, 0) << scores << "\n" << decision;
      EXPECT_LT(changes.open, changes.pairs / 10) << scores << "\n" << decision;
      open += changes.open;
      pairs += changes.pairs;
      changed += changes.changed;
    }
    EXPECT_LT(open, pairs / 50) << scores;
  }
  EXPECT_GT(changed, 20);
}

TEST(Errors, ATargetFarBeyondTheErrorIsFoundOut) {
  for (const char *decision : kDecisions)
    EXPECT_GT(changesOf("dot(Q, K)", 0x1p-3, decision).outside, 0) << decision;
}

TEST(Errors, ATargetsOwnPairsAreAttended) {
  Problem problem = randomProblem({.queryHeads = 2, .dim = 8, .lengths = {{24, 40}, {9, 9}}});
  const std::string clauses = "\n  rest mean(8, q / 8)\n  sink_logit 0.5\n  logit s * 0.5 }";
  Result window = run("pattern p { keep q - k < 9" + clauses, problem);
  // The pattern asks for more; the pairs given decide, for rest entries as well.
  Result given = run("pattern p { keep q - k < 20 and dot(Q, K) > 0.1" + clauses, problem,
                     {.open = false, .kept = window.kept});
  EXPECT_EQ(given.kept, window.kept);
  EXPECT_EQ(given.out, window.out);
  EXPECT_EQ(given.lse, window.lse);
  EXPECT_EQ(given.restEntries, window.restEntries);
  EXPECT_EQ(given.density, window.density);
  window.kept.pop_back();
  auto refused = fail("pattern p { keep true }", problem, {.open = false, .kept = window.kept});
  EXPECT_NE(refused.message.find("kept: expected 2640 pairs but got 2639"), std::string::npos)
      << refused.message;
}

TEST(Errors, GatheredTokensMayBeOpen) {
  Problem problem = lastRowOver({3, 2 + 0x1p-20, 2, 1});
  Result result = run("pattern p { keep true\n"
                      "  compact top_k(sum(dot(Q, K, scale: 1), over: (q, heads)), 2) }",
                      problem, withOpen);
  EXPECT_EQ(result.compacted[0][0], (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(result.openCompacted[0][0], (std::vector<int64_t>{1, 2}));
}

} // namespace
