// Rules 14 to 16: `match`, values that a launch gives, and invariance.
#include "Run.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace skim::reference;
using namespace skim::reference::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

TEST(ReferenceRules, Rule14_MatchChoosesForEachHead) {
  Problem problem = makeProblem(Shape{.queryHeads = 3, .lengths = {{1, 4}}});
  problem.inputs["kind"] = {{3}, {1, 0, 5}};
  Result result = run("pattern p { input kind: index[head]"
                      "  keep match kind { 0: k < 1  1: k < 2  _: k < 3 } }",
                      problem);
  EXPECT_THAT(kept(result, problem, 0, 0), ElementsAre("1100"));
  EXPECT_THAT(kept(result, problem, 0, 1), ElementsAre("1000"));
  EXPECT_THAT(kept(result, problem, 0, 2), ElementsAre("1110"));
  EXPECT_FALSE(result.unlistedLabel);
}

TEST(ReferenceRules, Rule14_AnUnlistedInputKeepsNothingAndIsNoted) {
  Problem problem = makeProblem(Shape{.queryHeads = 2, .lengths = {{1, 2}}});
  problem.inputs["kind"] = {{2}, {0, 7}};
  Result result =
      run("pattern p { input kind: index[head]  keep match kind { 0: true } }", problem);
  EXPECT_THAT(kept(result, problem, 0, 0), ElementsAre("11"));
  EXPECT_THAT(kept(result, problem, 0, 1), ElementsAre("00"));
  EXPECT_TRUE(result.unlistedLabel);
}

TEST(ReferenceRules, Rule14_AnUnlistedHostValueIsAnError) {
  Problem problem = makeProblem(1, 2);
  problem.parameters["kind"] = {7};
  Error error = fail("pattern p(kind: index) { keep match kind { 0: true } }", problem);
  EXPECT_EQ(error.message, "'match' lists no value 7");
  EXPECT_TRUE(error.range.isValid());
}

TEST(ReferenceRules, Rule14_AComputedSelectorIsAValueOfTheDevice) {
  Problem problem = makeProblem(1, 2);
  for (const char *selector : {"kind + 1", "kv_len"}) {
    Result result =
        run("pattern p(kind: index = 1) { keep match " + std::string(selector) + " { 0: true } }",
            problem);
    EXPECT_THAT(kept(result, problem), ElementsAre("00")) << selector;
    EXPECT_TRUE(result.unlistedLabel) << selector;
  }
}

TEST(ReferenceRules, Rule15_SharesAndThresholdsOfTheHostAreChecked) {
  Problem problem = makeProblem(1, 4);
  problem.inputs["x"] = {{4}, {1, 2, 3, 4}};
  for (double mass : {-0.5, 1.25}) {
    problem.parameters["mass"] = {mass};
    Error error = fail("pattern p(mass: f32) { input x: f32[k] keep top_p(x, mass) }", problem);
    EXPECT_THAT(error.message, HasSubstr("parameter 'mass': expected a number from 0 to 1 but"));
    EXPECT_TRUE(error.range.isValid());
    // What is computed is a value of the device, and taken as it is.
    run("pattern p(mass: f32) { input x: f32[k] keep top_p(x, mass * 1) }", problem);
  }
  problem.parameters = {{"nats", {-3}}};
  EXPECT_EQ(
      fail("pattern p(nats: index) { input x: f32[k] keep true skip nats under max }", problem)
          .message,
      "parameter 'nats': expected a number from 0 up but got -3");
}

TEST(ReferenceRules, Rule15_ListsAreSets) {
  Problem problem = makeProblem(1, 5);
  problem.inputs["x"] = {{5}, {3, 0, 3, -1, 1}};
  EXPECT_THAT(keptBy("pattern p { input x: list[k] keep x }", problem), ElementsAre("11010"));
  problem.inputs["x_counts"] = {{}, {4}};
  EXPECT_THAT(keptBy("pattern p { input x: list[k] keep x }", problem), ElementsAre("10010"));
  problem.inputs["x"].data = {0, -1, 3, 3, 1};
  EXPECT_THAT(keptBy("pattern p { input x: list[k] keep x }", problem), ElementsAre("10010"));
}

