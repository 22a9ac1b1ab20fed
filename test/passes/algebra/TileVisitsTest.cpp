#include "passes/algebra/TileVisits.h"

#include "passes/algebra/Cover.h"
#include "passes/algebra/Evaluate.h"
#include "test/passes/algebra/TestSupport.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

using namespace skim;
using namespace skim::test;

namespace {

class TileVisitsTest : public testing::Test {
protected:
  Formula set(llvm::StringRef constraints) { return affine(context, constraints); }
  static Formula anyOf(std::initializer_list<Formula> operands) {
    return Formula::disjunction(llvm::ArrayRef(operands.begin(), operands.size()));
  }
  static Formula allOf(std::initializer_list<Formula> operands) {
    return Formula::conjunction(llvm::ArrayRef(operands.begin(), operands.size()));
  }

  /// Computes the visits and compares them with brute force over `calls`; each pattern takes at
  /// most 50 ms of processor time.
  TileVisits check(const Formula &visible, TileShape shape, const std::vector<Call> &calls) {
    double fastest = 1e9;
    mlir::FailureOr<TileVisits> visits = mlir::failure();
    for (int repetition = 0; repetition < 3; ++repetition) {
      std::clock_t start = std::clock();
      visits = computeTileVisits(location, visible, shape, kSymbols);
      fastest = std::min(fastest, 1e3 * double(std::clock() - start) / CLOCKS_PER_SEC);
    }
    EXPECT_LE(fastest, 50) << "milliseconds";
    if (failed(visits)) {
      ADD_FAILURE() << "refused: " << llvm::join(messages, "; ");
      return {};
    }
    for (const Call &call : calls) {
      std::vector<int64_t> symbols = call.symbols();
      EXPECT_EQ(findDifference(*visits, shape, call,
                               [&](int64_t query, int64_t key) {
                                 return evaluateFormula(visible, query, key, symbols,
                                                        [](unsigned) { return false; });
                               }),
                "")
          << "q_len " << call.queryLength << " kv_len " << call.kvLength << " a " << call.a << " b "
          << call.b << " c " << call.c;
    }
    return *visits;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::Location location = mlir::UnknownLoc::get(&context);
  std::vector<std::string> messages;
  mlir::ScopedDiagnosticHandler handler{&context, [this](mlir::Diagnostic &diagnostic) {
                                          messages.push_back(diagnostic.str());
                                          return mlir::success();
                                        }};

  /// a is a window, b a sink.
  Formula window = set("a - q + k - 1 >= 0");
  Formula sink = set("b - k - 1 >= 0");
  std::vector<Call> calls = {
      {.queryLength = 300, .kvLength = 300, .a = 100, .b = 16},
      {.queryLength = 37, .kvLength = 301, .a = 64, .b = 64},
      {.queryLength = 200, .kvLength = 129, .a = 33, .b = 1},
      {.queryLength = 128, .kvLength = 256, .a = 1, .b = 0},
      {.queryLength = 65, .kvLength = 65, .a = 1000, .b = 1000},
      {.queryLength = 70, .kvLength = 200, .a = 0, .b = -5},
      {.queryLength = 1, .kvLength = 190, .a = 128, .b = 63},
      {.queryLength = 10, .kvLength = 0, .a = 10, .b = 10},
      {.queryLength = 0, .kvLength = 100, .a = 10, .b = 10},
      {.queryLength = 5, .kvLength = -20, .a = 10, .b = 10},
  };
};

TEST_F(TileVisitsTest, Dense) {
  TileVisits visits = check(causal(context, Formula::getTrue()), {64, 64}, calls);
  EXPECT_EQ(visits.touched.size(), 1U);
  EXPECT_EQ(visits.hidden.size(), 1U);
  EXPECT_TRUE(holdsAlways(visits.touched[0].tileGuard));
}

TEST_F(TileVisitsTest, Noncausal) {
  TileVisits visits = check(noncausal(context, Formula::getTrue()), {32, 64}, calls);
  EXPECT_EQ(visits.touched.size(), 1U);
  EXPECT_EQ(visits.hidden.size(), 1U);
}

TEST_F(TileVisitsTest, StreamingHasTwoIntervals) {
  Formula streaming = causal(context, anyOf({sink, window}));
  for (TileShape shape : {TileShape{64, 64}, {128, 64}, {64, 128}, {48, 80}, {1, 64}, {192, 1}}) {
    TileVisits visits = check(streaming, shape, calls);
    EXPECT_EQ(visits.touched.size(), 2U);
    EXPECT_EQ(visits.hidden.size(), 2U);
  }
}

TEST_F(TileVisitsTest, StreamingVisitsFewTilesOfLongRequests) {
  auto visits =
      computeTileVisits(location, causal(context, anyOf({sink, window})), {64, 64}, kSymbols);
  ASSERT_TRUE(succeeded(visits));
  Call call{.queryLength = 1 << 20, .kvLength = 1 << 20, .a = 512, .b = 64};
  // Rows 524288 and on: keys 523777 and on but for the diagonal are full, the oldest tile is cut by
  // the window.
  EXPECT_THAT(evaluateVisits(*visits, 8192, call.symbols()),
              testing::ElementsAre(Stretch{8192, 8193, true}, Stretch{8185, 8192, false},
                                   Stretch{8184, 8185, true}, Stretch{0, 1, false}));
}

TEST_F(TileVisitsTest, ParametersAtTheEndOfTheirRange) {
  auto visits =
      computeTileVisits(location, causal(context, anyOf({sink, window})), {64, 64}, kSymbols);
  ASSERT_TRUE(succeeded(visits));
  Call everything{.queryLength = 256, .kvLength = 256, .a = kLargestSymbol, .b = -kLargestSymbol};
  EXPECT_THAT(evaluateVisits(*visits, 3, everything.symbols()),
              testing::ElementsAre(Stretch{3, 4, true}, Stretch{0, 3, false}));
  Call nothing{.queryLength = 256, .kvLength = 256, .a = -kLargestSymbol, .b = -kLargestSymbol};
  EXPECT_TRUE(evaluateVisits(*visits, 3, nothing.symbols()).empty());
  Call longest{.queryLength = 64, .kvLength = kLargestSymbol, .a = 64, .b = 0};
  EXPECT_THAT(evaluateVisits(*visits, kLargestSymbol / 64 - 1, longest.symbols()),
              testing::ElementsAre(Stretch{kLargestSymbol / 64 - 2, kLargestSymbol / 64, true}));
}

TEST_F(TileVisitsTest, Strides) {
  Formula stride = set("(q - k) mod 64 == 0");
  TileVisits visits = check(causal(context, anyOf({stride, window, sink})), {64, 64}, calls);
  EXPECT_LE(visits.touched.size(), 2U);
  check(causal(context, stride), {16, 16}, calls);
  check(causal(context, Formula::negation(stride)), {64, 64}, calls);
  check(causal(context, set("(q - k + a) mod 24 == 0")), {16, 8}, calls);
}

TEST_F(TileVisitsTest, DilatedWindow) {
  Formula dilated = allOf({window, set("(q - k) mod 4 == 0")});
  TileVisits visits = check(causal(context, anyOf({dilated, sink})), {64, 64}, calls);
  EXPECT_EQ(visits.touched.size(), 2U);
  check(causal(context, allOf({window, set("(q - k) mod 48 == 0")})), {16, 16}, calls);
}

TEST_F(TileVisitsTest, RemaindersOfDiagonals) {
  check(causal(context, set("(q - k) mod 96 - 40 >= 0")), {32, 16}, calls);
  check(causal(context, set("(q - k) mod 96 - b >= 0, a - (q - k) >= 0")), {32, 32}, calls);
}

TEST_F(TileVisitsTest, PagesOfKeys) {
  check(causal(context, set("(k floordiv 16) mod 4 - 3 == 0")), {64, 16}, calls);
  TileVisits visits = check(causal(context, set("(k floordiv 16) mod 4 - 3 == 0")), {64, 8}, calls);
  EXPECT_FALSE(holdsAlways(visits.touched[0].tileGuard));
}

TEST_F(TileVisitsTest, BlocksBecomeBounds) {
  Formula local = set("q floordiv 192 - k floordiv 64 <= 1");
  TileVisits visits = check(causal(context, local), {64, 64}, calls);
  EXPECT_TRUE(holdsAlways(visits.touched[0].tileGuard));
  visits = check(causal(context, set("q floordiv 128 - k floordiv 128 == 0")), {64, 32}, calls);
  ASSERT_EQ(visits.touched.size(), 1U);
  EXPECT_TRUE(holdsAlways(visits.touched[0].tileGuard));
  check(causal(context, set("q floordiv 48 - k floordiv 80 == 0")), {64, 64}, calls);
}

TEST_F(TileVisitsTest, FourBands) {
  auto band = [&](int from, int to) {
    return set(llvm::formatv("q - k - {0} >= 0, {1} - q + k >= 0", from, to).str());
  };
  TileVisits visits =
      check(causal(context, anyOf({band(0, 20), band(50, 70), band(100, 130), band(200, 201)})),
            {16, 16}, calls);
  EXPECT_EQ(visits.touched.size(), 4U);
  EXPECT_EQ(visits.hidden.size(), 5U);
}

TEST_F(TileVisitsTest, BandsOfParameters) {
  Formula bands =
      anyOf({set("k - q + a >= 0, q - k - b >= 0"), set("k - q + 2 * a >= 0, q - k - 2 * b >= 0"),
             set("k - q + 3 * a >= 0, q - k - 3 * b >= 0")});
  check(causal(context, bands), {32, 32}, calls);
}

TEST_F(TileVisitsTest, TailAndNegatedWindow) {
  check(causal(context, anyOf({set("q - kv_len + b >= 0"), sink})), {64, 32}, calls);
  check(causal(context, Formula::negation(anyOf({window, sink}))), {64, 32}, calls);
  check(noncausal(context, set("q - k - a >= 0")), {64, 32}, calls);
}

TEST_F(TileVisitsTest, EmptySet) {
  TileVisits visits = check(causal(context, set("q - k + 1 <= 0")), {64, 64}, calls);
  EXPECT_TRUE(visits.touched.empty());
  EXPECT_EQ(visits.hidden.size(), 1U);
  EXPECT_TRUE(check(Formula::getFalse(), {64, 64}, calls).touched.empty());
}

TEST_F(TileVisitsTest, RowsBeforeTheFirstKeySeeNothing) {
  Call longer{.queryLength = 100, .kvLength = 36, .a = 1000};
  auto visits = computeTileVisits(location, causal(context, window), {16, 16}, kSymbols);
  ASSERT_TRUE(succeeded(visits));
  EXPECT_TRUE(evaluateVisits(*visits, -1, longer.symbols()).empty());
  EXPECT_FALSE(evaluateVisits(*visits, 0, longer.symbols()).empty());
}

TEST_F(TileVisitsTest, LiteralsGoWithTheirIntervals) {
  Formula mask = Formula::literal(5);
  auto visits =
      computeTileVisits(location, causal(context, anyOf({mask, window})), {64, 64}, kSymbols);
  ASSERT_TRUE(succeeded(visits));
  ASSERT_EQ(visits->touched.size(), 2U);
  EXPECT_THAT(visits->touched[0].literals, testing::ElementsAre(LiteralRef{5, false}));
  EXPECT_TRUE(visits->touched[1].literals.empty());
  ASSERT_EQ(visits->hidden.size(), 2U);
  // Causality hides without the literal, the rest only where the mask does not hold.
  EXPECT_TRUE(visits->hidden[0].literals.empty());
  EXPECT_THAT(visits->hidden[1].literals, testing::ElementsAre(LiteralRef{5, true}));

  Call call{.queryLength = 256, .kvLength = 256, .a = 64};
  auto maskOnTile = [](const LiteralRef &literal, int64_t keyTile) {
    return (keyTile == 0) != literal.negated;
  };
  EXPECT_THAT(evaluateVisits(*visits, 3, call.symbols(), maskOnTile),
              testing::ElementsAre(Stretch{2, 4, true}, Stretch{0, 1, false}));
}

TEST_F(TileVisitsTest, CasesOfAChoiceDoNotMultiply) {
  std::vector<Formula::Case> cases;
  cases.reserve(12);
  for (unsigned literal = 0; literal < 12; ++literal)
    cases.emplace_back(literal,
                       literal == 11
                           ? Formula::getTrue()
                           : anyOf({set(llvm::formatv("k - {0} <= 0", literal).str()), window}));
  auto visits =
      computeTileVisits(location, causal(context, Formula::choice(cases)), {64, 64}, kSymbols);
  ASSERT_TRUE(succeeded(visits));
  EXPECT_EQ(visits->touched.size(), 23U);
  EXPECT_EQ(visits->hidden.size(), 12U);
}

TEST_F(TileVisitsTest, TooManyPartsAreRefused) {
  std::vector<Formula> bands;
  bands.reserve(20);
  for (int band = 0; band < 20; ++band)
    bands.push_back(set(
        llvm::formatv("q - k - {0} >= 0, {1} - q + k >= 0", 100 * band, 100 * band + 20).str()));
  Formula visible = causal(context, Formula::disjunction(bands));
  EXPECT_TRUE(failed(computeTileVisits(location, visible, {64, 64}, kSymbols, 16)));
  EXPECT_THAT(messages,
              testing::ElementsAre("the set has too many disjoint parts: expected at most "
                                   "16 intervals of key tiles but got 20"));
  EXPECT_TRUE(succeeded(computeTileVisits(location, visible, {64, 64}, kSymbols)));
}

TEST_F(TileVisitsTest, ManyModuliAreRefused) {
  Formula visible = causal(context, set("q mod 7 - k mod 11 + (q - k) mod 13 - a >= 0, "
                                        "(q + k) mod 17 - (q - k) mod 19 - b >= 0"));
  EXPECT_TRUE(failed(computeTileVisits(location, visible, {64, 64}, kSymbols)));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_THAT(messages[0], testing::HasSubstr("cannot be projected on tiles exactly"));
}

TEST_F(TileVisitsTest, BadInputIsRefused) {
  EXPECT_TRUE(failed(computeTileVisits(location, window, {0, 64}, kSymbols)));
  EXPECT_TRUE(failed(computeTileVisits(location, set("q * a - k >= 0"), {64, 64}, kSymbols)));
  EXPECT_TRUE(
      failed(computeTileVisits(location, set("q floordiv a - k >= 0"), {64, 64}, kSymbols)));
  EXPECT_TRUE(failed(
      computeTileVisits(location, set("q * 4611686018427387 - k >= 0"), {64, 64}, kSymbols)));
  EXPECT_TRUE(
      failed(computeTileVisits(location, set("q - 4611686018427387904 >= 0"), {64, 64}, kSymbols)));
  EXPECT_THAT(messages,
              testing::ElementsAre(
                  "expected tiles of at least 1 x 1 positions but got 0 x 64",
                  "expected positions multiplied by constants and divided by positive constants "
                  "but got 'd0 * s2'",
                  "expected positions multiplied by constants and divided by positive constants "
                  "but got 'd0 floordiv s2'",
                  "the set's constants are too large: expected tile bounds that fit 62 bits",
                  "expected constants of at most 2305843009213693952 in a set of positions but "
                  "got -4611686018427387904"));
}

TEST_F(TileVisitsTest, PrintsOneIntervalALine) {
  auto visits = computeTileVisits(
      location, noncausal(context, allOf({Formula::literal(2), set("(k floordiv 64) mod 2 == 0")})),
      {64, 64}, kSymbols);
  ASSERT_TRUE(succeeded(visits));
  std::string text;
  llvm::raw_string_ostream stream(text);
  visits->print(stream);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "touched lower affine_map<(d0)[s0, s1, s2, s3, s4] -> (0)> upper "
            "affine_map<(d0)[s0, s1, s2, s3, s4] -> ((s1 - 1) floordiv 64 + 1)> guard "
            "affine_set<(d0)[s0, s1, s2, s3, s4] : (-s0 + s1 - 1 >= 0, d0 * 64 - s0 + 63 >= 0, "
            "d0 * -64 + s1 - 1 >= 0)> tile_guard affine_set<(d0, d1)[s0, s1, s2, s3, s4] : "
            "(d1 mod 2 == 0)> literals(2)");
}

TEST_F(TileVisitsTest, CoverOfTheDiagonalIsTheLowerTriangleOfBlocks) {
  auto cover = coverFormula(location, causal(context, set("(q - k) mod 8 == 0")), 64, 64, kSymbols);
  ASSERT_TRUE(succeeded(cover));
  Call call{.queryLength = 128, .kvLength = 128};
  auto covers = [&](int64_t query, int64_t key) {
    return evaluateFormula(*cover, query, key, call.symbols(), [](unsigned) { return false; });
  };
  EXPECT_TRUE(covers(0, 63));
  EXPECT_TRUE(covers(64, 0));
  EXPECT_FALSE(covers(63, 64));
}

TEST_F(TileVisitsTest, CoverSeesVisiblePairsOnly) {
  auto cover = coverFormula(location, causal(context, set("q - k + 1 <= 0")), 64, 64, kSymbols);
  ASSERT_TRUE(succeeded(cover));
  EXPECT_TRUE(cover->isFalse());
}

TEST_F(TileVisitsTest, CoverRefusesLiterals) {
  EXPECT_TRUE(failed(coverFormula(location, Formula::literal(0), 64, 64, kSymbols)));
  EXPECT_TRUE(failed(coverFormula(location, window, 64, 0, kSymbols)));
  EXPECT_THAT(messages, testing::ElementsAre(
                            "expected a set of positions and parameters to cover but got one that "
                            "depends on inputs or scores",
                            "expected blocks of at least 1 x 1 positions but got 64 x 0"));
}

} // namespace
