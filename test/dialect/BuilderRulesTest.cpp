// Types that the builder infers, the exact sets that comparisons become, and its warnings.
#include "test/dialect/BuilderTestSupport.h"

using namespace skim;
using namespace skim::ir;
using mlir::Value;

namespace {

class BuilderRulesTest : public BuilderErrorsTest {
protected:
  /// The integer set of an affine set, with its type.
  static std::string print(Value value) {
    std::string text;
    llvm::raw_string_ostream os(text);
    value.getDefiningOp<AffineSetOp>().getSet().print(os);
    return text + " : " + type(value);
  }
  static std::string type(Value value) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!value)
      return "null";
    os << value.getType();
    return text;
  }
  Value lt(Value lhs, Value rhs) { return b.compare(loc, Comparison::Lt, lhs, rhs); }

  /// Whether pair (q, k) is in a combination of affine sets without symbols.
  static bool contains(Value set, int64_t query, int64_t key) {
    auto holds = [&](Value operand) { return contains(operand, query, key); };
    if (auto inner = set.getDefiningOp<NotOp>())
      return !holds(inner.getSet());
    if (auto both = set.getDefiningOp<AndOp>())
      return llvm::all_of(both.getSets(), holds);
    if (auto either = set.getDefiningOp<OrOp>())
      return llvm::any_of(either.getSets(), holds);
    mlir::IntegerSet integers = set.getDefiningOp<AffineSetOp>().getSet();
    mlir::MLIRContext *context = integers.getContext();
    mlir::AffineExpr replacements[] = {mlir::getAffineConstantExpr(query, context),
                                       mlir::getAffineConstantExpr(key, context)};
    for (auto [expr, isEquality] : llvm::zip(integers.getConstraints(), integers.getEqFlags())) {
      auto value = mlir::cast<mlir::AffineConstantExpr>(expr.replaceDims(replacements)).getValue();
      if (isEquality ? value != 0 : value < 0)
        return false;
    }
    return true;
  }
};

bool holds(Comparison predicate, int64_t lhs, int64_t rhs) {
  switch (predicate) {
  case Comparison::Lt:
    return lhs < rhs;
  case Comparison::Le:
    return lhs <= rhs;
  case Comparison::Gt:
    return lhs > rhs;
  case Comparison::Ge:
    return lhs >= rhs;
  case Comparison::Eq:
    return lhs == rhs;
  case Comparison::Ne:
    return lhs != rhs;
  }
  return false;
}

int64_t floorDiv(int64_t lhs, int64_t rhs) { return lhs / rhs - (lhs % rhs < 0); }

} // namespace

//===-- Positions -----------------------------------------------------------------------------===//

TEST_F(BuilderRulesTest, PositionsHaveTheirCoarsestBlocks) {
  EXPECT_EQ(type(b.div(loc, q(), index(128))), "!skim.map<q / 128 : index>");
  EXPECT_EQ(type(b.div(loc, b.div(loc, q(), index(16)), index(4))), "!skim.map<q / 64 : index>");
  EXPECT_EQ(type(b.add(loc, b.div(loc, k(), index(48)), b.div(loc, k(), index(32)))),
            "!skim.map<k / 16 : index>");
  EXPECT_EQ(type(b.mod(loc, b.div(loc, q(), index(64)), index(4))), "!skim.map<q / 64 : index>");
  EXPECT_EQ(type(b.mod(loc, q(), index(4))), "!skim.map<q : index>");
  EXPECT_EQ(type(b.sub(loc, q(), k())), "!skim.map<q - k : index>");
  EXPECT_EQ(type(b.div(loc, b.sub(loc, k(), q()), index(4))), "!skim.map<q - k : index>");
  EXPECT_EQ(type(b.add(loc, q(), k())), "!skim.map<q, k : index>");
  EXPECT_EQ(type(b.sub(loc, b.div(loc, q(), index(64)), b.div(loc, k(), index(16)))),
            "!skim.map<q / 64, k / 16 : index>");
  EXPECT_EQ(type(b.sub(loc, q(), q())), "!skim.map<: index>");
  Value head = b.uniform(loc, UniformKind::Head);
  EXPECT_EQ(type(b.add(loc, k(), head)), "!skim.map<head, k : index>");
}

