#include "runtime/ShapeExpr.h"

#include <gtest/gtest.h>

#include <limits>

using namespace skim;

namespace {

ShapeValues values() {
  ShapeValues values{};
  values[static_cast<size_t>(ShapeSymbol::Requests)] = 3;
  values[static_cast<size_t>(ShapeSymbol::MaxKvLength)] = 100;
  return values;
}

int64_t value(const ShapeExpr &expr) {
  const Expected<int64_t> result = evaluate(expr, values());
  EXPECT_TRUE(result) << result.status().message();
  return result ? *result : -1;
}

std::string error(const ShapeExpr &expr) { return evaluate(expr, values()).status().message(); }

TEST(ShapeExpr, evaluatesEachOperation) {
  const ShapeExpr keys = ShapeSymbol::MaxKvLength;
  EXPECT_EQ(value(7), 7);
  EXPECT_EQ(value(keys), 100);
  EXPECT_EQ(value(ShapeExpr::add(keys, 1)), 101);
  EXPECT_EQ(value(ShapeExpr::mul(keys, ShapeSymbol::Requests)), 300);
  EXPECT_EQ(value(ShapeExpr::ceilDiv(keys, 64)), 2);
  EXPECT_EQ(value(ShapeExpr::ceilDiv(keys, 50)), 2);
  EXPECT_EQ(value(ShapeExpr::floorDiv(keys, 64)), 1);
  EXPECT_EQ(value(ShapeExpr::max(keys, 128)), 128);
  EXPECT_EQ(value(ShapeExpr::min(keys, 128)), 100);
}

TEST(ShapeExpr, roundsNegativeQuotientsTowardsTheirInfinity) {
  EXPECT_EQ(value(ShapeExpr::floorDiv(-1, 64)), -1);
  EXPECT_EQ(value(ShapeExpr::ceilDiv(-1, 64)), 0);
  EXPECT_EQ(value(ShapeExpr::floorDiv(-64, 64)), -1);
  EXPECT_EQ(value(ShapeExpr::ceilDiv(-65, 64)), -1);
}

TEST(ShapeExpr, K5_reportsOverflow) {
  const int64_t largest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(error(ShapeExpr::add(largest, 1)), "size overflows 64 bits: 9223372036854775807 + 1");
  EXPECT_EQ(error(ShapeExpr::mul(largest, ShapeSymbol::Requests)),
            "size overflows 64 bits: 9223372036854775807 * 3");
  EXPECT_EQ(error(ShapeExpr::add(1, ShapeExpr::mul(largest, 2))),
            "size overflows 64 bits: 9223372036854775807 * 2");
}

TEST(ShapeExpr, refusesDivisorsBelowOneAndMalformedTrees) {
  EXPECT_EQ(error(ShapeExpr::ceilDiv(1, 0)),
            "shape expression: expected a divisor of at least 1 but got 0");
  EXPECT_EQ(error(ShapeExpr::floorDiv(1, -2)),
            "shape expression: expected a divisor of at least 1 but got -2");
  ShapeExpr broken = ShapeExpr::add(1, 2);
  broken.operands.pop_back();
  EXPECT_EQ(error(broken), "shape expression: expected 2 operands but got 1");
}

TEST(ShapeExpr, namesItsSymbols) {
  for (size_t i = 0; i < kShapeSymbols; ++i) {
    const auto symbol = static_cast<ShapeSymbol>(i);
    EXPECT_EQ(parseShapeSymbol(shapeSymbolName(symbol)), symbol);
  }
  EXPECT_FALSE(parseShapeSymbol("q_len"));
}

} // namespace