TEST(ReferenceRules, Rule15_EntriesOutsideSelectNothingAndAreNoted) {
  Problem problem = makeProblem(1, 5);
  problem.inputs["x"] = {{4}, {1, 5, -2, 1e9}};
  Result result = run("pattern p { input x: list[k] keep x }", problem);
  EXPECT_THAT(kept(result, problem), ElementsAre("01000"));
  EXPECT_TRUE(result.indexOutOfRange);
  problem.inputs["x"].data = {1, -1, 4, 0};
  EXPECT_FALSE(run("pattern p { input x: list[k] keep x }", problem).indexOutOfRange);
  // So do counts beyond the capacity.
  problem.inputs["x_counts"] = {{}, {5}};
  result = run("pattern p { input x: list[k] keep x }", problem);
  EXPECT_THAT(kept(result, problem), ElementsAre("00000"));
  EXPECT_TRUE(result.indexOutOfRange);
}

TEST(ReferenceRules, Rule15_ListsAreCheckedAlsoWhereTheyDoNotMatter) {
  Problem problem = makeProblem(Shape{.lengths = {{1, 5}, {0, 5}}});
  problem.inputs["x"] = {{2, 1}, {9, 0}};
  EXPECT_TRUE(run("pattern p { input x: list[k] keep true }", problem).indexOutOfRange);
  problem.inputs["x"].data = {0, 9}; // The second request has no rows.
  EXPECT_FALSE(run("pattern p { input x: list[k] keep x }", problem).indexOutOfRange);
}

TEST(ReferenceRules, Rule15_ListsOfBlocksForEachQueryBlock) {
  // Rows 3 to 6 lie in query blocks 0 and 1; the array starts with the block of row 3.
  Problem problem = makeProblem(Shape{.queryHeads = 2, .lengths = {{4, 7}}});
  problem.inputs["x"] = {{2, 2, 2}, {0, -1, 1, 0, 1, 1, 0, 0}};
  Result result = run("pattern p { input x: list[head, q / 4, k / 4] keep x }", problem);
  EXPECT_THAT(kept(result, problem, 0, 0), ElementsAre("1111000", "1111100", "1111110", "1111111"));
  EXPECT_THAT(kept(result, problem, 0, 1), ElementsAre("0000000", "1111000", "1111000", "1111000"));
}

TEST(ReferenceRules, Rule15_InputsStartAtTheFirstRowsBlock) {
  Problem problem = makeProblem(2, 6);
  // Rows 4 and 5 both lie in block 2 of two: one entry.
  problem.inputs["x"] = {{1, 3}, {0, 1, 1}};
  EXPECT_THAT(keptBy("pattern p { input x: bool[q / 2, k / 2] keep x }", problem),
              ElementsAre("001110", "001111"));
}

TEST(ReferenceRules, Rule15_HostValuesAreChecked) {
  Problem problem = makeProblem(1, 5);
  const char *text =
      "pattern p(n: index, f: f32 = 0.5) { input x: f32[k / 2] keep x > f and k < n }";
  EXPECT_EQ(fail(text, problem).message, "parameter 'n' has no value");
  problem.parameters["n"] = {1.5};
  EXPECT_EQ(fail(text, problem).message, "parameter 'n': expected an index");
  problem.parameters["n"] = {1, 2};
  EXPECT_EQ(fail(text, problem).message, "parameter 'n': expected 1 values but got 2");
  problem.parameters["n"] = {1};
  problem.parameters["m"] = {1};
  EXPECT_EQ(fail(text, problem).message, "pattern 'p' has no parameter 'm'");
  problem.parameters.erase("m");
  EXPECT_EQ(fail(text, problem).message, "input 'x' has no value");
  problem.inputs["x"] = {{2}, {1, 2}};
  EXPECT_EQ(fail(text, problem).message,
            "input 'x': expected at least 3 entries along 'k / 2' but got 2");
  problem.inputs["x"] = {{1, 1, 3}, {1, 2, 3}};
  EXPECT_EQ(fail(text, problem).message, "input 'x': expected 1 axes but got 3");
  problem.inputs["x"] = {{3}, {1, 2}};
  EXPECT_EQ(fail(text, problem).message, "input 'x': size of the data does not fit its shape");
  problem.inputs["x"] = {{3}, {1, 2, 3}};
  EXPECT_EQ(run(text, problem).kept.size(), 5U);
}