TEST_F(BuilderRulesTest, ComparisonsAreExact) {
  // Every predicate, on expressions with floored divisions and remainders of either sign.
  Value blocks =
      b.sub(loc, b.div(loc, b.sub(loc, q(), k()), index(4)), b.mod(loc, b.neg(loc, k()), index(3)));
  auto expected = [](int64_t query, int64_t key) {
    return floorDiv(query - key, 4) - (-key - 3 * floorDiv(-key, 3));
  };
  for (auto predicate : {Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge,
                         Comparison::Eq, Comparison::Ne}) {
    Value set = b.compare(loc, predicate, blocks, index(1));
    ASSERT_TRUE(set);
    for (int64_t query = -9; query < 9; ++query)
      for (int64_t key = -9; key < 9; ++key) {
        int64_t lhs = expected(query, key);
        ASSERT_EQ(contains(set, query, key), holds(predicate, lhs, 1)) << query << ' ' << key;
      }
  }
}

TEST_F(BuilderRulesTest, ExtremaAreDecidedByCases) {
  Value distance = b.sub(loc, q(), k());
  Value lower = b.maximum(loc, b.abs(loc, distance), b.sub(loc, k(), index(3)));
  Value upper = b.minimum(loc, b.relu(loc, b.sub(loc, q(), index(2))), index(5));
  for (auto predicate : {Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge,
                         Comparison::Eq, Comparison::Ne}) {
    Value set = b.compare(loc, predicate, lower, upper);
    ASSERT_TRUE(set);
    for (int64_t query = -9; query < 9; ++query)
      for (int64_t key = -9; key < 9; ++key) {
        int64_t lhs = std::max(std::abs(query - key), key - 3);
        int64_t rhs = std::min(std::max<int64_t>(query - 2, 0), int64_t(5));
        ASSERT_EQ(contains(set, query, key), holds(predicate, lhs, rhs)) << query << ' ' << key;
      }
  }
  EXPECT_EQ(type(lt(b.abs(loc, distance), window())), "!skim.set<q - k>");
  // Arrays have no cases: they are compared at each pair.
  Value start = input(Element::Index, {HeadAxis::None, 1, 0});
  EXPECT_TRUE(lt(b.maximum(loc, start, index(4)), k()).getDefiningOp<CompareOp>());
}

TEST_F(BuilderRulesTest, UniformArithmeticIsLookedThrough) {
  Value window = this->window();
  Value twice = b.add(loc, b.mul(loc, window, index(2)), index(1));
  EXPECT_EQ(print(lt(b.sub(loc, q(), k()), twice)),
            "(d0, d1)[s0] : (-d0 + d1 + s0 * 2 >= 0) : !skim.set<q - k>");
  // What is not quasi-affine is a symbol of its own.
  Value square = b.mul(loc, window, window);
  EXPECT_EQ(type(lt(k(), square)), "!skim.set<k>");
  EXPECT_EQ(lt(k(), square).getDefiningOp<AffineSetOp>().getSymbols().front(), square);
}

TEST_F(BuilderRulesTest, ParametersOfHeadsAreSymbols) {
  Value window = b.parameter(loc, "window", Element::Index, {}, /*perHead=*/true);
  EXPECT_EQ(type(lt(b.sub(loc, q(), k()), window)), "!skim.set<head, q - k>");
}

TEST_F(BuilderRulesTest, UniformComparisons) {
  Value length = b.uniform(loc, UniformKind::KeyLength);
  EXPECT_EQ(print(lt(length, index(4096))), "(d0, d1)[s0] : (-s0 + 4095 >= 0) : !skim.set<>");
}

TEST_F(BuilderRulesTest, IndexMapsMakeComparisons) {
  Value start = input(Element::Index, {HeadAxis::None, 128, 0});
  EXPECT_EQ(type(b.compare(loc, Comparison::Ge, k(), start)), "!skim.set<q / 128, k>");
  EXPECT_TRUE(b.compare(loc, Comparison::Ge, k(), start).getDefiningOp<CompareOp>());
  // An offset keeps its blocks: arithmetic on arrays meets by cells.
  EXPECT_EQ(type(b.add(loc, start, index(4))), "!skim.map<q / 128 : index>");
}

//===-- Axes ----------------------------------------------------------------------------------===//

