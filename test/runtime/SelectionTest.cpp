// Rule 8: top_k and top_p over one row, against a plain sort.
#include "runtime/cpu/Selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<int> topK(const std::vector<float> &scores, double x) {
  std::vector<uint8_t> selected(scores.size(), 7);
  const int64_t count =
      skim_select_top_k(scores.data(), static_cast<int64_t>(scores.size()), x, selected.data());
  std::vector<int> result;
  for (size_t i = 0; i < selected.size(); ++i) {
    EXPECT_LE(selected[i], 1);
    if (selected[i])
      result.push_back(static_cast<int>(i));
  }
  EXPECT_EQ(count, static_cast<int64_t>(result.size()));
  return result;
}

std::vector<int> topP(const std::vector<float> &scores, double mass) {
  std::vector<uint8_t> selected(scores.size(), 7);
  std::vector<int32_t> order(scores.size());
  const int64_t count = skim_select_top_p(scores.data(), static_cast<int64_t>(scores.size()), mass,
                                          selected.data(), order.data());
  std::vector<int> result;
  for (size_t i = 0; i < selected.size(); ++i) {
    EXPECT_LE(selected[i], 1);
    if (selected[i])
      result.push_back(static_cast<int>(i));
  }
  EXPECT_EQ(count, static_cast<int64_t>(result.size()));
  return result;
}

/// Indices of the existing cells in descending order, ties by index.
std::vector<int> sorted(const std::vector<float> &scores) {
  std::vector<int> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (!std::isnan(scores[i]))
      order.push_back(static_cast<int>(i));
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return scores[a] > scores[b]; });
  return order;
}

std::vector<int> firstOf(std::vector<int> order, size_t n) {
  order.resize(std::min(n, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

TEST(TopK, rule8_tiesGoToTheSmallerIndex) {
  EXPECT_EQ(topK({1, 2, 2, 2, 0}, 2), (std::vector{1, 2}));
  EXPECT_EQ(topK({0.0f, -0.0f, 0.0f}, 2), (std::vector{0, 1}));
}

TEST(TopK, rule8_countIsRoundedUpWithAToleranceAndClamped) {
  const std::vector<float> scores = {5, 4, 3, 2, 1};
  EXPECT_EQ(topK(scores, 2.5).size(), 3U);
  EXPECT_EQ(topK(scores, 2.000001).size(), 2U); // within 1e-6 * 2
  EXPECT_EQ(topK(scores, 2.00001).size(), 3U);
  EXPECT_EQ(topK(scores, 1e300).size(), 5U);
  EXPECT_EQ(topK(scores, kInfinity).size(), 0U) << "the formula gives NaN";
  EXPECT_EQ(topK(scores, 0).size(), 0U);
  EXPECT_EQ(topK(scores, 1e-7).size(), 0U);
  EXPECT_EQ(topK(scores, -3).size(), 0U);
  EXPECT_EQ(topK(scores, kNaN).size(), 0U);
}

TEST(TopK, rule3_undefinedCellsAreNeverSelected) {
  EXPECT_EQ(topK({kNaN, 1, kNaN, -kInfinity}, 4), (std::vector{1, 3}));
  EXPECT_TRUE(topK({kNaN, kNaN}, 1).empty());
  EXPECT_TRUE(topK({}, 3).empty());
}

TEST(TopK, agreesWithASort) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<float> scores(random() % 300);
    const bool coarse = round % 2 == 0; // many ties
    for (float &score : scores) {
      score = coarse ? static_cast<float>(static_cast<int>(random() % 9) - 4)
                     : std::normal_distribution<float>()(random);
      if (random() % 10 == 0)
        score = random() % 2 ? kNaN : (random() % 2 ? kInfinity : -kInfinity);
    }
    const size_t n = random() % 320;
    ASSERT_EQ(topK(scores, static_cast<double>(n)), firstOf(sorted(scores), n)) << round;
  }
}

TEST(TopP, rule8_takesTheSmallestPrefixThatReachesTheMass) {
  EXPECT_EQ(topP({1, 4, 3, 2}, 0.4), (std::vector{1}));
  EXPECT_EQ(topP({1, 4, 3, 2}, 0.41), (std::vector{1, 2}));
  EXPECT_EQ(topP({1, 4, 3, 2}, 1), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(topP({2, 2, 2, 2}, 0.5), (std::vector{0, 1}));
}

TEST(TopP, rule8_takesAtLeastOneCellAndNegativesCountAsZero) {
  EXPECT_EQ(topP({1, 2}, 0), (std::vector{1}));
  EXPECT_EQ(topP({1, 2}, -1), (std::vector{1}));
  EXPECT_EQ(topP({-3, -1, -2}, 0.9), (std::vector{1}));
  EXPECT_EQ(topP({-100, 3, 1}, 1), (std::vector{1, 2}));
  EXPECT_EQ(topP({1, kInfinity, 2}, 0.5), (std::vector{1}));
}

TEST(TopP, rule3_undefinedCellsAreNeverSelected) {
  EXPECT_EQ(topP({kNaN, 1, kNaN, 1}, 1), (std::vector{1, 3}));
  EXPECT_TRUE(topP({kNaN}, 0.5).empty());
  EXPECT_TRUE(topP({}, 0.5).empty());
  EXPECT_TRUE(topP({1, 2}, kNaN).empty());
}

TEST(TopP, agreesWithASort) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<float> scores(1 + random() % 300);
    for (float &score : scores)
      score = random() % 10 == 0 ? kNaN : std::normal_distribution<float>()(random);
    const double mass = std::uniform_real_distribution<>(0, 1.1)(random);
    const std::vector<int> order = sorted(scores);
    double total = 0;
    for (const int i : order)
      total += std::max(0.0, static_cast<double>(scores[i]));
    size_t n = order.empty() ? 0 : 1;
    double sum = n ? std::max(0.0, static_cast<double>(scores[order[0]])) : 0;
    while (n < order.size() && sum < mass * total)
      sum += std::max(0.0, static_cast<double>(scores[order[n++]]));
    ASSERT_EQ(topP(scores, mass), firstOf(order, n)) << round;
  }
}

} // namespace
