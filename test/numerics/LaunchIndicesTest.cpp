// What a launch checks of parameters, on the CPU and the reference: index parameters at the ends of
// their range, shares and thresholds.
#include "test/numerics/Cases.h"
#include "test/numerics/CpuRun.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <sstream>

using namespace skim;
using namespace skim::numerics;

namespace {

constexpr int64_t kLargest = int64_t(1) << 31;

Case caseOf(const std::string &keep, int64_t w, int64_t u) {
  Case c =
      makeCase("pattern p(w: index, u: index) { keep " + keep + " }", {{150, 150}}, {.dim = 32});
  c.problem.parameters = {{"w", {double(w)}}, {"u", {double(u)}}};
  return c;
}

/// One kernel for all values: another one compiles nothing.
class LaunchIndices : public testing::Test {
protected:
  /// Pairs that the first head keeps, after the two devices agreed.
  int64_t countKept(const std::string &keep, int64_t w, int64_t u) {
    Case c = caseOf(keep, w, u);
    auto known = kernels.find(keep);
    if (known == kernels.end())
      known = kernels.emplace(keep, compileCase(c)).first;
    const Expected<Kernel> &kernel = known->second;
    ReferenceRun reference = runOnReference(c);
    if (!kernel || !reference.ok) {
      ADD_FAILURE() << kernel.status().message() << reference.message;
      return -1;
    }
    RunResult result = runOnCpu(*kernel, c, {});
    EXPECT_EQ(compare(c, reference.result, result), "") << keep << " w = " << w << " u = " << u;
    return std::count(result.kept.begin(), result.kept.end(), 1);
  }

private:
  std::map<std::string, Expected<Kernel>> kernels;
};

constexpr int64_t kAll = 150 * 151 / 2;

TEST_F(LaunchIndices, BothEndsOfTheRangeAreExact) {
  for (int64_t w : {-kLargest, -kLargest + 1, int64_t(-1), int64_t(0), kLargest - 1, kLargest})
    for (const char *keep : {"q - k < w", "q - k < w / 64", "k * 64 + u > w", "q % 7 + w > k - u",
                             "q - k < w * 1048576 / 64", "w - q * 1000 < u * 3000 + k"})
      for (int64_t u : {-kLargest, int64_t(17), kLargest})
        countKept(keep, w, u);
  EXPECT_EQ(countKept("q - k < w", kLargest, 0), kAll);
  EXPECT_EQ(countKept("q - k < w", -kLargest, 0), 0);
}

TEST_F(LaunchIndices, ProductsSaturate) {
  EXPECT_EQ(countKept("q - k < w * u * 8", kLargest, kLargest), kAll);
  EXPECT_EQ(countKept("q - k < w * u * 8", kLargest, -kLargest), 0);
  EXPECT_EQ(countKept("q - k < w * u * 8", -kLargest, -kLargest), kAll);
  EXPECT_EQ(countKept("q - k < w * u * w * u", kLargest, kLargest), kAll);
  EXPECT_EQ(countKept("q - k < w * u * w * u", kLargest, 0), 0);
  EXPECT_EQ(countKept("q - k < w * u", 2, 3), countKept("q - k < 6", 0, 0));
  // 2^31 / 2^25.
  EXPECT_EQ(countKept("q - k < w * u / 33554432", kLargest, kLargest),
            countKept("q - k < 64", 0, 0));
  // A constant does not saturate.
  EXPECT_EQ(countKept("q - k < w * 4 / 134217728", kLargest, 0), countKept("q - k < 64", 0, 0));
}

TEST_F(LaunchIndices, WhatMayExceedTheRangeIsTestedPairByPair) {
  for (const char *keep : {"q - k < w * 4 / (u + 1)", "q - k < min(w * 4, u * 1024) / 67108864",
                           "k < 3 or q - k < max(w * 4, u) % 300"})
    for (int64_t w : {-kLargest, int64_t(40), kLargest})
      for (int64_t u : {-kLargest, int64_t(1), int64_t(134217727), kLargest})
        countKept(keep, w, u);
  EXPECT_EQ(countKept("q - k < w * 4 / u", kLargest, 134217728), countKept("q - k < 64", 0, 0));
}

TEST_F(LaunchIndices, OutOfRangeIsRefusedAlikeOnBothDevices) {
  for (int64_t w : {kLargest + 1, -kLargest - 1}) {
    Case c = caseOf("q - k < w", w, 0);
    std::string expected =
        "parameter 'w': expected an index from -2^31 to 2^31 but got " + std::to_string(w);
    ReferenceRun reference = runOnReference(c);
    EXPECT_FALSE(reference.ok);
    EXPECT_EQ(reference.message, expected);
    Expected<Kernel> kernel = compileCase(c);
    ASSERT_TRUE(kernel) << kernel.status().message();
    EXPECT_EQ(runOnCpu(*kernel, c, {}).status.message(), expected);
  }
}

TEST(LaunchBounds, SharesAndThresholdsOutOfRangeAreRefusedAlikeOnBothDevices) {
  struct {
    const char *clauses, *range;
    double inside, outside;
  } rows[] = {{"keep top_p(x, w)", "from 0 to 1", 1, 1.5},
              {"keep top_p(x, w)", "from 0 to 1", 0, -0.25},
              {"keep k < 3 or not top_p(x, w)", "from 0 to 1", 0.5, INFINITY},
              {"keep top_p(x, w) or top_p(x, 0.5 * w)", "from 0 to 1", 1, 2},
              {"keep top_p(x, 0.5 * w)", nullptr, 3, 0},
              {"keep k < w\n skip w under max", "from 0 up", 3, -1}};
  for (const auto &[clauses, range, inside, outside] : rows) {
    Case c = makeCase("pattern p(w: f32) { input x: f32[k]\n" + std::string(clauses) + " }",
                      {{70, 70}}, {.dim = 32});
    addInput(c, "x", "f32", {70}, [](int64_t i) { return double(i % 7); });
    c.problem.parameters = {{"w", {inside}}};
    EXPECT_EQ(checkCase(c), "") << clauses;
    if (!range)
      continue;
    c.problem.parameters = {{"w", {outside}}};
    std::ostringstream expected;
    expected << "parameter 'w': expected a number " << range << " but got " << outside;
    EXPECT_EQ(runOnReference(c).message, expected.str()) << clauses;
    Expected<Kernel> kernel = compileCase(c);
    ASSERT_TRUE(kernel) << kernel.status().message();
    EXPECT_EQ(runOnCpu(*kernel, c, {}).status.message(), expected.str()) << clauses;
  }
}

TEST(LaunchBounds, PatternsThatCallOthersPassTheirParametersOn) {
  Case c = makeCase("pattern best(mass: f32) { input x: index[k]\n keep top_p(x, mass) }\n"
                    "pattern p(share: index) { keep best(share) }",
                    {{70, 70}}, {.dim = 32});
  addInput(c, "x", "index", {70}, [](int64_t i) { return double(i % 7); });
  c.problem.parameters = {{"share", {1}}};
  EXPECT_EQ(checkCase(c), "");
  c.problem.parameters = {{"share", {2}}};
  const char *expected = "parameter 'share': expected a number from 0 to 1 but got 2";
  EXPECT_EQ(runOnReference(c).message, expected);
  Expected<Kernel> kernel = compileCase(c);
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_EQ(runOnCpu(*kernel, c, {}).status.message(), expected);
}

TEST(LaunchAmounts, WhatIsNotFiniteSelectsNothing) {
  for (double amount : {double(INFINITY), -double(INFINITY), 1e30}) {
    Case c = makeCase("pattern p(n: f32) { input x: f32[k]\n keep top_k(x, n) }", {{70, 70}},
                      {.dim = 32});
    addInput(c, "x", "f32", {70}, [](int64_t i) { return double(i % 7); });
    c.problem.parameters = {{"n", {amount}}};
    EXPECT_EQ(checkCase(c), "") << amount;
    ReferenceRun run = runOnReference(c);
    EXPECT_EQ(run.result.isKept(0, 69, 3), std::isfinite(amount)) << amount;
  }
}

} // namespace