TEST_F(BuilderRulesTest, AxesMeet) {
  Value rows = f32({HeadAxis::KvHead, 1, 0});
  Value columns = f32({HeadAxis::Head, 0, 1});
  Value distances = f32({HeadAxis::None, 0, 0, true});
  EXPECT_EQ(type(b.add(loc, rows, columns)), "!skim.map<head, q, k : f32>");
  // At token granularity two of q, k and q - k name the pair.
  EXPECT_EQ(type(b.add(loc, distances, columns)), "!skim.map<head, q, k : f32>");
  EXPECT_EQ(type(b.add(loc, distances, f32(Axes::tokens()))), "!skim.map<q, k : f32>");
  EXPECT_EQ(type(b.add(loc, distances, f32({HeadAxis::None, 16, 0}))),
            "!skim.map<q / 16, q - k : f32>");
  EXPECT_EQ(type(b.add(loc, distances, real(1))), "!skim.map<q - k : f32>");
}

TEST_F(BuilderRulesTest, HeadsOfOperands) {
  Value scores = b.dot(loc, queries(), keys());
  EXPECT_EQ(type(scores), "!skim.map<head, q, k : f32>");
  EXPECT_EQ(type(b.dot(loc, keys(), b.reduce(loc, ReduceKind::Mean, keys(), {Axis::key()}, {}))),
            "!skim.map<kv_head, k : f32>");
  EXPECT_EQ(type(b.reduce(loc, ReduceKind::Max, scores, {Axis::group()}, {})),
            "!skim.map<kv_head, q, k : f32>");
  EXPECT_EQ(type(b.reduce(loc, ReduceKind::Max, scores, {Axis::query(), Axis::heads()}, {})),
            "!skim.map<k : f32>");
}

TEST_F(BuilderRulesTest, ReductionsActTogether) {
  Value scores = f32(Axes::tokens(HeadAxis::Head));
  EXPECT_EQ(type(b.reduce(loc, ReduceKind::Sum, scores, {Axis::group()},
                          {Axis::query(64), Axis::diagonal()})),
            "!skim.map<kv_head, q / 64, q - k : f32>");
  EXPECT_EQ(type(b.reduce(loc, ReduceKind::Sum, scores, {Axis::query()}, {Axis::key(16)})),
            "!skim.map<head, k / 16 : f32>");
}

TEST_F(BuilderRulesTest, SetsOfAnyGranularityCombine) {
  Value blocks = b.inputList(loc, "blocks", {HeadAxis::KvHead, 64, 96});
  Value pages = b.inputList(loc, "pages", {HeadAxis::None, 0, 64});
  EXPECT_EQ(type(b.conjunction(loc, {blocks, pages})), "!skim.set<kv_head, q / 64, k / 32>");
  EXPECT_EQ(type(b.disjunction(loc, {near(), near()})), "!skim.set<q - k>");
  EXPECT_EQ(type(b.disjunction(loc, {near(), pages})), "!skim.set<q, k>");
  EXPECT_EQ(type(b.cover(loc, pages, std::nullopt, 128)), "!skim.set<q, k / 128>");
}

TEST_F(BuilderRulesTest, SelectionTakesTheKeyAxisElseDistances) {
  EXPECT_EQ(type(b.topK(loc, f32({HeadAxis::None, 64, 64}), index(8))),
            "!skim.set<q / 64, k / 64>");
  EXPECT_EQ(type(b.topP(loc, f32({HeadAxis::None, 64, 0, true}), real(0.5))),
            "!skim.set<q / 64, q - k>");
  Value count = b.parameter(loc, "count", Element::F32, {}, /*perHead=*/true);
  EXPECT_EQ(type(b.topK(loc, f32({HeadAxis::None, 0, 1}), count)), "!skim.set<head, k>");
}

TEST_F(BuilderRulesTest, WhereKeepsOrRefinesAxes) {
  Value blocks = b.inputList(loc, "blocks", {HeadAxis::Head, 64, 64});
  EXPECT_EQ(type(b.where(loc, f32({HeadAxis::None, 32, 64}), blocks)),
            "!skim.map<head, q / 32, k / 64 : f32>");
  EXPECT_EQ(type(b.where(loc, f32({HeadAxis::None, 0, 0, true}), near())),
            "!skim.map<q - k : f32>");
  EXPECT_EQ(type(b.where(loc, f32({HeadAxis::None, 0, 1}), near())), "!skim.map<q, k : f32>");
}

//===-- Elements ------------------------------------------------------------------------------===//

