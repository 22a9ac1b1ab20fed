// What the builder reports of maps and sets, and the repair that it suggests.
#include "test/dialect/BuilderTestSupport.h"

using namespace skim;
using namespace skim::ir;
using mlir::Value;

//===-- Maps ---------------------------------------------------------------------------------===//

TEST_F(BuilderErrorsTest, LastOfKeys) {
  expectError(b.last(loc, keys(), index(64)),
              "error: expected a map with the axis 'q' but got axes 'kv_head, k'\n"
              "note: 'last' takes the last rows of the call, as in 'last(Q, 64)'\n");
}

TEST_F(BuilderErrorsTest, LastByF32) {
  expectError(b.last(loc, queries(), real(0.5)),
              "error: expected a number of rows, an index, but got an f32\n"
              "note: declare it 'index', or write it without a fraction\n");
}

TEST_F(BuilderErrorsTest, LastByPosition) {
  expectError(b.last(loc, queries(), k()),
              "error: expected a number of rows, the same for all positions, but got a map of "
              "index over 'k'\n"
              "note: use a parameter, a constant, or a value without position axes\n");
}

TEST_F(BuilderErrorsTest, DotOfNumbers) {
  expectError(
      b.dot(loc, queries(), f32({HeadAxis::None, 0, 1})),
      "error: expected vectors in 'dot' but got a map of f32 over 'k'\n"
      "note: 'Q', 'K', 'V', inputs of type 'vec' and what is computed from them are vectors\n");
}

TEST_F(BuilderErrorsTest, DotOfDifferentBlocks) {
  Value pooled = b.reduce(loc, ReduceKind::Mean, keys(), {}, {Axis::key(64)});
  expectError(b.dot(loc, keys(), pooled),
              "error: expected equal block sizes but got 'k' and 'k / 64'\n"
              "note: coarsen the finer side with 'into: k / 64'\n");
}

TEST_F(BuilderErrorsTest, ScaleWithPositions) {
  expectError(b.dot(loc, queries(), keys(), f32({HeadAxis::None, 0, 1})),
              "error: expected a scale, the same for all positions, but got a map of f32 over 'k'\n"
              "note: use a parameter, a constant, or a value without position axes\n");
}

TEST_F(BuilderErrorsTest, CastWithScale) {
  expectError(b.cast(loc, CastKind::Int8, keys(), real(2)),
              "error: only 'fp8' takes a scale but got one for 'int8'\n"
              "note: the step of int8 and int4 follows from the vector, bf16 has none\n");
}

TEST_F(BuilderErrorsTest, Int4OfNumbers) {
  expectError(b.cast(loc, CastKind::Int4, real(2)),
              "error: expected vectors for 'int4' but got f32\n"
              "note: use 'bf16' or 'fp8' for numbers\n");
}

TEST_F(BuilderErrorsTest, CastOfBool) {
  expectError(b.cast(loc, CastKind::BF16, b.boolConstant(loc, true)),
              "error: expected vectors or numbers but got a bool\n"
              "note: a bool is a set of pairs, not a number\n");
}

TEST_F(BuilderErrorsTest, WeightIsNoInput) {
  expectError(b.linear(loc, keys(), queries()),
              "error: expected the weight to be an input without position axes but got a map of "
              "vectors over 'head, q'\n"
              "note: declare it as in 'input weight: vec'\n");
}

TEST_F(BuilderErrorsTest, SoftmaxOverAbsentAxis) {
  expectError(b.softmax(loc, f32({HeadAxis::Head, 0, 1}), Axis::query()),
              "error: the map has no axis 'q': its axes are 'head, k'\n");
}

TEST_F(BuilderErrorsTest, SoftmaxOverOtherBlocks) {
  expectError(b.softmax(loc, f32({HeadAxis::Head, 0, 16}), Axis::key()),
              "error: the map has the axis 'k / 16', not 'k'\n"
              "note: write 'over: k / 16'\n");
}

TEST_F(BuilderErrorsTest, SoftmaxOverHeads) {
  expectError(b.softmax(loc, f32({HeadAxis::Head, 0, 1}), Axis::heads()),
              "error: expected a position axis but got 'heads'\n"
              "note: write 'over: k'\n");
}

TEST_F(BuilderErrorsTest, SoftmaxOfVectors) {
  expectError(b.softmax(loc, keys(), Axis::key()),
              "error: expected a map of f32 but got a map of vectors over 'kv_head, k'\n"
              "note: contract vectors with 'dot' first\n");
}

TEST_F(BuilderErrorsTest, SmoothAlongQueries) {
  expectError(b.smooth(loc, f32({HeadAxis::None, 1}), index(3)),
              "error: expected a map with a key axis but got axes 'q'\n"
              "note: 'smooth' is a centred mean along 'k'\n");
}

TEST_F(BuilderErrorsTest, SmoothOfEvenWidth) {
  expectError(b.smooth(loc, f32({HeadAxis::None, 0, 1}), index(4)),
              "error: expected an odd, positive width but got 4\n"
              "note: a centred mean has as many cells before as behind\n");
}

