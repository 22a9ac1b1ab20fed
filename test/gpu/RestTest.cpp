// `rest mean` on a CUDA device: blocks of keys that no row of a tile keeps enter by their means.
// What kinds of faults of other systems apply is in the names.
#include "test/gpu/CudaRun.h"
#include "test/numerics/FaultCases.h"

#include <string>

using namespace skim;
using namespace skim::numerics;

namespace {

constexpr Heads kTwoHeads{.heads = 2, .kvHeads = 1, .operand = OperandType::bf16};
constexpr const char *kWindow = "pattern p { keep q - k < 50\n rest mean(64, q / 64) }";

class CudaRest : public CudaTest {};

TEST_F(CudaRest, K1RowsThatKeepNothingHaveTheRest) {
  Case c = makeCase("pattern p { keep false\n rest mean(64, q / 64) }", {{256, 256}, {200, 70}},
                    kTwoHeads);
  EXPECT_EQ(check(c), "");
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  RunResult result = run(*kernel, c);
  // The first row of a tile sees the blocks before the tile.
  for (int64_t token = 0; token != 256; ++token)
    EXPECT_EQ(isEmptyRow(result, 1, token), token < 64) << token;
}

TEST_F(CudaRest, K2LengthsThatAreNoMultipleOfABlock) {
  for (KvLayout kv : {KvLayout::Contiguous, KvLayout::PagedNhd}) {
    const Layout layout{.kv = kv, .pageSize = 16, .padding = 8};
    std::unique_ptr<Kernel> kernel = compile(makeCase(kWindow, {}, kTwoHeads), layout);
    ASSERT_TRUE(kernel);
    for (int64_t length : {1, 7, 63, 64, 65, 127, 128, 129, 191, 193, 1000, 1001}) {
      Case c = makeCase(kWindow, {{length, length}}, kTwoHeads);
      ReferenceRun expected = runOnReferenceOfCuda(c);
      ASSERT_TRUE(expected.ok) << expected.message;
      EXPECT_EQ(compareRuns(c, expected.result, run(*kernel, c, layout)), "") << length;
    }
  }
}

TEST_F(CudaRest, K2BlocksOfAnySize) {
  for (const char *rest :
       {"rest mean(1, q)", "rest mean(3, q / 5)", "rest mean(16, q / 7)", "rest mean(48, q / 96)",
        "rest mean(128, q / 128)", "rest mean(130, q / 300)"}) {
    Case c = makeCase(std::string("pattern p { keep k < 3 or q - k < 40\n ") + rest + " }",
                      {{333, 333}, {20, 93}, {1, 300}}, kTwoHeads);
    EXPECT_EQ(check(c), "") << rest;
  }
}

// Blocks of 7 rows straddle the cells of 16, so rows of one tile read two of them.
TEST_F(CudaRest, K2RowsThatStraddleTheCellsOfAnInput) {
  Case c = makeCase("pattern p { input layout: bool[q / 16, k / 64]\n"
                    "  keep layout and q - k < 40\n  rest mean(16, q / 7) }",
                    {{132, 132}, {20, 93}}, kTwoHeads);
  addInput(c, "layout", "bool", {2, 9, 3}, [](int64_t i) { return i % 3 == 0 || i % 5 == 1; });
  EXPECT_EQ(check(c), "");
}

TEST_F(CudaRest, K2CoversWithoutAClosedForm) {
  EXPECT_EQ(check(makeCase("pattern p { rest mean(16, q / 16)\n"
                           "  keep cover(q / 8, k / 8, (q - k) % 9 == 2) and q - k < 60 }",
                           {{70, 70}, {5, 43}}, kTwoHeads)),
            "");
}

TEST_F(CudaRest, K3RowsAndKeysOfDifferentNumber) {
  for (Lengths lengths : {Lengths{2, 5}, Lengths{5, 2}, Lengths{40, 300}, Lengths{300, 40},
                          Lengths{1, 257}, Lengths{65, 640}, Lengths{1, 1000}})
    EXPECT_EQ(check(makeCase(kWindow, {lengths}, kTwoHeads)), "")
        << lengths.qLen << " rows, " << lengths.kvLen << " keys";
  EXPECT_EQ(check(makeCase("pattern p { noncausal\n keep q == k\n rest mean(24, q / 32) }",
                           {{70, 300}, {300, 300}}, kTwoHeads)),
            "");
}

TEST_F(CudaRest, K4MembersOfABatchWithoutRowsOrKeys) {
  EXPECT_EQ(
      check(makeCase(kWindow, {{150, 100}, {0, 0}, {150, 300}, {20, 0}, {0, 700}}, kTwoHeads)), "");
}

TEST_F(CudaRest, K7PagesOfAnySize) {
  for (KvLayout kv : {KvLayout::PagedNhd, KvLayout::PagedHnd})
    for (int64_t page : {1, 7, 8, 64, 256})
      EXPECT_EQ(check(makeCase(kWindow, {{100, 333}, {30, 30}}, kTwoHeads),
                      {.kv = kv, .pageSize = page, .padding = 8}),
                "")
          << page;
}

TEST_F(CudaRest, K10HeadsOfOneGroupHaveARestOfTheirOwn) {
  Case c = makeCase("pattern p { input layout: bool[head, q / 64, k / 64]\n"
                    "  keep layout\n  rest mean(64, q / 64) }",
                    {{400, 400}}, {.heads = 6, .kvHeads = 2, .operand = OperandType::bf16});
  addInput(c, "layout", "bool", {6, 7, 7}, [](int64_t i) { return i * 11 % 5 < 2; });
  EXPECT_EQ(check(c), "");
}

TEST_F(CudaRest, ManyBlocksTakeSeveralVisits) {
  // 1300 blocks: more than a batch of visits holds, with visits of tokens around.
  Case c =
      makeCase("pattern p { keep k % 700 == 3\n rest mean(2, q / 64) }", {{130, 2600}}, kTwoHeads);
  EXPECT_EQ(check(c), "");
}

TEST_F(CudaRest, GatheredKeysBesideMeans) {
  Case c = makeCase("pattern p { input columns: bool[head, k]\n"
                    "  keep columns or q - k < 9\n  rest mean(32, q / 32) }",
                    {{200, 900}, {65, 300}}, kTwoHeads);
  addInput(c, "columns", "bool", {2, 2, 900}, [](int64_t i) { return i % 113 == 5; });
  EXPECT_EQ(check(c), "");
}

TEST_F(CudaRest, ScoresOfTokensAloneAreModified) {
  for (const char *logit : {"s * 0.0 + 2.0", "20.0 * tanh(s / 20.0) - 0.125 * (q - k)"})
    EXPECT_EQ(check(makeCase(std::string("pattern p { keep q - k < 50\n rest mean(64, q / 64)\n"
                                         "  sink_logit 0.5\n  logit ") +
                                 logit + " }",
                             {{200, 333}}, kTwoHeads)),
              "")
        << logit;
}

TEST_F(CudaRest, ScalesOfEitherSign) {
  Case c = makeCase(kWindow, {{200, 333}}, kTwoHeads);
  for (double scale : {0.0, -0.125, 0.5}) {
    c.problem.softmaxScale = scale;
    EXPECT_EQ(check(c), "") << scale;
  }
}

TEST_F(CudaRest, OperandsOfF16AndOtherDimensions) {
  for (Heads heads :
       {Heads{.heads = 2, .kvHeads = 2, .dim = 128, .operand = OperandType::f16},
        Heads{.heads = 2, .kvHeads = 1, .dim = 256, .operand = OperandType::bf16},
        Heads{.heads = 2, .kvHeads = 1, .dim = 192, .valueDim = 128, .operand = OperandType::bf16}})
    EXPECT_EQ(check(makeCase(kWindow, {{200, 333}}, heads)), "") << heads.dim;
}

} // namespace
