// Kinds of faults that other systems had: where operands lie, and how many heads there are. Each
// test bears the name of its kind.
#include "test/numerics/FaultCases.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace skim;
using namespace skim::numerics;

namespace {

TEST(FaultKinds, K7PagesOfAnySizeAnywhereChangeNoBit) {
  for (Heads heads : {Heads{.heads = 4, .kvHeads = 2, .operand = OperandType::bf16},
                      Heads{.heads = 3, .kvHeads = 1, .dim = 80, .valueDim = 48}}) {
    Case c = sharedPrefix(heads);
    Expected<Kernel> kernel = compileCase(c);
    ASSERT_TRUE(kernel) << kernel.status().message();
    RunResult expected = runOnCpu(*kernel, c, {.padding = 0});
    ASSERT_TRUE(expected.status) << expected.status.message();
    ReferenceRun reference = runOnReference(c);
    ASSERT_TRUE(reference.ok) << reference.message;
    EXPECT_EQ(compare(c, reference.result, expected), "");
    for (int64_t pageSize : {1, 16, 32, 48, 64, 128, 256})
      for (KvLayout kv : {KvLayout::PagedNhd, KvLayout::PagedHnd})
        for (bool interleaved : {false, true}) {
          Layout layout{.kv = kv,
                        .pageSize = pageSize,
                        .interleaved = interleaved,
                        .sharesPages = true,
                        .seed = uint64_t(pageSize)};
          RunResult actual = runOnCpu(*kernel, c, layout);
          ASSERT_TRUE(actual.status) << actual.status.message();
          EXPECT_TRUE(sameBits(actual.out, expected.out) && sameBits(actual.lse, expected.lse))
              << "page size " << pageSize << (kv == KvLayout::PagedNhd ? ", NHD" : ", HND")
              << (interleaved ? ", interleaved" : "");
        }
  }
}

TEST(FaultKinds, K7AKernelForOnePageSizeServesNoOther) {
  Case c = sharedPrefix({.heads = 2, .kvHeads = 2});
  CompileOptions options = optionsFor(c);
  options.pageSize = 16;
  Expected<Kernel> kernel = Compiler().compile(Pattern::fromText(c.program), options);
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_TRUE(runOnCpu(*kernel, c, {.kv = KvLayout::PagedHnd, .pageSize = 16}).status);
  EXPECT_FALSE(runOnCpu(*kernel, c, {.kv = KvLayout::PagedHnd, .pageSize = 32}).status);
}

TEST(FaultKinds, K10HeadsOfOneGroupHaveMasksOfTheirOwn) {
  struct Shape {
    int64_t heads, kvHeads, dim, valueDim;
  };
  for (Shape shape : {Shape{7, 1, 64, 64}, Shape{28, 4, 80, 80}, Shape{24, 4, 96, 96},
                      Shape{40, 8, 128, 128}, Shape{5, 5, 192, 192}, Shape{64, 1, 32, 32},
                      Shape{12, 12, 64, 64}, Shape{6, 2, 256, 256}, Shape{4, 1, 192, 128}}) {
    Case c = makeCase("pattern p { input layout: bool[head, q / 16, k / 16]\n"
                      "  keep layout or k < head }",
                      {{70, 90}},
                      {.heads = shape.heads,
                       .kvHeads = shape.kvHeads,
                       .dim = shape.dim,
                       .valueDim = shape.valueDim,
                       .operand = OperandType::bf16});
    addInput(c, "layout", "bool", {shape.heads, 5, 6},
             [](int64_t i) { return i * 2654435761 % 97 < 40; });
    EXPECT_EQ(checkCase(c, {.kv = KvLayout::PagedNhd, .pageSize = 16}), "")
        << shape.heads << " heads over " << shape.kvHeads << ", dimension " << shape.dim;
  }
}

TEST(FaultKinds, K11HeadsOutsideOfTokensAndPackedOperands) {
  // [heads, tokens, dim] seen as [tokens, heads, dim], and q, k, v as slices of one array.
  Case c = makeCase("pattern p { keep q - k < 33 }", {{70, 70}}, {.heads = 3, .kvHeads = 3});
  Expected<Kernel> kernel = compileCase(c);
  ASSERT_TRUE(kernel) << kernel.status().message();
  RunResult expected = runOnCpu(*kernel, c, {});
  PreparedRun prepared(*kernel, c, {});
  std::vector<float> packed(3 * 3 * 70 * 64);
  const reference::Tokens *operands[] = {&c.problem.q, &c.problem.k, &c.problem.v};
  TensorView *views[] = {&prepared.operands.q, &prepared.operands.k, &prepared.operands.v};
  for (int which = 0; which != 3; ++which) {
    for (int64_t t = 0; t != 70; ++t)
      for (int64_t h = 0; h != 3; ++h)
        for (int64_t i = 0; i != 64; ++i)
          packed[((h * 3 + which) * 70 + t) * 64 + i] = float(operands[which]->row(t, h)[i]);
    *views[which] = TensorView::strided(packed.data() + which * 70 * 64, DType::F32, {70, 3, 64},
                                        {64, 3 * 70 * 64, 1});
  }
  run(*kernel, prepared);
  ASSERT_TRUE(prepared.result.status) << prepared.result.status.message();
  EXPECT_TRUE(sameBits(prepared.result.out, expected.out));
}

TEST(FaultKinds, K11AStrideInsideAVectorIsRefused) {
  Case c = makeCase("pattern p { keep true }", {{8, 8}}, {});
  Expected<Kernel> kernel = compileCase(c);
  ASSERT_TRUE(kernel) << kernel.status().message();
  PreparedRun prepared(*kernel, c, {.padding = 64});
  prepared.operands.q.strides[2] = 2;
  run(*kernel, prepared);
  EXPECT_EQ(prepared.result.status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(prepared.result.status.message().find("stride"), std::string::npos)
      << prepared.result.status.message();
}

} // namespace