TEST_F(BuilderRulesTest, IndexBesideF32BecomesF32) {
  EXPECT_EQ(type(b.mul(loc, real(0.5), b.sub(loc, q(), k()))), "!skim.map<q - k : f32>");
  EXPECT_EQ(type(b.exp(loc, k())), "!skim.map<k : f32>");
  EXPECT_EQ(type(b.reduce(loc, ReduceKind::Mean, input(Element::Index, {HeadAxis::None, 0, 1}),
                          {Axis::key()}, {})),
            "!skim.map<: f32>");
  EXPECT_EQ(type(b.reduce(loc, ReduceKind::Max, input(Element::Index, {HeadAxis::None, 0, 1}),
                          {Axis::key()}, {})),
            "!skim.map<: index>");
}

TEST_F(BuilderRulesTest, ConstantsAreEvaluated) {
  EXPECT_EQ(PatternBuilder::getConstantIndex(b.div(loc, index(-7), index(2))), -4);
  EXPECT_EQ(PatternBuilder::getConstantIndex(b.mod(loc, index(-7), index(2))), 1);
  EXPECT_EQ(PatternBuilder::getConstantIndex(b.maximum(loc, index(3), b.abs(loc, index(-5)))), 5);
  EXPECT_EQ(PatternBuilder::getConstantF32(b.minimum(loc, real(0.5), index(2))), 0.5);
  EXPECT_EQ(PatternBuilder::getConstantBool(b.boolConstant(loc, true)), true);
  EXPECT_EQ(PatternBuilder::getConstantIndex(window()), std::nullopt);
  EXPECT_EQ(getConstantSet(lt(index(1), index(2))), true);
  EXPECT_EQ(getConstantSet(b.toSet(loc, b.boolConstant(loc, false))), false);
  // A constant selector chooses its arm.
  Value near = this->near();
  EXPECT_EQ(b.match(loc, index(1), {0, 1}, {b.boolConstant(loc, true), near}), near);
}

//===-- Clauses -------------------------------------------------------------------------------===//

TEST_F(BuilderRulesTest, AllClauses) {
  Value slope = b.parameter(loc, "slope", Element::F32, {}, /*perHead=*/true);
  b.noncausal(loc);
  b.keep(loc, b.conjunction(loc, {near(), lt(b.sub(loc, k(), q()), index(64))}));
  b.restMean(loc, 128, 64);
  b.skip(loc, index(20));
  Value score = b.score(loc);
  Value bias = b.mul(loc, slope, b.sub(loc, q(), k()));
  b.logit(loc, b.sub(loc, score, bias));
  b.sinkLogit(loc, slope);
  b.denseWhen(loc, lt(b.uniform(loc, UniformKind::KeyLength), index(1024)));
  b.denseWhen(loc, b.compare(loc, Comparison::Eq, b.uniform(loc, UniformKind::Layer), index(0)));
  b.compact(loc, b.inputList(loc, "tokens", {HeadAxis::None, 0, 1}));
  EXPECT_EQ(finish(b), R"(
skim.pattern @wrong(%slope: !skim.map<head : f32> {skim.name = "slope"}) attributes {noncausal} {
  %0 = skim.affine_set affine_set<(d0, d1) : (-d0 + d1 + 63 >= 0)> () : () -> !skim.set<q - k>
  %1 = skim.affine_set affine_set<(d0, d1) : (d0 - d1 + 63 >= 0)> () : () -> !skim.set<q - k>
  %2 = skim.and %0, %1 : (!skim.set<q - k>, !skim.set<q - k>) -> !skim.set<q - k>
  skim.keep %2 : !skim.set<q - k>
  skim.rest_mean query 64 key 128
  %3 = skim.constant 2.000000e+01 : f32 -> !skim.map<: f32>
  skim.skip %3 : !skim.map<: f32>
  %4 = skim.score : !skim.map<head, q, k : f32>
  %5 = skim.position affine_map<(d0, d1) -> (d0 - d1)> () : () -> !skim.map<q - k : index>
  %6 = skim.convert %5 : !skim.map<q - k : index> -> !skim.map<q - k : f32>
  %7 = skim.mul %slope, %6 : (!skim.map<head : f32>, !skim.map<q - k : f32>) -> !skim.map<head, q - k : f32>
  %8 = skim.sub %4, %7 : (!skim.map<head, q, k : f32>, !skim.map<head, q - k : f32>) -> !skim.map<head, q, k : f32>
  skim.logit %8 : !skim.map<head, q, k : f32>
  skim.sink_logit %slope : !skim.map<head : f32>
  %9 = skim.uniform kv_len : !skim.map<: index>
  %10 = skim.affine_set affine_set<(d0, d1)[s0] : (-s0 + 1023 >= 0)> (%9) : (!skim.map<: index>) -> !skim.set<>
  %11 = skim.uniform layer : !skim.map<: index>
  %12 = skim.affine_set affine_set<(d0, d1)[s0] : (s0 == 0)> (%11) : (!skim.map<: index>) -> !skim.set<>
  %13 = skim.or %10, %12 : (!skim.set<>, !skim.set<>) -> !skim.set<>
  %14 = skim.input_list "tokens" : !skim.set<k>
  skim.compact %14 : !skim.set<k>
  skim.dense_when %13 : !skim.set<>
}
)");
  EXPECT_EQ(reports, "");
}

