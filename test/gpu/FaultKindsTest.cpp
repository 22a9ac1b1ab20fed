// Kinds of faults that other systems had, on a CUDA device: rows, lengths, lists, results. Each
// test bears the name of its kind. Results and workspace hold NaN before each run, and so do all
// slots that no request owns.
#include "test/gpu/CudaRun.h"
#include "test/numerics/FaultCases.h"

#include <array>
#include <cmath>

using namespace skim;
using namespace skim::numerics;

namespace {

constexpr Heads kTwoHeads{.heads = 2, .kvHeads = 1, .operand = OperandType::bf16};

class CudaFaults : public CudaTest {};

TEST_F(CudaFaults, K1RowsWithoutKeysGiveZeroAndMinusInfinity) {
  Case c = makeCase("pattern p { input layout: bool[q / 64, k / 64]\n keep layout }", {{256, 256}},
                    kTwoHeads);
  addInput(c, "layout", "bool", {4, 4}, [](int64_t i) { return i >= 4 && i % 4 == 0; });
  EXPECT_EQ(check(c), "");
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  RunResult result = run(*kernel, c);
  for (int64_t head = 0; head != 2; ++head)
    for (int64_t token = 0; token != 256; ++token)
      EXPECT_EQ(isEmptyRow(result, head, token), token < 64) << token;
}

TEST_F(CudaFaults, K1CausalRowsBeforeTheFirstKey) {
  for (const char *program : {kDense, "pattern p { keep true\n sink_logit 2.0 }"}) {
    Case c = makeCase(program, {{130, 2}}, kTwoHeads);
    EXPECT_EQ(check(c), "");
    std::unique_ptr<Kernel> kernel = compile(c);
    ASSERT_TRUE(kernel);
    RunResult result = run(*kernel, c);
    for (int64_t token = 0; token != 128; ++token)
      for (int64_t i = 0; i != result.valueDim; ++i)
        EXPECT_EQ(result.out[token * result.heads * result.valueDim + i], 0) << token;
  }
}

TEST_F(CudaFaults, K2LengthsThatAreNoMultipleOfATile) {
  for (KvLayout kv : {KvLayout::Contiguous, KvLayout::PagedNhd}) {
    const Layout layout{.kv = kv, .pageSize = 16, .padding = 8};
    std::unique_ptr<Kernel> kernel = compile(makeCase(kStreaming, {}, kTwoHeads), layout);
    ASSERT_TRUE(kernel);
    for (int64_t length : {1, 7, 15, 63, 64, 65, 127, 128, 129, 191, 193, 1000, 1001}) {
      Case c = makeCase(kStreaming, {{length, length}}, kTwoHeads);
      ReferenceRun expected = runOnReference(c);
      ASSERT_TRUE(expected.ok) << expected.message;
      EXPECT_EQ(compareRuns(c, expected.result, run(*kernel, c, layout)), "") << length;
    }
  }
}

TEST_F(CudaFaults, K3RowsAndKeysOfDifferentNumber) {
  for (Lengths lengths : {Lengths{2, 5}, Lengths{5, 2}, Lengths{40, 300}, Lengths{300, 40},
                          Lengths{1, 257}, Lengths{65, 64}, Lengths{1, 1000}})
    EXPECT_EQ(check(makeCase(kStreaming, {lengths}, kTwoHeads)), "")
        << lengths.qLen << " rows, " << lengths.kvLen << " keys";
}

TEST_F(CudaFaults, K4MembersOfABatchWithoutRowsOrKeys) {
  Case c = makeCase(kStreaming, {{150, 100}, {0, 0}, {150, 300}, {20, 0}, {0, 7}}, kTwoHeads);
  for (KvLayout kv : {KvLayout::Contiguous, KvLayout::PagedNhd})
    EXPECT_EQ(check(c, {.kv = kv, .pageSize = 16, .padding = 8}), "");
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  RunResult result = run(*kernel, c);
  for (int64_t token = 300; token != 320; ++token)
    EXPECT_TRUE(isEmptyRow(result, 0, token));
  RunResult nothing = run(*kernel, makeCase(kStreaming, {{0, 9}, {0, 0}}, kTwoHeads));
  EXPECT_TRUE(nothing.status) << nothing.status.message();
}

TEST_F(CudaFaults, K8ListsAreSets) {
  Case c =
      makeCase("pattern p { input blocks: list[k / 16]\n keep blocks }", {{128, 112}}, kTwoHeads);
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  std::vector<std::vector<double>> lists = {{3, 0, 3, -1, 7}, {-1, 7, 3, 3, 0}, {0, 3, 3, 0, 3}};
  std::optional<RunResult> first;
  for (const std::vector<double> &list : lists) {
    // Seven blocks of keys: 7 is out of range in the first two.
    addInput(c, "blocks", "list", {5}, [&](int64_t i) { return list[i]; });
    EXPECT_EQ(check(c), "");
    RunResult result = run(*kernel, c);
    EXPECT_EQ(result.status.code(), list[4] == 3 ? StatusCode::Ok : StatusCode::DataOutOfRange);
    if (!first)
      first = result;
    EXPECT_TRUE(sameBits(result.out, first->out) && sameBits(result.lse, first->lse));
  }
  // With a count the entries behind it do not matter.
  addInput(c, "blocks", "list", {5}, [&](int64_t i) { return lists[0][i]; });
  addInput(c, "blocks_counts", "index", {}, [](int64_t) { return 3; });
  EXPECT_EQ(check(c), "");
}

TEST_F(CudaFaults, K8ListsOfRowBlocksInAnyOrder) {
  Case c = makeCase("pattern p { input blocks: list[head, q / 64, k / 64]\n"
                    "  keep blocks or q - k < 20 }",
                    {{300, 300}}, kTwoHeads);
  // Descending, twice the same, past the row's causal end, and padding between.
  addInput(c, "blocks", "list", {2, 5, 6},
           [](int64_t i) { return std::array{4, 1, 1, -1, 2, 0}[i % 6]; });
  EXPECT_EQ(check(c), "");
}

TEST_F(CudaFaults, K9ADroppedBlockIsNotRead) {
  Case c = makeCase("pattern p { input layout: bool[head, q / 64, k / 64]\n keep layout }",
                    {{512, 512}}, kTwoHeads);
  // One block in the middle is dropped; its values would show in every row that sees them.
  for (int64_t i = 128 * 64; i != 192 * 64; ++i)
    c.problem.v.data[i] = 1024;
  addInput(c, "layout", "bool", {2, 8, 8}, [](int64_t i) { return i % 8 != 2; });
  EXPECT_EQ(check(c), "");
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  for (float value : run(*kernel, c).out)
    ASSERT_LT(std::abs(value), 10);
}

TEST_F(CudaFaults, K9WhatIsNotCompiledIsRefused) {
  Case c = makeCase(kDense, {{4, 4}}, {.heads = 2, .kvHeads = 1});
  Expected<Kernel> kernel = compileForCuda(c);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(refusalOf(kernel.status()), "sm_90a: expected operands of bf16 or f16");
}

TEST_F(CudaFaults, K12StatesMergeInAnyOrder) {
  Case whole = makeCase(kDense, {{40, 200}}, kTwoHeads);
  const char *program = "pattern p(from: index = 0, to: index = 0) { keep k >= from and k < to }";
  Case part = whole;
  part.program = program;
  std::unique_ptr<Kernel> all = compile(whole);
  ASSERT_TRUE(all);
  std::unique_ptr<Kernel> some = compile(part);
  ASSERT_TRUE(some);
  RunResult expected = run(*all, whole);
  std::vector<RunResult> parts;
  for (auto [from, to] : {std::pair(0, 77), std::pair(90, 90), std::pair(77, 200)}) {
    part.problem.parameters["from"] = {double(from)};
    part.problem.parameters["to"] = {double(to)};
    parts.push_back(run(*some, part));
    ASSERT_TRUE(parts.back().status) << parts.back().status.message();
  }
  EXPECT_EQ(compareMerged(parts, expected, 1e-2, 1e-4), "");
}

TEST_F(CudaFaults, K12LogSumExpFarFromZero) {
  for (double logit : {88.9, -1e4, 1e4}) {
    Case c = makeCase("pattern p(x: f32 = 0) { keep q - k < 9\n logit s * 0.0 + x }", {{30, 40}},
                      kTwoHeads);
    c.problem.parameters["x"] = {float(logit)};
    EXPECT_EQ(check(c), "") << logit;
  }
}

TEST_F(CudaFaults, ScoresFarApartInAnyOrder) {
  // References of rows rise late, early, and again and again.
  for (const char *logit : {"s + 0.625 * k", "s - 0.625 * k", "s + 30.0 * (k % 7)",
                            "20.0 * tanh(s / 20.0) - 0.125 * (q - k)"}) {
    Case c = makeCase(std::string("pattern p { keep true\n logit ") + logit + " }", {{200, 333}},
                      kTwoHeads);
    EXPECT_EQ(check(c), "") << logit;
  }
}

} // namespace
