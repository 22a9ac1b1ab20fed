// The reference runs what the program generator writes.
#include "reference/Interpreter.h"

#include "ProgramGenerator.h"
#include "Run.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace skim;
using numerics::Profile;

namespace {

class Generator : public ::testing::TestWithParam<Profile> {};

TEST_P(Generator, ProgramsRunThroughTheReference) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
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

INSTANTIATE_TEST_SUITE_P(Profiles, Generator,
                         ::testing::Values(Profile::staticAndInputs, Profile::whole),
                         [](const auto &info) {
                           return info.param == Profile::whole ? "whole" : "staticAndInputs";
                         });

} // namespace