TEST_F(BuilderErrorsTest, ReduceNothing) {
  expectError(b.reduce(loc, ReduceKind::Sum, f32(Axes::tokens()), {}, {}),
              "error: expected an axis to reduce in 'sum'\n"
              "note: write 'over: q' to remove an axis, 'into: k / 128' to coarsen one\n");
}

TEST_F(BuilderErrorsTest, ReduceTruth) {
  expectError(
      b.reduce(loc, ReduceKind::Max, input(Element::Bool, Axes::tokens()), {Axis::key()}, {}),
      "error: cannot take the max of truth values\n"
      "note: round a set up to blocks with 'cover(q / 64, k / 64, ...)'\n");
}

TEST_F(BuilderErrorsTest, ReduceOverOtherBlocks) {
  expectError(b.reduce(loc, ReduceKind::Max, f32({HeadAxis::None, 64, 64}), {Axis::query()}, {}),
              "error: the map has the axis 'q / 64', not 'q'\n"
              "note: write 'over: q / 64'\n");
}

TEST_F(BuilderErrorsTest, ReduceOverGroupWithoutHeads) {
  expectError(b.reduce(loc, ReduceKind::Max, keys(), {Axis::group()}, {}),
              "error: the map has no query heads to join: its axes are 'kv_head, k'\n"
              "note: drop 'over: group'\n");
}

TEST_F(BuilderErrorsTest, ReduceIntoHeads) {
  expectError(b.reduce(loc, ReduceKind::Max, queries(), {}, {Axis::heads()}),
              "error: cannot reduce into 'heads'\n"
              "note: write 'over: heads'\n");
}

TEST_F(BuilderErrorsTest, ReduceIntoIndivisibleBlocks) {
  expectError(b.reduce(loc, ReduceKind::Sum, f32({HeadAxis::None, 0, 48}), {}, {Axis::key(128)}),
              "error: cannot coarsen 'k / 48' into 'k / 128': 48 does not divide 128\n"
              "note: choose a multiple, such as 'k / 144'\n");
}

TEST_F(BuilderErrorsTest, ReduceIntoAbsentAxis) {
  expectError(b.reduce(loc, ReduceKind::Sum, keys(), {}, {Axis::query(128)}),
              "error: the map has no axis to coarsen into 'q / 128'\n");
}

TEST_F(BuilderErrorsTest, ReduceIntoSameBlocks) {
  expectError(b.reduce(loc, ReduceKind::Sum, keys(), {}, {Axis::key(1)}),
              "error: nothing to reduce: the map has the axes 'kv_head, k' already\n");
}

TEST_F(BuilderErrorsTest, ReduceIntoNoBlock) {
  expectError(b.reduce(loc, ReduceKind::Sum, keys(), {}, {Axis::key(0)}),
              "error: expected a positive block size but got 0\n");
}

TEST_F(BuilderErrorsTest, ReduceAxisTwice) {
  expectError(b.reduce(loc, ReduceKind::Sum, keys(), {Axis::key()}, {Axis::key(64)}),
              "error: 'over: k' and 'into: k / 64' both reduce the same axis\n");
}

TEST_F(BuilderErrorsTest, ReduceOverQueriesAndIntoDiagonals) {
  expectError(
      b.reduce(loc, ReduceKind::Sum, f32(Axes::tokens()), {Axis::query()}, {Axis::diagonal()}),
      "error: 'over: q' and 'into: q - k' both reduce the same axis\n");
}

TEST_F(BuilderErrorsTest, GatherBlocks) {
  expectError(
      b.reduce(loc, ReduceKind::Sum, f32({HeadAxis::None, 64, 64}), {}, {Axis::diagonal()}),
      "error: cannot gather axes 'q / 64, k / 64' into 'q - k'\n"
      "note: diagonals are gathered from a map with the axes 'q' and 'k', without blocks\n");
}

TEST_F(BuilderErrorsTest, WhereWithinCells) {
  expectError(b.where(loc, f32({HeadAxis::None, 64, 64}), near()),
              "error: the set changes within a cell of the map: the map has axes 'q / 64, k / 64' "
              "and the set 'q - k'\n"
              "note: round it up: 'cover(q / 64, k / 64, ...)'\n");
}

TEST_F(BuilderErrorsTest, WhereOfSet) {
  expectError(b.where(loc, near(), near()),
              "error: expected a map but got a set\n"
              "note: a set is what 'keep', 'and', 'or', 'not', 'cover' and 'where' take\n");
}

//===-- Sets ---------------------------------------------------------------------------------===//

TEST_F(BuilderErrorsTest, KeepParameter) {
  b.keep(loc, window());
  expectReports("error: expected a set of pairs but got an index ('window')\n"
                "note: 'window' is a count of tokens; did you mean 'q - k < window'?\n");
}

TEST_F(BuilderErrorsTest, KeepNumber) {
  b.keep(loc, index(4096));
  expectReports("error: expected a set of pairs but got an index\n"
                "note: did you mean a comparison, such as 'q - k < 4096'?\n");
}

TEST_F(BuilderErrorsTest, KeepF32) {
  b.keep(loc, real(0.5));
  expectReports("error: expected a set of pairs but got an f32\n"
                "note: compare it with another value\n");
}

