// The host interface of the compiler: what it accepts, what it refuses, and what it emits.
#include "runtime/LaunchPlan.h"
#include <skim/Compiler.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

using namespace skim;
using testing::HasSubstr;

namespace {

Pattern streaming() {
  return Pattern::fromText("pattern streaming(constexpr block: index = 16, window: index = 64) {\n"
                           "  keep k < block or q - k < window\n}\n",
                           "streaming.skim");
}

std::string refusal(const Pattern &pattern, const CompileOptions &options = {}) {
  Expected<Kernel> kernel = Compiler().compile(pattern, options);
  return kernel ? "compiles" : kernel.status().message();
}

TEST(Compiler, TheLaunchPlanSaysWhatTheKernelTakes) {
  CompileOptions options;
  options.queryHeads = 6;
  options.kvHeads = 2;
  options.headDim = 64;
  options.valueDim = 32;
  options.outDtype = DType::BF16;
  options.pageSize = 16;
  options.constants["block"] = 32;
  Expected<Kernel> kernel = Compiler().compile(streaming(), options);
  ASSERT_TRUE(kernel) << kernel.status().message();
  const LaunchPlan &plan = kernel->launchPlan();
  EXPECT_EQ(plan.pattern, "streaming");
  EXPECT_EQ(plan.signature, (Signature{.queryHeads = 6,
                                       .kvHeads = 2,
                                       .headDim = 64,
                                       .valueDim = 32,
                                       .operand = DType::BF16,
                                       .output = DType::BF16,
                                       .pageSize = 16}));
  ASSERT_EQ(plan.parameters.size(), 1U); // constants are no parameters
  EXPECT_EQ(plan.parameters[0].name, "window");
  EXPECT_EQ(plan.parameters[0].defaultValues, std::vector<double>{64});
  ASSERT_EQ(plan.kernels.size(), 1U);
  EXPECT_EQ(plan.kernels[0].axis, ItemAxis::Queries);
}

TEST(Compiler, DiagnosticsCiteTheText) {
  std::string message = refusal(Pattern::fromText("pattern p { keep q - k < windw }", "p.skim"));
  EXPECT_THAT(message, HasSubstr("p.skim:1:26: error: "));
  EXPECT_THAT(message, HasSubstr("windw"));
  EXPECT_THAT(message, HasSubstr("^"));
  // What passes find cites the text, too.
  CompileOptions options;
  options.target = "sm_90a";
  message = refusal(Pattern::fromText("pattern p { keep dot(Q, K) > 0.0 }", "p.skim"), options);
  EXPECT_THAT(message, HasSubstr("p.skim:1:22: error: sm_90a: maps and selections by scores"));
  EXPECT_THAT(message, HasSubstr("not compiled for this target: 'dot'"));
  EXPECT_THAT(message, testing::Not(HasSubstr("skim.")));
}

TEST(Compiler, WarningsOfAPatternThatCompiles) {
  std::string warnings;
  Expected<Kernel> kernel = Compiler().compile(
      Pattern::fromText("pattern p(unused: index = 1) { keep k < 4 }", "p.skim"), {}, &warnings);
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_THAT(warnings, HasSubstr("p.skim:1:11: warning: parameter 'unused' is never used"));
}

/// Writes `steps` bindings that each use the one before twice. Followed as trees they are 2^steps
/// operations.
template <class Step> std::string sharedBindings(int steps, Step step) {
  std::string text;
  for (int i = 1; i <= steps; ++i)
    text += step("a" + std::to_string(i), "b" + std::to_string(i), "a" + std::to_string(i - 1),
                 "b" + std::to_string(i - 1));
  return text;
}

/// Of this process: other programs do not count.
double secondsToCompile(const std::string &text) {
  std::clock_t start = std::clock();
  Expected<Kernel> kernel = Compiler().compile(Pattern::fromText(text, "p.skim"), {});
  EXPECT_TRUE(kernel) << kernel.status().message();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Compiler, SharedSetsTakeNoExponentialTime) {
  std::string steps = sharedBindings(30, [](const std::string &a, const std::string &b,
                                            const std::string &a0, const std::string &b0) {
    return "  let " + a + " = not (" + a0 + " and " + b0 + ")\n  let " + b + " = " + a0 +
           " or not " + b0 + "\n";
  });
  EXPECT_LT(secondsToCompile("pattern p {\n  let a0 = q - k < 4\n  let b0 = k < 4\n" + steps +
                             "  keep a30 and b30\n}\n"),
            20);
}

TEST(Compiler, SharedValuesTakeNoExponentialTime) {
  std::string steps = sharedBindings(34, [](const std::string &a, const std::string &,
                                            const std::string &a0, const std::string &) {
    return "  let " + a + " = " + a0 + " * m + max(" + a0 + ", w)\n";
  });
  EXPECT_LT(secondsToCompile("pattern p(m: index = 3, w: index = 5) {\n  let a0 = m\n" + steps +
                             "  keep q - k < a34\n}\n"),
            20);
}

TEST(Compiler, OptionsThatMakeNoSenseAreRefused) {
  CompileOptions options;
  options.queryHeads = 5;
  options.kvHeads = 2;
  EXPECT_THAT(refusal(streaming(), options), HasSubstr("multiple of the number of KV heads"));
  options = {};
  options.headDim = 0;
  EXPECT_THAT(refusal(streaming(), options), HasSubstr("head dimension from 1 to 1024 but got 0"));
  options = {};
  options.valueDim = 5000;
  EXPECT_THAT(refusal(streaming(), options), HasSubstr("value dimension up to 1024 but got 5000"));
  options = {};
  options.dtype = DType::I32;
  EXPECT_THAT(refusal(streaming(), options), HasSubstr("f32, f16 or bf16 but got i32"));
  options = {};
  options.pageSize = -1;
  EXPECT_THAT(refusal(streaming(), options), HasSubstr("page size from 0 up but got -1"));
  options = {};
  options.target = "sm_90a";
  EXPECT_THAT(refusal(streaming(), options), HasSubstr("sm_90a"));
  options = {};
  options.pattern = "other";
  EXPECT_THAT(refusal(streaming(), options), HasSubstr("other"));
  options = {};
  options.constants["window"] = 3;
  EXPECT_THAT(refusal(streaming(), options), HasSubstr("window"));
}

TEST(Compiler, EveryStageHasAText) {
  CompileOptions options;
  options.headDim = 64;
  struct {
    Stage stage;
    const char *expected;
  } stages[] = {{Stage::Skim, "skim.pattern @streaming"},
                {Stage::Tile, "tile.program @attention"},
                {Stage::Plan, "\"pattern\""},
                {Stage::Llvm, "define void @attention"},
                {Stage::Assembly, "attention:"},
                {Stage::Object, "ELF"}};
  for (const auto &[stage, expected] : stages) {
    Expected<std::string> text = Compiler().emit(streaming(), options, stage);
    ASSERT_TRUE(text) << text.status().message();
    EXPECT_THAT(*text, HasSubstr(expected));
  }
}

TEST(Compiler, AFileThatCannotBeRead) {
  Expected<Pattern> pattern = Pattern::load("/no/such/file.skim");
  ASSERT_FALSE(pattern);
  EXPECT_THAT(pattern.status().message(), HasSubstr("cannot read '/no/such/file.skim'"));
}

} // namespace
