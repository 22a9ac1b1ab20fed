// Kinds of faults that other systems had, where scores decide: layouts, heads, strides, workspace,
// reuse, threads. Each test bears the name of its kind.
#include "test/numerics/ScoredCases.h"

#include <gtest/gtest.h>

#include <cstdint>

using namespace skim;
using namespace skim::numerics;

namespace {

const char *const kAll[] = {kPeakBlocks, kEnergyBlocks, kColumnsAndDiagonals, kRowSelections};

Case grouped(const char *program, OperandType operand = OperandType::f32) {
  return makeCase(program, {{100, 260}, {65, 65}},
                  {.heads = 4, .kvHeads = 2, .dim = 48, .valueDim = 80, .operand = operand});
}

TEST(ScoredFaults, K7PagesOfAnySizeAnywhereChangeNoBit) {
  for (const char *program : kAll) {
    Case c = grouped(program, OperandType::bf16);
    std::unique_ptr<Kernel> kernel = compileScored(c);
    EXPECT_EQ(checkScored(kernel, c), "") << program;
    if (!kernel)
      continue;
    RunResult expected = runOnCpu(*kernel, c, {.padding = 0});
    ASSERT_TRUE(expected.status) << expected.status.message();
    for (int64_t pageSize : {1, 16, 48, 64, 256})
      for (KvLayout kv : {KvLayout::PagedNhd, KvLayout::PagedHnd}) {
        RunResult actual = runOnCpu(*kernel, c,
                                    {.kv = kv,
                                     .pageSize = pageSize,
                                     .interleaved = pageSize == 16,
                                     .sharesPages = true,
                                     .seed = uint64_t(pageSize)});
        ASSERT_TRUE(actual.status) << actual.status.message();
        EXPECT_TRUE(sameResults(actual, expected))
            << program << "\npage size " << pageSize
            << (kv == KvLayout::PagedNhd ? ", NHD" : ", HND");
      }
  }
}

TEST(ScoredFaults, K10HeadsOfOneGroupSelectForThemselves) {
  struct Shape {
    int64_t heads, kvHeads, dim, valueDim;
  };
  const char *program = "pattern p {\n"
                        "  let s = dot(mean(Q, into: q / 16), mean(K, 16), visible: any)\n"
                        "  keep top_k(s, 2) and not (top_k(max(s, over: group), 1)) or k < head }";
  for (Shape shape :
       {Shape{7, 1, 64, 64}, Shape{28, 4, 80, 80}, Shape{24, 4, 96, 96}, Shape{40, 8, 128, 128},
        Shape{5, 5, 192, 192}, Shape{64, 1, 32, 32}, Shape{6, 2, 256, 256}, Shape{4, 1, 192, 128}})
    EXPECT_EQ(checkScored(makeCase(program, {{70, 90}},
                                   {.heads = shape.heads,
                                    .kvHeads = shape.kvHeads,
                                    .dim = shape.dim,
                                    .valueDim = shape.valueDim,
                                    .operand = OperandType::bf16}),
                          {.kv = KvLayout::PagedNhd, .pageSize = 16}),
              "")
        << shape.heads << " heads over " << shape.kvHeads << ", dimension " << shape.dim;
}

TEST(ScoredFaults, K10GroupsThatAreJoinedFurtherHaveTheirOwnHeads) {
  const char *program =
      "pattern p {\n"
      "  let energy = sum(dot(Q, mean(K, 16)), into: q / 2, over: group)\n"
      "  keep top_k(mean(energy, over: (q / 2, heads)), 2) or top_k(max(energy, over: heads), 1) }";
  EXPECT_EQ(checkScored(makeCase(program, {{70, 90}, {17, 245}}, {.heads = 12, .kvHeads = 3})), "");
}

TEST(ScoredFaults, K11StridedOperandsGiveTheSameTwice) {
  for (const char *program : kAll) {
    Case c = grouped(program);
    std::unique_ptr<Kernel> kernel = compileScored(c);
    if (!kernel)
      continue;
    RunResult contiguous = runOnCpu(*kernel, c, {.padding = 0});
    ASSERT_TRUE(contiguous.status) << contiguous.status.message();
    EXPECT_TRUE(sameResults(contiguous, runOnCpu(*kernel, c, {.padding = 5}))) << program;
    EXPECT_TRUE(sameResults(contiguous, runOnCpu(*kernel, c, {.padding = 0}))) << program;
  }
}

TEST(ScoredFaults, K13OneByteOfWorkspaceLessIsAnError) {
  for (const char *program : kAll) {
    Case c = grouped(program);
    std::unique_ptr<Kernel> kernel = compileScored(c);
    if (!kernel)
      continue;
    PreparedRun prepared(*kernel, c, {});
    prepared.missingWorkspace = 1;
    run(*kernel, prepared);
    EXPECT_EQ(prepared.result.status.code(), StatusCode::WorkspaceTooSmall) << program;
    EXPECT_NE(prepared.result.status.message().find("workspace"), std::string::npos)
        << prepared.result.status.message();
  }
}

TEST(ScoredFaults, K14SelectionsNeedNoMapOfAllPairs) {
  // 64K tokens: a byte for each pair of one head would be 4 GiB, an f32 for each row and block of
  // 16 keys one GiB.
  constexpr int32_t kLength = 65536;
  const int32_t cu[] = {0, kLength}, lens[] = {kLength};
  Expected<BatchShape> shape = BatchShape::of(TensorView::contiguous(cu, DType::I32, {2}),
                                              TensorView::contiguous(lens, DType::I32, {1}));
  ASSERT_TRUE(shape) << shape.status().message();
  for (const char *program : {kPeakBlocks, kEnergyBlocks, kColumnsAndDiagonals}) {
    std::unique_ptr<Kernel> kernel =
        compileScored(makeCase(program, {{8, 8}}, {.heads = 2, .kvHeads = 1, .dim = 128}));
    if (!kernel)
      continue;
    Expected<Plan> plan = kernel->plan(*shape);
    ASSERT_TRUE(plan) << plan.status().message();
    EXPECT_LT(plan->workspaceBytes(), 96 << 20) << program;
  }
}

TEST(ScoredFaults, K15OneKernelServesAllShapesAndValues) {
  Case c = grouped("pattern p(n: index = 5, share: f32 = 0.1, m: index[head] = 2) {\n"
                   "  keep top_k(dot(Q, mean(K, 16)), n) or top_k(dot(Q, K), share * kv_len)\n"
                   "    or top_k(sum(exp(dot(last(Q, n), K)), over: q), m) }");
  std::unique_ptr<Kernel> kernel = compileScored(c);
  for (int64_t length : {1, 33, 170})
    for (double n : {0.0, 3.0, 400.0}) {
      Case other = makeCase(c.program, {{length, length + 20}},
                            {.heads = 4, .kvHeads = 2, .dim = 48, .valueDim = 80});
      other.problem.parameters = {{"n", {n}}, {"share", {0.015625 * n}}, {"m", {1, n, 2, 0}}};
      EXPECT_EQ(checkScored(kernel, other), "") << length << ", n = " << n;
    }
}

TEST(ScoredFaults, K17ThreadsAndRepetitionsChangeNoBit) {
  for (const char *program : kAll) {
    Case c = grouped(program);
    std::unique_ptr<Kernel> kernel = compileScored(c);
    if (!kernel)
      continue;
    PreparedRun one(*kernel, c, {});
    one.threads = 1;
    run(*kernel, one);
    ASSERT_TRUE(one.result.status) << one.result.status.message();
    for (int64_t threads : {1, 2, 3, 7}) {
      PreparedRun other(*kernel, c, {});
      other.threads = threads;
      run(*kernel, other);
      EXPECT_TRUE(sameResults(one.result, other.result)) << program << "\n" << threads;
    }
  }
}

} // namespace