TEST(ReferenceRules, Rule15_BatchesAreChecked) {
  auto message = [](auto change) {
    Problem problem =
        makeProblem(Shape{.queryHeads = 2, .kvHeads = 2, .lengths = {{2, 3}, {1, 2}}});
    change(problem);
    return fail("pattern p { keep true }", problem).message;
  };
  EXPECT_THAT(message([](Problem &p) { p.cuSeqlensQ = {0, 2}; }), HasSubstr("cu_seqlens_q"));
  EXPECT_THAT(message([](Problem &p) { p.cuSeqlensQ = {0, 3, 2}; }), HasSubstr("cu_seqlens_q"));
  EXPECT_THAT(message([](Problem &p) { p.kvLens[0] = -1; }), HasSubstr("kv_lens"));
  EXPECT_THAT(message([](Problem &p) { p.kvLens[0] = 9; }), HasSubstr("operand 'k'"));
  EXPECT_THAT(message([](Problem &p) { p.q.data.pop_back(); }), HasSubstr("operand 'q'"));
  EXPECT_THAT(message([](Problem &p) { p.q.heads = 0; }), HasSubstr("number of heads"));
  EXPECT_THAT(message([](Problem &p) { p.q = {3, 1, 4, std::vector<double>(12)}; }),
              HasSubstr("multiple"));
  EXPECT_THAT(message([](Problem &p) { p.q = {3, 2, 1, std::vector<double>(6)}; }),
              HasSubstr("head dimensions"));
}

/// One request of a batch as a problem of its own; inputs have a request axis.
Problem alone(const Problem &batch, size_t request) {
  Problem problem = batch;
  int64_t row = batch.cuSeqlensQ[request], rows = batch.cuSeqlensQ[request + 1] - row, key = 0;
  for (size_t i = 0; i < request; ++i)
    key += batch.kvLens[i];
  auto cut = [](const Tokens &from, int64_t first, int64_t count) {
    int64_t size = from.heads * from.dim;
    return Tokens{count,
                  from.heads,
                  from.dim,
                  {from.data.begin() + first * size, from.data.begin() + (first + count) * size}};
  };
  problem.kvLens = {batch.kvLens[request]};
  problem.cuSeqlensQ = {0, rows};
  problem.q = cut(batch.q, row, rows);
  problem.k = cut(batch.k, key, problem.kvLens[0]);
  problem.v = cut(batch.v, key, problem.kvLens[0]);
  for (auto &[name, input] : problem.inputs) {
    int64_t size = static_cast<int64_t>(input.data.size()) / input.shape[0];
    input.shape[0] = 1;
    input.data = {input.data.begin() + request * size, input.data.begin() + (request + 1) * size};
  }
  return problem;
}

TEST(ReferenceRules, Rule16_RequestsDoNotDependOnTheBatch) {
  Problem batch =
      makeProblem(Shape{.queryHeads = 2, .dim = 4, .lengths = {{7, 7}, {3, 9}, {0, 4}, {5, 2}}});
  batch.inputs["x"] = {{4, 9}, {}};
  for (int i = 0; i < 36; ++i)
    batch.inputs["x"].data.push_back(i * 7 % 11);
  const char *text = "pattern p { input x: f32[k]"
                     "  keep top_k(x, 2) or dot(Q, mean(K, 2)) > 0.1  rest mean(2, q / 4) }";
  Result whole = run(text, batch);
  for (size_t request = 0; request < 4; ++request) {
    Problem problem = alone(batch, request);
    Result single = run(text, problem);
    EXPECT_EQ(kept(whole, batch, request), kept(single, problem));
    int64_t first = batch.cuSeqlensQ[request] * whole.heads * whole.valueDim;
    EXPECT_TRUE(std::equal(single.out.begin(), single.out.end(), whole.out.begin() + first));
  }
}

TEST(ReferenceRules, Rule16_ChunksGiveWhatTheWholePromptGives) {
  // No query axis is removed and none is lacking: blocks of 2 and chunks of 4.
  const char *text = "pattern p { keep dot(mean(Q, into: q / 2), mean(K, 2)) > 0.2 or q - k < 3"
                     "            rest mean(2, q / 4) }";
  Problem prompt = makeProblem(12, 12);
  Result whole = run(text, prompt);
  for (int64_t start = 0; start < 12; start += 4) {
    Problem chunk = prompt;
    chunk.cuSeqlensQ = {0, 4};
    chunk.kvLens = {start + 4};
    chunk.q = {4, 1, 2, {prompt.q.data.begin() + start * 2, prompt.q.data.begin() + start * 2 + 8}};
    for (Tokens *operand : {&chunk.k, &chunk.v}) {
      operand->tokens = start + 4;
      operand->data.resize((start + 4) * 2);
    }
    Result part = run(text, chunk);
    EXPECT_TRUE(std::equal(part.out.begin(), part.out.end(), whole.out.begin() + start * 2));
    EXPECT_TRUE(std::equal(part.lse.begin(), part.lse.end(), whole.lse.begin() + start));
  }
}

} // namespace
