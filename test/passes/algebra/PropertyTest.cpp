// Random quasi-affine relations, tile shapes and parameter values against brute force over all
// pairs.
//
// Environment: SKIM_ALGEBRA_RELATIONS, how many relations the first test compares (default 20000;
// the others take a tenth); SKIM_ALGEBRA_SEED, where the random numbers start (default 1).

#include "passes/algebra/Cover.h"
#include "passes/algebra/Evaluate.h"
#include "test/passes/algebra/TestSupport.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>

using namespace skim;
using namespace skim::test;
using mlir::AffineExpr;

namespace {

/// Literals from here on are the three cases of a choice, of which exactly one holds.
constexpr unsigned kFirstCase = 10;

/// Whether a literal holds at a place, at random but the same for each question.
bool randomLiteral(uint64_t seed, unsigned literal, int64_t query, int64_t key) {
  bool isCase = literal >= kFirstCase;
  std::array<uint64_t, 4> place{seed, uint64_t(query), uint64_t(key), isCase ? 0U : literal + 1U};
  uint64_t bits = llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(place.data()), sizeof(place)));
  return isCase ? bits % 3 == literal - kFirstCase : bits % 2 == 0;
}

class RandomRelation {
public:
  RandomRelation(mlir::MLIRContext &context, std::mt19937_64 &random)
      : context(context), random(random), wild(chance(5)) {}

  Formula formula(unsigned depth, unsigned literals = 0) {
    if (depth == 0 || chance(4))
      return literals != 0 && chance(3) ? Formula::literal(unsigned(within(1, literals)) - 1)
                                        : atom();
    Formula left = formula(depth - 1, literals);
    if (chance(5))
      return Formula::negation(left);
    if (literals != 0 && chance(5))
      return Formula::choice({{kFirstCase, left},
                              {kFirstCase + 1, formula(depth - 1, literals)},
                              {kFirstCase + 2, formula(depth - 1, literals)}});
    Formula right = formula(depth - 1, literals);
    return chance(2) ? Formula::conjunction({left, right}) : Formula::disjunction({left, right});
  }

  TileShape shape() { return {.rows = size(), .keys = size()}; }
  int64_t size() { return pick({1, 2, 3, 4, 5, 6, 8, 12, 16}); }

  Call call() {
    Call result;
    result.kvLength = chance(20) ? within(-3, 0) : within(1, 36);
    result.queryLength = within(0, 28);
    result.a = within(-6, 40);
    result.b = within(-6, 12);
    result.c = within(0, 20);
    return result;
  }

  int64_t within(int64_t smallest, int64_t largest) {
    return std::uniform_int_distribution<int64_t>(smallest, largest)(random);
  }
  bool chance(int64_t oneIn) { return within(1, oneIn) == 1; }
  int64_t pick(std::initializer_list<int64_t> values) {
    return values.begin()[within(0, int64_t(values.size()) - 1)];
  }

private:
  AffineExpr dim(unsigned position) { return mlir::getAffineDimExpr(position, &context); }
  AffineExpr parameter() { return mlir::getAffineSymbolExpr(unsigned(within(2, 4)), &context); }

  /// q, k or q - k; in wild relations also sums and multiples.
  AffineExpr position() {
    AffineExpr result;
    switch (within(0, wild ? 7 : 5)) {
    case 0:
    case 1:
      result = dim(0);
      break;
    case 2:
    case 3:
      result = dim(1);
      break;
    case 4:
    case 5:
      result = dim(0) - dim(1);
      break;
    case 6:
      result = dim(0) + dim(1);
      break;
    default:
      result = dim(0) * within(-3, 3) + dim(1) * within(-3, 3);
      break;
    }
    return chance(4) ? result + within(-9, 9) : result;
  }

  AffineExpr term() {
    AffineExpr result = position();
    if (chance(6))
      result = result + parameter();
    int64_t divisor = pick({2, 3, 4, 5, 6, 8, 12, 16});
    if (chance(4))
      return result.floorDiv(divisor) * (chance(4) ? divisor : 1);
    if (chance(4))
      return result % divisor;
    if (chance(8))
      return (result % divisor).floorDiv(pick({2, 3, 4}));
    return result;
  }

  Formula atom() {
    AffineExpr left = term();
    if (chance(wild ? 3 : 8))
      left = left - term() * (wild && chance(2) ? -1 : 1);
    AffineExpr right = mlir::getAffineConstantExpr(within(-4, 20), &context);
    if (chance(2))
      right = parameter() * pick({1, 1, 1, -1, 2});
    if (chance(10))
      right = mlir::getAffineSymbolExpr(kSymbols.kvLength, &context) - right;
    bool equality = chance(5);
    Formula result =
        Formula::affine(mlir::IntegerSet::get(2, kSymbols.count, left - right, equality));
    return chance(2) ? Formula::negation(result) : result;
  }

  mlir::MLIRContext &context;
  std::mt19937_64 &random;
  bool wild;
};

int64_t readSetting(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoll(text, nullptr, 10) : otherwise;
}

std::string describe(const Formula &formula, const Call &call, TileShape shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  formula.print(stream);
  stream << "\nrows " << shape.rows << " keys " << shape.keys << " q_len " << call.queryLength
         << " kv_len " << call.kvLength << " a " << call.a << " b " << call.b << " c " << call.c;
  return text;
}

bool noLiteral(unsigned) { return false; }