TEST_F(BuilderErrorsTest, KeepVectors) {
  b.keep(loc, keys());
  expectReports("error: expected a set of pairs but got a map of vectors over 'kv_head, k'\n"
                "note: score vectors with 'dot', then select from the scores\n");
}

TEST_F(BuilderErrorsTest, KeepScores) {
  b.keep(loc, f32({HeadAxis::Head, 64, 64}));
  expectReports("error: expected a set of pairs but got a map of f32 over 'head, q / 64, k / 64'\n"
                "note: compare it, or select from it with 'top_k' or 'top_p'\n");
}

TEST_F(BuilderErrorsTest, CompareSets) {
  expectError(b.compare(loc, Comparison::Lt, near(), index(1)),
              "error: cannot compare a set\n"
              "note: combine sets and truth values with 'and', 'or' and 'not'\n");
}

TEST_F(BuilderErrorsTest, CompareVectors) {
  expectError(b.compare(loc, Comparison::Lt, index(1), keys()),
              "error: cannot compare a map of vectors over 'kv_head, k'\n"
              "note: contract vectors with 'dot' first\n");
}

TEST_F(BuilderErrorsTest, CompareDifferentBlocks) {
  expectError(
      b.compare(loc, Comparison::Lt, f32({HeadAxis::None, 0, 24}), f32({HeadAxis::None, 0, 16})),
      "error: expected equal block sizes but got 'k / 24' and 'k / 16'\n"
      "note: coarsen both sides with 'into: k / 48'\n");
}

TEST_F(BuilderErrorsTest, SelectAlongNothing) {
  expectError(
      b.topK(loc, f32({HeadAxis::Head, 64}), index(8)),
      "error: no axis to select along: the map has axes 'head, q / 64', neither 'k' nor 'q - k'\n"
      "note: keep a key axis when you reduce, as in 'sum(p, over: q)'\n");
}

TEST_F(BuilderErrorsTest, SelectWithPositions) {
  expectError(b.topK(loc, f32({HeadAxis::Head, 0, 1}), k()),
              "error: expected a number of cells, the same for all positions, but got a map of "
              "index over 'k'\n"
              "note: use a parameter, a constant, or a value without position axes\n");
}

TEST_F(BuilderErrorsTest, SelectFromSet) {
  expectError(b.topK(loc, near(), index(8)),
              "error: expected a map of f32 but got a set\n"
              "note: a set is what 'keep', 'and', 'or', 'not', 'cover' and 'where' take\n");
}

TEST_F(BuilderErrorsTest, ShareAboveOne) {
  expectError(b.topP(loc, f32({HeadAxis::Head, 0, 1}), real(1.5)),
              "error: expected a share from 0 to 1 but got 1.5\n");
}

TEST_F(BuilderErrorsTest, CoverByNoBlock) {
  expectError(b.cover(loc, near(), 0, 64), "error: expected positive block sizes but got 0\n");
}

TEST_F(BuilderErrorsTest, CoverOfNumber) {
  expectError(b.cover(loc, index(3), 64, 64),
              "error: expected a set of pairs but got an index\n"
              "note: did you mean a comparison, such as 'q - k < 4096'?\n");
}

TEST_F(BuilderErrorsTest, EmptyConjunction) {
  expectError(b.conjunction(loc, {}), "error: 'and' needs a set\n");
}

TEST_F(BuilderErrorsTest, ErrorsOfSeveralOperands) {
  expectError(b.disjunction(loc, {index(1), near(), index(2)}),
              "error: expected a set of pairs but got an index\n"
              "note: did you mean a comparison, such as 'q - k < 4096'?\n"
              "error: expected a set of pairs but got an index\n"
              "note: did you mean a comparison, such as 'q - k < 4096'?\n");
}

TEST_F(BuilderErrorsTest, MatchLabelTwice) {
  Value kind = input(Element::Index, {HeadAxis::Head});
  expectError(b.match(loc, kind, {1, 1}, {near(), near()}),
              "error: label 1 is listed twice\n"
              "note: labels of a 'match' are distinct\n");
}

TEST_F(BuilderErrorsTest, MatchOnPosition) {
  expectError(
      b.match(loc, q(), {1}, {near()}),
      "error: expected a selector, the same for all positions, but got a map of index over 'q'\n"
      "note: use a parameter, a constant, or a value without position axes\n");
}

TEST_F(BuilderErrorsTest, MatchOnF32) {
  expectError(b.match(loc, real(1), {1}, {near()}),
              "error: expected a selector, an index, but got an f32\n"
              "note: declare it 'index', or write it without a fraction\n");
}

TEST_F(BuilderErrorsTest, MatchWithoutArm) {
  expectError(b.match(loc, index(2), {1}, {near()}), "error: no arm for the value 2\n"
                                                     "note: add an arm '_' for all other values\n");
}

TEST_F(BuilderErrorsTest, MatchWithoutAnyArm) {
  expectError(
      b.match(loc, index(2), {}, {}),
      "error: expected one label for each arm, and at least one, but got 0 labels and 0 arms\n");
}
