// Kernels that take no maxima where norms bound the scores: the bits are those with maxima.
#include "runtime/LaunchPlan.h"
#include "test/gpu/CudaRun.h"
#include "test/numerics/Cases.h"

#include <cmath>

using namespace skim;
using namespace skim::numerics;

namespace {

class CudaBoundedScores : public CudaTest {};

/// So many rows that the runtime takes the norms of keys, and chunks of so few that it does not.
constexpr int64_t kRows = 2304, kChunk = 768;
constexpr Heads kFourHeads{.heads = 4, .kvHeads = 2, .operand = OperandType::bf16};

/// Queries grow from block to block: scores of the first rows are bounded, those of later ones not,
/// and at last references rise again and again.
Case growingCase(const char *program, double steepness) {
  Case c = makeCase(program, {{kRows, kRows}}, kFourHeads);
  auto &queries = c.problem.q.data;
  const size_t row = queries.size() / kRows;
  for (size_t i = 0; i < queries.size(); ++i)
    queries[i] *= std::exp2(std::floor(steepness * static_cast<double>(i / row / 48)));
  return c;
}

TEST_F(CudaBoundedScores, K17BoundsChangeNoBit) {
  for (const char *program : {"pattern p { keep true }", "pattern p { keep k < 30 or q - k < 500 }",
                              "pattern p { keep q / 48 == k / 48 or q - k < 17 }"})
    for (double steepness : {0.0, 0.05, 0.25}) {
      SCOPED_TRACE(testing::Message() << program << ", steepness " << steepness);
      Case whole = growingCase(program, steepness);
      std::unique_ptr<Kernel> kernel = compile(whole);
      ASSERT_TRUE(kernel);
      ASSERT_TRUE(kernel->launchPlan().kernels.back().cuda.value().keyNorms);
      RunResult expected = run(*kernel, whole);
      ASSERT_TRUE(expected.status) << expected.status.message();
      for (int64_t first = 0; first != kRows; first += kChunk) {
        RunResult chunk = run(*kernel, chunkOf(whole, first, first + kChunk, 64));
        ASSERT_TRUE(chunk.status) << chunk.status.message();
        EXPECT_TRUE(areRowsOf(chunk, expected, first)) << "rows from " << first;
      }
    }
}

TEST_F(CudaBoundedScores, AreThoseOfTheReference) {
  for (double steepness : {0.0, 0.1})
    EXPECT_EQ(check(growingCase("pattern p { keep k % 64 < 8 or q - k < 100 }", steepness)), "")
        << steepness;
}

} // namespace
