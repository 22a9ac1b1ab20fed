// Parameters by name: what kernels see, and what is refused.
#include "Problem.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

using namespace skim;
using namespace skim::test;

namespace {

LaunchPlan planWithParameters() {
  LaunchPlan plan = causalPlan({});
  plan.parameters = {{"window", ParameterType::Index, false, {4096}, {}},
                     {"alpha", ParameterType::F32, false, {}, {}},
                     {"sink", ParameterType::F32, true, {0.5}, {}},
                     {"kind", ParameterType::Index, true, {0, 1, 1, 0}, {0, 1}},
                     {"strict", ParameterType::Bool, false, {1}, {}}};
  return plan;
}

struct Values {
  int64_t window;
  double alpha;
  double sink[4];
  int64_t kind[4];
  int64_t strict;
} values;

void lookAtParameters(const skim_kernel_args *args, const skim_work_item *, int64_t, int64_t,
                      int64_t) {
  values.window = args->parameters[0].values->index;
  values.alpha = args->parameters[1].values->f32;
  for (int head = 0; head < 4; ++head) {
    values.sink[head] = args->parameters[2].values[head].f32;
    values.kind[head] = args->parameters[3].values[head].index;
  }
  values.strict = args->parameters[4].values->boolean;
}

Status runWith(const Parameters &parameters) {
  const Kernel kernel = *Kernel::create(planWithParameters(), {lookAtParameters});
  Problem problem({{1, 1}});
  return runOnce(kernel, problem.shape(), problem.operands(), parameters, {.threads = 1});
}

TEST(Parameters, defaultsStandInForWhatIsLeftOut) {
  ASSERT_TRUE(runWith({{"alpha", 0.1}}));
  EXPECT_EQ(values.window, 4096);
  EXPECT_EQ(values.alpha, static_cast<double>(0.1f)) << "an f32 is rounded to f32";
  EXPECT_EQ(std::vector(values.sink, values.sink + 4), std::vector<double>(4, 0.5));
  EXPECT_EQ(std::vector(values.kind, values.kind + 4), (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(values.strict, 1);
}

TEST(Parameters, takeOneValueOrOneAQueryHead) {
  ASSERT_TRUE(runWith({{"alpha", 3},
                       {"window", int64_t{1} << 31},
                       {"sink", std::vector<double>{1, 2, 3, 4}},
                       {"kind", 1},
                       {"strict", false}}));
  EXPECT_EQ(values.window, int64_t{1} << 31);
  EXPECT_EQ(values.alpha, 3);
  EXPECT_EQ(std::vector(values.sink, values.sink + 4), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(std::vector(values.kind, values.kind + 4), std::vector<int64_t>(4, 1));
  EXPECT_EQ(values.strict, 0);
  ASSERT_TRUE(runWith({{"alpha", std::numeric_limits<double>::infinity()}}));
  EXPECT_EQ(values.alpha, std::numeric_limits<double>::infinity());
}

struct Fault {
  const char *name;
  Parameters parameters;
  const char *message;
};

class ParameterFault : public testing::TestWithParam<Fault> {};

TEST_P(ParameterFault, isRefused) {
  const Status status = runWith(GetParam().parameters);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), std::string("parameter ") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, ParameterFault,
    testing::Values(
        Fault{"unknown",
              {{"alpha", 1}, {"windw", 1}},
              "'windw': unknown name; the pattern has 'window', 'alpha', 'sink', 'kind', 'strict'"},
        Fault{"missing",
              {},
              "'alpha': expected a value of type f32 (it has no default) but got nothing"},
        Fault{"twice",
              {{"alpha", 1}, {"alpha", 2}},
              "'alpha': expected one value but got several under this name"},
        Fault{"floatForIndex",
              {{"alpha", 1}, {"window", 64.0}},
              "'window': expected an index but got the float 64"},
        Fault{"boolForIndex",
              {{"alpha", 1}, {"window", true}},
              "'window': expected an index but got true"},
        Fault{"boolForF32", {{"alpha", false}}, "'alpha': expected an f32 but got false"},
        Fault{"indexForBool",
              {{"alpha", 1}, {"strict", 1}},
              "'strict': expected true or false but got 1"},
        Fault{"indexTooLarge",
              {{"alpha", 1}, {"window", (int64_t{1} << 31) + 1}},
              "'window': expected an index from -2^31 to 2^31 but got 2147483649"},
        Fault{"indexTooSmall",
              {{"alpha", 1}, {"window", std::numeric_limits<int64_t>::min()}},
              "'window': expected an index from -2^31 to 2^31 but got "
              "-9223372036854775808"},
        Fault{"nan",
              {{"alpha", std::numeric_limits<double>::quiet_NaN()}},
              "'alpha': expected a value in the range of f32 but got the float nan"},
        Fault{"pastF32",
              {{"alpha", -1e39}},
              "'alpha': expected a value in the range of f32 but got the float -1e+39"},
        Fault{"severalForOne",
              {{"alpha", std::vector<double>{1, 2, 3, 4}}},
              "'alpha': expected one f32 for all heads but got 4 values"},
        Fault{"headCount",
              {{"alpha", 1}, {"sink", std::vector<double>{1, 2}}},
              "'sink': expected 4 values, one a query head but got 2"},
        Fault{"typeOfOneHead",
              {{"alpha", 1}, {"kind", std::vector<double>{0, 1, 0, 1}}},
              "'kind': expected an index but got the float 0"},
        Fault{"rule14_unlistedLabel",
              {{"alpha", 1}, {"kind", std::vector<int64_t>{0, 1, 2, 0}}},
              "'kind': expected a label of the pattern's match (0, 1) but got 2"}),
    [](const auto &info) { return info.param.name; });

TEST(Parameters, rule15_boundsHoldForGivenValuesAndDefaults) {
  LaunchPlan plan = causalPlan({});
  plan.parameters = {{"mass", ParameterType::F32, true, {1.5}, {}, 0, 1},
                     {"nats", ParameterType::Index, false, {8}, {}, 0, std::nullopt}};
  const Kernel kernel = *Kernel::create(
      plan, {[](const skim_kernel_args *, const skim_work_item *, int64_t, int64_t, int64_t) {}});
  Problem problem({{1, 1}});
  const auto message = [&](const Parameters &parameters) {
    return runOnce(kernel, problem.shape(), problem.operands(), parameters, {}).message();
  };
  for (double mass : {0.0, 0.25, 1.0, 1 + 1e-9})
    EXPECT_EQ(message({{"mass", mass}, {"nats", 0}}), "") << mass;
  EXPECT_EQ(message({}), "parameter 'mass': expected a number from 0 to 1 but got 1.5");
  EXPECT_EQ(message({{"mass", std::vector<double>{0, 1, 0.5, -0.25}}}),
            "parameter 'mass': expected a number from 0 to 1 but got -0.25");
  EXPECT_EQ(message({{"mass", std::numeric_limits<double>::infinity()}}),
            "parameter 'mass': expected a number from 0 to 1 but got inf");
  EXPECT_EQ(message({{"mass", 1}, {"nats", -1}}),
            "parameter 'nats': expected a number from 0 up but got -1");
}

TEST(Parameters, patternsWithoutAnySaySo) {
  Problem problem({{1, 1}});
  EXPECT_EQ(
      runOnce(causalKernel({}), problem.shape(), problem.operands(), {{"window", 1}}).message(),
      "parameter 'window': unknown name; the pattern has none");
}

} // namespace
