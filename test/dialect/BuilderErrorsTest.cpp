// What the builder reports of declarations, arithmetic and clauses, and the repair that it
// suggests.
#include "test/dialect/BuilderTestSupport.h"

using namespace skim;
using namespace skim::ir;
using mlir::Value;

//===-- Declarations -------------------------------------------------------------------------===//

TEST_F(BuilderErrorsTest, VectorParameter) {
  expectError(b.parameter(loc, "x", Element::Vec), "error: parameter 'x' cannot be a vector\n"
                                                   "note: declare an 'input' of type 'vec'\n");
}

TEST_F(BuilderErrorsTest, ParameterTwice) {
  b.parameter(loc, "x", Element::F32);
  expectError(b.parameter(loc, "x", Element::Index), "error: parameter 'x' is declared twice\n");
}

TEST_F(BuilderErrorsTest, DefaultOfOtherType) {
  expectError(b.parameter(loc, "x", Element::Index, b.f32Attr(0.5)),
              "error: expected a default of type index for parameter 'x'\n");
}

TEST_F(BuilderErrorsTest, InputOverDistanceAndKey) {
  expectError(f32({HeadAxis::None, 0, 4, true}),
              "error: axis 'q - k' cannot stand beside 'k / 4'\n"
              "note: two of 'q', 'k' and 'q - k' name the pair: write 'q, k'\n");
}

TEST_F(BuilderErrorsTest, InputOverDistanceAndQuery) {
  expectError(f32({HeadAxis::None, 1, 0, true}),
              "error: axis 'q - k' cannot stand beside 'q'\n"
              "note: two of 'q', 'k' and 'q - k' name the pair: write 'q, k'\n");
}

TEST_F(BuilderErrorsTest, InputBlockNotPositive) {
  expectError(f32({HeadAxis::None, -4, 0}), "error: expected a positive block size\n");
}

TEST_F(BuilderErrorsTest, ListWithoutKeyAxis) {
  expectError(b.inputList(loc, "rows", {HeadAxis::None, 64, 0}),
              "error: expected a list with a key axis but got axes 'q / 64'\n"
              "note: a list holds indices of key blocks, as in 'list[q / 64, k / 64]'\n");
}

TEST_F(BuilderErrorsTest, InputWithoutName) {
  expectError(b.input(loc, "", Element::F32, {HeadAxis::None, 0, 1}),
              "error: expected a name for the input\n");
}

TEST_F(BuilderErrorsTest, InputWithOtherType) {
  b.input(loc, "x", Element::F32, {HeadAxis::None, 0, 1});
  expectError(b.input(loc, "x", Element::Bool, {HeadAxis::None, 0, 1}),
              "error: input 'x' is declared before with another type\n");
}

//===-- Arithmetic ---------------------------------------------------------------------------===//

TEST_F(BuilderErrorsTest, AddSet) {
  expectError(b.add(loc, near(), index(1)),
              "error: expected a number but got a set\n"
              "note: a set is what 'keep', 'and', 'or', 'not', 'cover' and 'where' take\n");
}

TEST_F(BuilderErrorsTest, AddBool) {
  expectError(b.add(loc, b.boolConstant(loc, true), index(1)),
              "error: expected a number but got a bool\n"
              "note: combine truth values with 'and', 'or' and 'not'\n");
}

TEST_F(BuilderErrorsTest, ModOfF32) {
  expectError(b.mod(loc, real(1.5), index(2)),
              "error: expected index operands of '%' but got an f32 and an f32\n");
}

TEST_F(BuilderErrorsTest, DivideByZero) {
  expectError(b.div(loc, q(), index(0)), "error: expected a positive divisor but got 0\n");
}

TEST_F(BuilderErrorsTest, DividePositionByParameter) {
  expectError(
      b.div(loc, q(), window()),
      "error: positions are divided by constants only, but the divisor is an index ('window')\n"
      "note: declare the divisor 'constexpr'\n");
}

TEST_F(BuilderErrorsTest, MultiplyPositions) {
  expectError(b.mul(loc, q(), k()), "error: positions are multiplied by constants only, but the "
                                    "factor is a map of index over 'q'\n");
}