/// Calls `compare(random, context)`, which returns false when the algebra refused the relation,
/// until `relations` were compared. Combinations of many coprime moduli are refused; they may be
/// only few.
template <typename Compare> void compareRelations(int64_t relations, Compare compare) {
  std::mt19937_64 engine(readSetting("SKIM_ALGEBRA_SEED", 1));
  int64_t compared = 0;
  int64_t refused = 0;
  while (compared < relations && refused <= 1000 + relations && !testing::Test::HasFailure()) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    mlir::ScopedDiagnosticHandler quiet(&context,
                                        [](mlir::Diagnostic &) { return mlir::success(); });
    RandomRelation random(context, engine);
    compare(random, context) ? ++compared : ++refused;
  }
  llvm::outs() << compared << " relations compared with brute force, " << refused << " refused\n";
  EXPECT_LE(refused * 12, relations);
}

TEST(AlgebraProperty, IntervalsEqualBruteForce) {
  compareRelations(readSetting("SKIM_ALGEBRA_RELATIONS", 20000), [](RandomRelation &random,
                                                                    mlir::MLIRContext &context) {
    Formula keep = random.formula(random.within(1, 3));
    Formula visible = random.chance(4) ? noncausal(context, keep) : causal(context, keep);
    TileShape shape = random.shape();
    auto visits = computeTileVisits(mlir::UnknownLoc::get(&context), visible, shape, kSymbols);
    if (failed(visits))
      return false;
    for (const Call &call : {random.call(), random.call()}) {
      std::vector<int64_t> symbols = call.symbols();
      EXPECT_EQ(findDifference(*visits, shape, call,
                               [&](int64_t query, int64_t key) {
                                 return evaluateFormula(visible, query, key, symbols, noLiteral);
                               }),
                "")
          << describe(visible, call, shape);
    }
    return true;
  });
}

/// Relations with literals that are alike on each tile, or differ from pair to pair; `find` says
/// what is wrong with the visits.
template <typename Find> void compareWithLiterals(bool wholeTiles, Find find) {
  compareRelations(
      readSetting("SKIM_ALGEBRA_RELATIONS", 20000) / 10,
      [&](RandomRelation &random, mlir::MLIRContext &context) {
        Formula visible = causal(context, random.formula(3, /*literals=*/3));
        TileShape shape = random.shape();
        auto visits = computeTileVisits(mlir::UnknownLoc::get(&context), visible, shape, kSymbols);
        if (failed(visits))
          return false;
        Call call = random.call();
        std::vector<int64_t> symbols = call.symbols();
        uint64_t seed = uint64_t(random.within(0, 1 << 30));
        TileShape cell = wholeTiles ? shape : TileShape{1, 1};
        auto keeps = [&](int64_t query, int64_t key) {
          return evaluateFormula(visible, query, key, symbols, [&](unsigned literal) {
            return randomLiteral(seed, literal, llvm::divideFloorSigned(query, cell.rows),
                                 llvm::divideFloorSigned(key, cell.keys));
          });
        };
        auto literalHolds = [&](const LiteralRef &literal, int64_t query, int64_t key) {
          return randomLiteral(seed, literal.id, query, key) != literal.negated;
        };
        EXPECT_EQ(find(*visits, shape, call, keeps, literalHolds), "")
            << describe(visible, call, shape);
        return true;
      });
}

/// Literals that are alike on a whole tile, as block masks of the tile's size are, do not cost
/// exactness.
TEST(AlgebraProperty, LiteralsOfWholeTilesAreExact) {
  compareWithLiterals(/*wholeTiles=*/true, [](const auto &...of) { return findDifference(of...); });
}

/// Literals that vary within a tile may cost masks, never pairs.
TEST(AlgebraProperty, LiteralsOfPairsLoseNothing) {
  compareWithLiterals(/*wholeTiles=*/false, [](const auto &...of) { return findLoss(of...); });
}

TEST(AlgebraProperty, CoversEqualBruteForce) {
  compareRelations(
      readSetting("SKIM_ALGEBRA_RELATIONS", 20000) / 10,
      [](RandomRelation &random, mlir::MLIRContext &context) {
        Formula set = causal(context, random.formula(random.within(1, 2)));
        int64_t queryBlock = random.chance(3) ? 0 : random.size();
        int64_t keyBlock = random.size();
        auto cover =
            coverFormula(mlir::UnknownLoc::get(&context), set, queryBlock, keyBlock, kSymbols);
        if (failed(cover))
          return false;
        Call call = random.call();
        std::vector<int64_t> symbols = call.symbols();
        int64_t rows = std::max<int64_t>(queryBlock, 1);
        auto blockHolds = [&](int64_t query, int64_t key) {
          int64_t firstRow = llvm::divideFloorSigned(query, rows) * rows;
          int64_t firstKey = key / keyBlock * keyBlock;
          for (int64_t q = std::max(firstRow, call.base());
               q < std::min(firstRow + rows, call.kvLength); ++q)
            for (int64_t k = firstKey; k < std::min(firstKey + keyBlock, call.kvLength); ++k)
              if (evaluateFormula(set, q, k, symbols, noLiteral))
                return true;
          return false;
        };
        for (int64_t query = call.base(); query < call.kvLength; ++query)
          for (int64_t key = 0; key < call.kvLength; ++key)
            if (evaluateFormula(*cover, query, key, symbols, noLiteral) != blockHolds(query, key)) {
              ADD_FAILURE() << "pair (" << query << ", " << key << ") of the cover by "
                            << queryBlock << " x " << keyBlock << " of\n"
                            << describe(set, call, {rows, keyBlock});
              return true;
            }
        return true;
      });
}

} // namespace
