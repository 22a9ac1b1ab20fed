// The decisions that restatements are made of, by hand.
#include "test/examples/Decision.h"

#include <gtest/gtest.h>

#include <cmath>

namespace skim::examples {
namespace {

using enum Decision;

Scores exactly(std::initializer_list<double> values) {
  Scores scores;
  for (double value : values)
    scores.push_back(Score{value, 0});
  return scores;
}

TEST(Decisions, TheLargestAndOfEqualsTheFirst) {
  EXPECT_EQ(largest(exactly({1, 3, 2, 3, 3}), 2),
            (std::vector{Dropped, Kept, Dropped, Kept, Dropped}));
  EXPECT_EQ(largest(exactly({1, 2}), 5), (std::vector{Kept, Kept}));
  EXPECT_EQ(largest(exactly({1, 2}), 0), (std::vector{Dropped, Dropped}));
  Scores some = exactly({1, 5, 2});
  some[1].reset();
  EXPECT_EQ(largest(some, 1), (std::vector{Dropped, Dropped, Kept}));
}

TEST(Decisions, TooCloseToCall) {
  Scores close = {Score{1, 0.1}, Score{1.1, 0.1}, Score{5, 0.1}, Score{0, 0.1}};
  EXPECT_EQ(largest(close, 2), (std::vector{Uncertain, Uncertain, Kept, Dropped}));
  EXPECT_EQ(largest(close, 3), (std::vector{Kept, Kept, Kept, Dropped}));
  EXPECT_EQ(atLeast(Score{1, 0.1}, {1.05, 0}), Uncertain);
  EXPECT_EQ(atLeast(Score{1, 0.1}, {1.2, 0.05}), Dropped);
  EXPECT_EQ(atLeast(Score{1, 0}, {0.5, 0}), Kept);
  EXPECT_EQ(atLeast(std::nullopt, {-1, 0}), Dropped);
}

TEST(Decisions, TheFewestThatCarryAShare) {
  EXPECT_EQ(carryingShare(exactly({1, 4, 3, 2}), 0.6), (std::vector{Dropped, Kept, Kept, Dropped}));
  EXPECT_EQ(carryingShare(exactly({1, 4, 3, 2}), 0.75), (std::vector{Dropped, Kept, Kept, Kept}));
  EXPECT_EQ(carryingShare(exactly({1, 4}), 0), (std::vector{Dropped, Kept}));
  Scores close = {Score{4, 0.1}, Score{3, 0.1}, Score{3, 0.1}};
  EXPECT_EQ(carryingShare(close, 0.6), (std::vector{Kept, Uncertain, Uncertain}));
}

TEST(Decisions, SoftmaxKeepsTheErrorOfItsScores) {
  Scores p = softmax({Score{0, 0}, std::nullopt, Score{std::log(3.0), 1e-3}});
  EXPECT_NEAR(p[0]->value, 0.25, 1e-12);
  EXPECT_FALSE(p[1]);
  EXPECT_NEAR(p[2]->value, 0.75, 1e-12);
  // 1 / (1 + 3 exp(1e-3)) is 1.9e-4 less than a quarter.
  EXPECT_GE(p[0]->error, 1.8e-4);
  EXPECT_LE(p[0]->error, 4e-4);
}

TEST(Decisions, Formats) {
  std::vector<double> values = {1.0625, 1.1875, 500, -0.00097, 1 + 0x1p-8, 3};
  Vector f = fp8(Vector(values), 0);
  EXPECT_EQ(f.values[0], 1.0); // halfway to 1.125, to even
  EXPECT_EQ(f.values[1], 1.25);
  EXPECT_EQ(f.values[2], 448);
  EXPECT_EQ(f.values[3], -0);
  EXPECT_EQ(bf16(Vector(values), 0).values[4], 1);
  EXPECT_EQ(bf16(Vector(values), 0).values[5], 3);
  // Within its own inexactness of the turn at 1.0625 the value may come out at 1.125.
  std::vector<double> turning = {1.0625 - 1e-7};
  EXPECT_EQ(fp8(Vector(turning), 1e-6).errors[0], 0.125);
  EXPECT_EQ(fp8(Vector(turning), 1e-8).errors[0], 0);
}

} // namespace
} // namespace skim::examples
