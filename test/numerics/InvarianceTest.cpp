// Rule 16: results do not depend on what else is in the batch, nor on how a prompt was cut.
#include "test/numerics/Cases.h"
#include "test/numerics/CpuRun.h"
#include "test/numerics/Random.h"

#include "llvm/Support/MathExtras.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace skim;
using namespace skim::numerics;

namespace {

constexpr const char *kPatterns[] = {
    "pattern p(sink: index = 30, window: index = 100) { keep k < sink or q - k < window }",
    "pattern p { input layout: bool[head, q / 64, k / 32]\n"
    "  keep layout or q - k < 48\n  rest mean(32, q / 64) }",
    "pattern p { keep q / 48 == k / 48 or q - k < 17 }",
    "pattern p { keep cover(q / 64, k / 64, (q - k) % 96 == 5) or q - k < 9\n"
    "  logit 20.0 * tanh(s / 20.0) - 0.125 * (q - k) }",
};

/// One request of `qLen` rows and `kvLen` keys, random but for its seed.
Case requestCase(const char *program, int64_t qLen, int64_t kvLen) {
  Case c = makeCase(program, {{qLen, kvLen}}, {.heads = 4, .kvHeads = 2, .dim = 64});
  addInput(c, "layout", "bool", {4, (qLen + 63) / 64 + 1, (kvLen + 31) / 32},
           [](int64_t i) { return i * 7 % 5 < 2; });
  return c;
}

TEST(Invariance, BatchNeighboursChangeNoBit) {
  for (const char *program : kPatterns) {
    Case alone = requestCase(program, 200, 333);
    Expected<Kernel> kernel = compileCase(alone);
    ASSERT_TRUE(kernel) << kernel.status().message();
    RunResult expected = runOnCpu(*kernel, alone, {});
    ASSERT_TRUE(expected.status) << expected.status.message();

    Case batch = batchOf({requestCase(program, 65, 500), alone, requestCase(program, 1, 1),
                          requestCase(program, 0, 40)});
    RunResult actual = runOnCpu(*kernel, batch, {.seed = 1});
    ASSERT_TRUE(actual.status) << actual.status.message();
    int64_t row = actual.heads * actual.valueDim;
    EXPECT_TRUE(
        sameBits(expected.out, llvm::ArrayRef<float>(actual.out).slice(65 * row, 200 * row)))
        << program;
    for (int64_t h = 0; h != actual.heads; ++h)
      EXPECT_TRUE(sameBits(llvm::ArrayRef<float>(expected.lse).slice(h * 200, 200),
                           llvm::ArrayRef<float>(actual.lse).slice(h * actual.tokens + 65, 200)))
          << program;
  }
}

/// Where chunks must end so that nothing depends on the cut, as the compiler reports it; 0 where it
/// reports that something does.
int64_t reportedMultiple(const char *program) {
  CompileOptions options;
  options.queryHeads = 4;
  options.kvHeads = 2;
  options.headDim = 64;
  ReportOptions call;
  call.tokens = call.context = 64;
  Expected<Report> report = Compiler().report(Pattern::fromText(program), options, call);
  EXPECT_TRUE(report) << report.status().message();
  return report && report->chunkBreakers.empty() ? report->chunkMultiple : 0;
}

TEST(Invariance, ChunksChangeNoBit) {
  constexpr int64_t kLength = 448, kBlock = 64;
  for (const char *program : kPatterns) {
    int64_t multiple = reportedMultiple(program);
    ASSERT_GT(multiple, 0) << program;
    std::vector<int64_t> cuts;
    for (int64_t cut : {0, 1, 70, 257, 448})
      cuts.push_back(static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(cut), multiple)));
    ASSERT_EQ(cuts.back(), kLength) << program;
    Case whole = requestCase(program, kLength, kLength);
    Expected<Kernel> kernel = compileCase(whole);
    ASSERT_TRUE(kernel) << kernel.status().message();
    RunResult expected = runOnCpu(*kernel, whole, {});
    ASSERT_TRUE(expected.status) << expected.status.message();
    int64_t row = expected.heads * expected.valueDim;
    for (size_t i = 1; i != cuts.size(); ++i) {
      Case chunk = chunkOf(whole, cuts[i - 1], cuts[i], /*queryBlock=*/kBlock);
      RunResult actual = runOnCpu(*kernel, chunk, {});
      ASSERT_TRUE(actual.status) << actual.status.message();
      int64_t first = cuts[i - 1], rows = cuts[i] - first;
      EXPECT_TRUE(
          sameBits(llvm::ArrayRef<float>(expected.out).slice(first * row, rows * row), actual.out))
          << program << ", rows from " << first;
      for (int64_t h = 0; h != actual.heads; ++h)
        EXPECT_TRUE(sameBits(llvm::ArrayRef<float>(expected.lse).slice(h * kLength + first, rows),
                             llvm::ArrayRef<float>(actual.lse).slice(h * rows, rows)))
            << program << ", rows from " << first;
    }
  }
}

} // namespace