TEST_F(BuilderErrorsTest, MultiplyPositionByParameter) {
  expectError(
      b.mul(loc, window(), q()),
      "error: positions are multiplied by constants only, but the factor is an index ('window')\n"
      "note: declare the factor 'constexpr'\n");
}

TEST_F(BuilderErrorsTest, PositionTooLarge) {
  Value big = b.mul(loc, q(), index(int64_t(1) << 30));
  expectError(b.mul(loc, big, index(1 << 20)),
              "error: the index expression may not fit in 64 bits\n"
              "note: positions and indices of a launch reach 2^31: use smaller factors\n");
}

TEST_F(BuilderErrorsTest, OffsetTooLarge) {
  Value big = b.add(loc, q(), index(int64_t(1) << 61));
  expectError(b.add(loc, big, index(std::numeric_limits<int64_t>::max())),
              "error: the index expression may not fit in 64 bits\n"
              "note: positions and indices of a launch reach 2^31: use smaller factors\n");
}

TEST_F(BuilderErrorsTest, ComparedPositionTooLarge) {
  Value big = b.mul(loc, q(), index(int64_t(1) << 31));
  expectError(b.compare(loc, Comparison::Lt, big, b.neg(loc, big)),
              "error: the index expression may not fit in 64 bits\n"
              "note: positions and indices of a launch reach 2^31: use smaller factors\n");
}

TEST_F(BuilderErrorsTest, ConstantTooLarge) {
  Value big = index(std::numeric_limits<int64_t>::max());
  expectError(b.add(loc, big, big), "error: the constant expression does not fit in 64 bits\n");
}

TEST_F(BuilderErrorsTest, NegatedConstantTooLarge) {
  expectError(b.neg(loc, index(std::numeric_limits<int64_t>::min())),
              "error: the constant expression does not fit in 64 bits\n");
}

TEST_F(BuilderErrorsTest, BlocksDoNotMeet) {
  expectError(b.add(loc, f32({HeadAxis::None, 64}), f32({HeadAxis::None, 128})),
              "error: expected equal block sizes but got 'q / 64' and 'q / 128'\n"
              "note: coarsen the finer side with 'into: q / 128'\n");
}

TEST_F(BuilderErrorsTest, DistanceDoesNotMeetBlocks) {
  expectError(
      b.mul(loc, f32({HeadAxis::None, 0, 0, true}), f32({HeadAxis::None, 0, 16})),
      "error: axis 'q - k' does not meet 'k / 16'\n"
      "note: distances meet positions at token granularity: leave 'q' and 'k' without blocks\n");
}

TEST_F(BuilderErrorsTest, IndexAndVector) {
  // An index becomes f32 and scales the vector.
  Value scaled = b.mul(loc, keys(), index(2));
  ASSERT_TRUE(scaled);
  EXPECT_EQ(mlir::cast<MapType>(scaled.getType()).getElement(), Element::Vec);
  expectError(b.exp(loc, near()),
              "error: expected a number but got a set\n"
              "note: a set is what 'keep', 'and', 'or', 'not', 'cover' and 'where' take\n");
}

TEST_F(BuilderErrorsTest, LogOfBool) {
  expectError(b.log(loc, b.boolConstant(loc, true)),
              "error: expected a number but got a bool\n"
              "note: a bool is a set of pairs, not a number\n");
}

//===-- Clauses ------------------------------------------------------------------------------===//

TEST_F(BuilderErrorsTest, NoKeep) {
  EXPECT_TRUE(failed(b.finish(loc)));
  EXPECT_EQ(reports, "error: pattern 'wrong' has no 'keep' clause\n"
                     "note: say which keys each query keeps: 'keep q - k < 4096'\n");
}

TEST_F(BuilderErrorsTest, TwoKeeps) {
  b.keep(loc, near());
  b.keep(loc, near());
  expectReports("error: a pattern has at most one 'keep' clause\n"
                "note: the first is here\n");
}

TEST_F(BuilderErrorsTest, RestOfNoBlock) {
  b.keep(loc, near());
  b.restMean(loc, 0, 128);
  expectReports("error: expected positive block sizes in 'rest mean' but got 0 and 128\n");
}

