// The reference runs what the program generator writes.
#include "reference/Interpreter.h"

#include "ProgramGenerator.h"
#include "Run.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <vector>

using namespace skim;
using numerics::Profile;

namespace {

class Generator : public ::testing::TestWithParam<Profile> {};

TEST_P(Generator, ProgramsRunThroughTheReference) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    numerics::Case program = numerics::generateCase(GetParam(), seed);
    reference::Result result = reference::testing::run(program.program, program.problem);
    if (HasFailure()) {
      ADD_FAILURE() << program.describe();
      return;
    }
    ASSERT_EQ(result.out.size(), program.problem.q.tokens * program.problem.q.heads *
                                     static_cast<size_t>(program.problem.v.dim));
    for (double x : result.out)
      ASSERT_TRUE(std::isfinite(x)) << program.describe();
    for (double lse : result.lse)
      ASSERT_TRUE(lse < std::numeric_limits<double>::infinity()) << program.describe();
  }
}

TEST_P(Generator, IsAFunctionOfTheSeed) {
  for (uint64_t seed : {0, 1, 77}) {
    numerics::Case first = numerics::generateCase(GetParam(), seed);
    numerics::Case second = numerics::generateCase(GetParam(), seed);
    EXPECT_EQ(first.describe(), second.describe());
    EXPECT_EQ(first.problem.q.data, second.problem.q.data);
    EXPECT_NE(first.program, numerics::generateCase(GetParam(), seed + 1000).program);
  }
}

TEST(WholeLanguage, EachPartIsDrawnOften) {
  const char *parts[] = {
      // Vectors.
      "linear\\(", ": vec\\[head\\]", ": vec\\[kv_head, k", ": vec\\[kv_head, q",
      "bf16\\(Q|bf16\\(K", "int8\\(", "int4\\(", "fp8\\(", "fp8\\([^()]*, scale: ", "last\\(Q, ",
      "\\bV\\b", "mean\\([^()]*, [0-9b]+\\)", "(max|min|sum|var)\\([QK], into: ", "[QK] where ",
      "[QK] \\* x[0-9]+", "(max|min)\\([QK], 0.5\\)",
      // Scores.
      "dot\\(.*, scale: 0.125", "dot\\(.*, scale: p[0-9]+", "visible: any", "softmax\\(.*over: k",
      "softmax\\(.*over: q", "exp\\(dot", "log\\(abs\\(", "tanh\\(dot", "relu\\(dot",
      "smooth\\(dot", "dot\\((m[0-9]+), \\1\\)",
      // Reductions.
      "let m[0-9]+ = sum\\(", "let m[0-9]+ = mean\\(", "let m[0-9]+ = max\\(",
      "let m[0-9]+ = min\\(", "let m[0-9]+ = var\\(", "into: q - k",
      "into: \\(q / [0-9b]+, q - k\\)", "over: group", "over: heads",
      "over: \\(q[^)]*, (group|heads)\\)", "into: \\(q / [0-9b]+, k / [0-9b]+\\)",
      "let m[0-9]+ = (sum|mean|max|min|var)\\((sum|mean|max|min|var)\\(",
      // Sets.
      "top_k\\(m[0-9]+, ", "top_p\\(m[0-9]+, ", "top_k\\(m[0-9]+, 2.25 \\+ x", "where top_k\\(",
      "where m[0-9]+ > ", "where (q|k|x|head)",
      "m[0-9]+ >= [^ ]+ \\* max\\(m[0-9]+, over: ", "cover\\(q / ", "cover\\(k / ", "match ",
      "not \\(", " and ", " or ", "part0\\(", "q - k < ",
      // Clauses, inputs and parameters.
      "rest mean\\(", "rest drop", "skip ", "logit s", "sink_logit ", "dense when ", "noncausal",
      "constexpr ", ": (index|f32)\\[head\\] = ", ": list\\[", ": bool\\[", ": index\\[",
      ": f32\\[", "layer", "kv_len"};
  std::vector<std::string> programs;
  for (uint64_t seed = 1; seed <= 400; ++seed)
    programs.push_back(numerics::generateProgram(Profile::whole, seed).program);
  for (const char *part : parts) {
    std::regex pattern(part);
    EXPECT_GE(
        llvm::count_if(programs,
                       [&](const std::string &text) { return std::regex_search(text, pattern); }),
        3)
        << part;
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, Generator,
                         ::testing::Values(Profile::staticAndInputs, Profile::whole),
                         [](const auto &info) {
                           return info.param == Profile::whole ? "whole" : "staticAndInputs";
                         });

} // namespace
