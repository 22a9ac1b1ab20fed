#include "passes/algebra/Formula.h"

#include "passes/algebra/Evaluate.h"
#include "test/passes/algebra/TestSupport.h"

#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <string>

using namespace skim;
using namespace skim::test;

namespace {

class FormulaTest : public testing::Test {
protected:
  static std::string text(const Formula &formula) {
    std::string result;
    llvm::raw_string_ostream stream(result);
    formula.print(stream);
    return result;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Formula window = affine(context, "a - q + k - 1 >= 0");
  Formula sink = affine(context, "b - k - 1 >= 0");
  Formula mask = Formula::literal(0);
  Formula flag = Formula::literal(1);
};

TEST_F(FormulaTest, ConstantsAreAbsorbed) {
  EXPECT_TRUE(Formula::conjunction({mask, Formula::getFalse()}).isFalse());
  EXPECT_TRUE(Formula::disjunction({mask, Formula::getTrue()}).isTrue());
  EXPECT_TRUE(Formula::conjunction({}).isTrue());
  EXPECT_TRUE(Formula::disjunction({}).isFalse());
  EXPECT_EQ(text(Formula::conjunction({Formula::getTrue(), mask})), "literal 0");
  EXPECT_TRUE(Formula::negation(Formula::getTrue()).isFalse());
  EXPECT_TRUE(affine(context, "1 >= 0, 0 == 0").isTrue());
  EXPECT_TRUE(affine(context, "k >= 0, -1 >= 0").isFalse());
  EXPECT_TRUE(Formula::choice({{0, Formula::getTrue()}, {1, Formula::getTrue()}}).isTrue());
}

TEST_F(FormulaTest, NestedOperandsAreFlattened) {
  Formula nested = Formula::disjunction({Formula::disjunction({mask, flag}), window});
  EXPECT_EQ(nested.getOperands().size(), 3U);
  EXPECT_EQ(text(Formula::negation(Formula::negation(mask))), "literal 0");
}

TEST_F(FormulaTest, NegationReachesTheLeaves) {
  Formula diagonal = affine(context, "q - k == 0");
  Formula formula = Formula::negation(Formula::conjunction({diagonal, Formula::negation(mask)}));
  EXPECT_EQ(text(formula.negationNormalForm()),
            "(affine_set<(d0, d1)[s0, s1, s2, s3, s4] : (-(d0 - d1) - 1 >= 0)> or "
            "affine_set<(d0, d1)[s0, s1, s2, s3, s4] : (d0 - d1 - 1 >= 0)> or literal 0)");
  EXPECT_EQ(text(Formula::negation(Formula::disjunction({mask, flag})).negationNormalForm()),
            "(not literal 0 and not literal 1)");
}

TEST_F(FormulaTest, NegatedChoiceIsChoiceOfNegations) {
  Formula choice = Formula::choice({{3, mask}, {4, Formula::getTrue()}});
  EXPECT_EQ(text(Formula::negation(choice).negationNormalForm()),
            "choice (literal 3: not literal 0) (literal 4: false)");
}

TEST_F(FormulaTest, NormalFormKeepsTheValue) {
  Formula formula = Formula::negation(
      Formula::disjunction({Formula::conjunction({window, Formula::negation(sink)}),
                            affine(context, "(q - k) mod 4 == 0"),
                            Formula::choice({{0, Formula::negation(window)}, {1, flag}})}));
  Formula normal = formula.negationNormalForm();
  Call call{.queryLength = 20, .kvLength = 20, .a = 5, .b = 3};
  for (bool first : {false, true})
    for (int64_t query = 0; query < 20; ++query)
      for (int64_t key = 0; key < 20; ++key) {
        auto holds = [&](unsigned literal) { return (literal == 0) == first; };
        EXPECT_EQ(evaluateFormula(formula, query, key, call.symbols(), holds),
                  evaluateFormula(normal, query, key, call.symbols(), holds));
      }
}

} // namespace