TEST_F(BuilderErrorsTest, SkipUnderMap) {
  b.keep(loc, near());
  b.skip(loc, f32({HeadAxis::None, 0, 1}));
  expectReports(
      "error: expected a threshold, the same for all positions, but got a map of f32 over 'k'\n"
      "note: use a parameter, a constant, or a value without position axes\n");
}

TEST_F(BuilderErrorsTest, LogitOfBlocks) {
  b.keep(loc, near());
  b.logit(loc, f32({HeadAxis::None, 64, 64}));
  expectReports("error: expected a logit for each pair but got blocks: axes 'q / 64, k / 64'\n"
                "note: write an expression of 's', 'q' and 'k'\n");
}

TEST_F(BuilderErrorsTest, SinkLogitOfPositions) {
  b.keep(loc, near());
  b.sinkLogit(loc, b.toF32(loc, q()));
  expectReports("error: expected a logit for each head, the same for all positions, but got a map "
                "of f32 over 'q'\n"
                "note: use a parameter, a constant, or a value without position axes\n");
}

TEST_F(BuilderErrorsTest, DenseWhenOfPositions) {
  b.keep(loc, near());
  b.denseWhen(loc, near());
  expectReports(
      "error: expected a condition without positions but got a set over 'q - k'\n"
      "note: 'dense when' is decided once for a request and head, as in 'kv_len < 4096'\n");
}

TEST_F(BuilderErrorsTest, CompactOfPairs) {
  b.keep(loc, near());
  b.compact(loc, near());
  expectReports(
      "error: expected a set over 'k' but got axes 'q - k'\n"
      "note: tokens are gathered once for all queries: reduce over 'q' before you select\n");
}

TEST_F(BuilderErrorsTest, NoncausalTwice) {
  b.keep(loc, near());
  b.noncausal(loc);
  b.noncausal(loc);
  expectReports("error: a pattern has at most one 'noncausal' clause\n");
}

TEST_F(BuilderErrorsTest, NoncausalDistanceInput) {
  b.keep(loc, input(Element::Bool, {HeadAxis::None, 0, 0, true}));
  b.noncausal(loc);
  EXPECT_TRUE(failed(b.finish(loc)));
  EXPECT_EQ(reports, "error: an input over 'q - k' cannot stand in a noncausal pattern\n"
                     "note: it holds distances from 0 on: use an input over 'q, k'\n");
}

TEST_F(BuilderErrorsTest, ScoreOutsideLogit) {
  b.keep(loc, b.topK(loc, b.score(loc), index(8)));
  EXPECT_TRUE(failed(b.finish(loc)));
  EXPECT_NE(reports.find("expected the score to reach 'skim.logit' only"), std::string::npos);
}

//===-- Null operands ------------------------------------------------------------------------===//

TEST_F(BuilderErrorsTest, NullInNullOut) {
  Value null;
  for (Value result : {b.add(loc, null, q()),
                       b.neg(loc, null),
                       b.exp(loc, null),
                       b.toF32(loc, null),
                       b.last(loc, null, index(1)),
                       b.dot(loc, null, keys()),
                       b.cast(loc, CastKind::FP8, null),
                       b.linear(loc, keys(), null),
                       b.softmax(loc, null, Axis::key()),
                       b.smooth(loc, null, index(3)),
                       b.reduce(loc, ReduceKind::Sum, null, {Axis::key()}, {}),
                       b.where(loc, null, near()),
                       b.compare(loc, Comparison::Lt, null, q()),
                       b.topK(loc, null, index(1)),
                       b.topP(loc, null, real(1)),
                       b.cover(loc, null, 64, 64),
                       b.conjunction(loc, {near(), null}),
                       b.complement(loc, null),
                       b.match(loc, null, {0}, {near()}),
                       b.toSet(loc, null)})
    EXPECT_FALSE(result);
  b.keep(loc, null);
  b.skip(loc, null);
  b.logit(loc, null);
  b.sinkLogit(loc, null);
  b.denseWhen(loc, null);
  b.compact(loc, null);
  EXPECT_EQ(reports, "");
  // The pattern has no set to keep; whoever made the null value reported why.
  EXPECT_TRUE(failed(b.finish(loc)));
}
