// Programs that no checker would accept give an error with a place, never a crash.
#include "Run.h"

#include "ProgramGenerator.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace skim;
using namespace skim::reference;
using namespace skim::reference::testing;
using ::testing::HasSubstr;

namespace {

TEST(ReferenceRefusals, NameWhatIsWrongAndWhere) {
  struct Wrong {
    const char *keep, *message;
  };
  for (Wrong wrong : {Wrong{"windw", "unknown name 'windw'"},
                      {"k + 1", "expected a set"},
                      {"not k", "expected a set"},
                      {"x < true", "truth value"},
                      {"-(k < 1)", "truth value"},
                      {"Q < 1", "vectors cannot be compared"},
                      {"dot(Q, x) > 0", "expected two maps of vectors"},
                      {"dot(Q) > 0", "wrong number of arguments"},
                      {"dot(Q, K, visible: some) > 0", "expected 'any' or 'all'"},
                      {"dot(Q, K, zoom: 2) > 0", "unexpected argument 'zoom'"},
                      {"frob(Q) > 0", "unknown function 'frob'"},
                      {"sum(x) > 0", "expected 'over:' or 'into:'"},
                      {"sum(x, over: q) > 0", "no such axis"},
                      {"sum(x, over: k + 1) > 0", "expected an axis"},
                      {"sum(x, into: q - k) > 0", "cannot be reduced into"},
                      {"sum(x, into: k / 0) > 0", "expected a constant of at least 1"},
                      {"sum(x, into: k / q) > 0", "without positions"},
                      {"softmax(x) > 0", "'over:'"},
                      {"smooth(x, 2) > 0", "odd"},
                      {"top_k(x, x)", "an amount for each of its rows"},
                      {"top_p(q, 1)", "map along keys"},
                      {"cover(q / 2, x > 0)", "expected an axis 'k / B'"},
                      {"cover(k / 2, k / 4, x > 0)", "expected 'q / A' or 'k / B'"},
                      {"match x { 0: true }", "without positions"},
                      {"match 1.5 { 0: true }", "not an index"},
                      {"x % 2 == 0", "takes index values"},
                      {"int8(x) > 0", "does not take such a value"},
                      {"last(K, 2) == 0", "map over 'q'"},
                      {"linear(Q, x) == 0", "'vec' input"},
                      {"p()", "calls itself"},
                      {"(mean(x, 2) where k < 1) > 0", "changes within cells"}}) {
    SCOPED_TRACE(wrong.keep);
    Problem problem = makeProblem(4, 4);
    problem.inputs["x"] = {{4}, {1, 2, 3, 4}};
    Error error =
        fail("pattern p { input x: f32[k] keep " + std::string(wrong.keep) + " }", problem);
    EXPECT_THAT(error.message, HasSubstr(wrong.message));
    EXPECT_TRUE(error.range.isValid());
  }
}

TEST(ReferenceRefusals, CalledPatternsHaveKeepAndDenseOnly) {
  Problem problem = makeProblem(1, 1);
  for (const char *clause : {"noncausal", "rest mean(2, q)", "logit s", "sink_logit 1.0",
                             "compact k < 1", "skip 1.0 under max"}) {
    Error error =
        fail("pattern part { keep true " + std::string(clause) + " } pattern p { keep part() }",
             problem);
    EXPECT_THAT(error.message, HasSubstr("may not have")) << clause;
  }
}

TEST(ReferenceRefusals, PatternsThatGrowWithoutBoundEndInAnError) {
  Problem problem = makeProblem(2, 2);
  std::string calls = "pattern p0 { keep k < 1 }";
  for (int i = 1; i < 40; ++i) {
    std::string part = "p" + std::to_string(i - 1) + "()";
    for (const std::string &piece :
         {std::string("pattern p"), std::to_string(i), std::string(" { keep "), part,
          std::string(" or "), part, std::string(" }")})
      calls += piece;
  }
  EXPECT_THAT(fail(calls, problem).message, HasSubstr("too large"));

  std::string lets = "pattern p { let a0 = k < 1 ";
  for (int i = 1; i < 3000; ++i)
    lets += "let a" + std::to_string(i) + " = not a" + std::to_string(i - 1) + " ";
  EXPECT_THAT(fail(lets + "keep a2999 }", problem).message, HasSubstr("too deep"));
  // Sharing is no growth.
  std::string shared = "pattern p { let a0 = k + q ";
  for (int i = 1; i < 200; ++i)
    shared += "let a" + std::to_string(i) + " = a" + std::to_string(i - 1) + " - a" +
              std::to_string(i - 1) + " ";
  EXPECT_EQ(lastRowKeptBy(shared + "keep a199 == 0 }", problem), "11");
}

TEST(ReferenceRefusals, AnInputThatNeedsItselfIsAnError) {
  Problem problem = makeProblem(1, 1);
  problem.inputs["x"] = {{1}, {1}};
  EXPECT_THAT(fail("pattern p { input x: bool[k / x] keep x }", problem).message,
              HasSubstr("refers to itself"));
}

TEST(ReferenceRefusals, MapsBeyondMemoryAreAnError) {
  Problem problem = makeProblem(Shape{.dim = 1, .valueDim = 1, .lengths = {{17000, 17000}}});
  EXPECT_THAT(fail("pattern p { keep cover(q / 1, k / 1, k < 1) }", problem).message,
              HasSubstr("too large"));
}

/// Replaces one token of a program by another of it.
std::string mangle(const std::string &program, uint64_t seed) {
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t i = 0; i < program.size();) {
    size_t end = i;
    while (end < program.size() &&
           (isalnum(program[end]) || program[end] == '_' || program[end] == '.'))
      ++end;
    if (end > i)
      words.emplace_back(i, end - i);
    i = std::max(end, i + 1);
  }
  auto [to, size] = words[seed * 2654435761 % words.size()];
  auto [from, length] = words[seed * 40503 % words.size()];
  std::string result = program;
  return result.replace(to, size, program.substr(from, length));
}

TEST(ReferenceRefusals, MangledProgramsDoNotCrash) {
  int errors = 0, results = 0;
  for (uint64_t seed = 0; seed < 800; ++seed) {
    numerics::Case program = numerics::generateCase(
        seed % 2 ? numerics::Profile::whole : numerics::Profile::staticAndInputs, seed % 100);
    if (program.problem.q.tokens * program.problem.k.tokens * program.problem.q.heads > 40000)
      continue;
    text::Diagnostics diagnostics;
    text::Program tree = text::loadBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(mangle(program.program, seed), "p.skim"), diagnostics);
    // A tree with errors is still a tree.
    for (const auto &pattern : tree.files.front()->tree.patterns) {
      auto outcome = interpret(tree, *pattern, program.problem);
      (std::holds_alternative<Error>(outcome) ? errors : results) += 1;
    }
  }
  EXPECT_GT(errors, 20);
  EXPECT_GT(results, 20);
}

} // namespace