//===-- Warnings ------------------------------------------------------------------------------===//

TEST_F(BuilderRulesTest, WarnsOfAllPairs) {
  b.keep(loc, b.topK(loc, b.dot(loc, queries(), b.cast(loc, CastKind::FP8, keys())), index(64)));
  EXPECT_TRUE(succeeded(b.finish(loc)));
  EXPECT_EQ(reports, "warning: this scores all (q, k) pairs, which costs as much as dense "
                     "attention does for them\n"
                     "note: score block means, 'mean(K, 128)', or few rows, 'last(Q, 64)'\n");
}

TEST_F(BuilderRulesTest, WarnsOfDiagonals) {
  Value scores = b.dot(loc, b.last(loc, queries(), index(64)), keys());
  Value diagonals =
      b.topK(loc, b.reduce(loc, ReduceKind::Sum, scores, {}, {Axis::diagonal()}), index(64));
  b.keep(loc, b.disjunction(loc, {diagonals, near()}));
  EXPECT_TRUE(succeeded(b.finish(loc)));
  EXPECT_EQ(reports,
            "warning: each selected diagonal crosses every query tile and keeps one key of a row "
            "in it, so most of "
            "the computed tile is masked\nnote: take whole blocks: 'cover(q / 64, k / 64, ...)'\n");
}

TEST_F(BuilderRulesTest, WarnsOfNoncausalWindow) {
  b.noncausal(loc);
  b.keep(loc, b.disjunction(loc, {lt(k(), index(64)), near()}));
  EXPECT_TRUE(succeeded(b.finish(loc)));
  EXPECT_EQ(reports,
            "warning: in a noncausal pattern this window keeps the whole future of each query\n"
            "note: bound it on both sides: 'q - k < window and k - q < window'\n");
}

TEST_F(BuilderRulesTest, DoesNotWarnOfBoundedWindow) {
  b.noncausal(loc);
  b.keep(loc, b.conjunction(loc, {near(), lt(b.sub(loc, k(), q()), index(64))}));
  EXPECT_TRUE(succeeded(b.finish(loc)));
  EXPECT_EQ(reports, "");
}

TEST_F(BuilderRulesTest, DoesNotWarnOfDenseNoncausal) {
  b.noncausal(loc);
  b.keep(loc, b.boolConstant(loc, true));
  EXPECT_TRUE(succeeded(b.finish(loc)));
  EXPECT_EQ(reports, "");
}

//===-- Life cycle ----------------------------------------------------------------------------===//

TEST_F(BuilderRulesTest, UnfinishedPatternsLeaveTheModule) {
  {
    PatternBuilder unfinished(*module, loc, "unfinished");
  }
  EXPECT_FALSE(module->lookupSymbol("unfinished"));
  EXPECT_TRUE(module->lookupSymbol("wrong"));
}

TEST_F(BuilderRulesTest, WhatIsUnusedGoesAndInputsStay) {
  b.dot(loc, queries(), keys());
  b.input(loc, "given", Element::F32, {HeadAxis::None, 0, 1});
  b.keep(loc, b.boolConstant(loc, true));
  EXPECT_EQ(finish(b), R"(
skim.pattern @wrong {
  %0 = skim.input "given" : !skim.map<k : f32>
  %1 = skim.affine_set affine_set<(d0, d1) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %1 : !skim.set<>
}
)");
  EXPECT_EQ(reports, "");
}
