// Kinds of faults that other systems had, on a CUDA device: where operands lie, and how many heads
// there are. Each test bears the name of its kind.
#include "test/gpu/CudaRun.h"
#include "test/numerics/FaultCases.h"

using namespace skim;
using namespace skim::numerics;

namespace {

class CudaLayouts : public CudaTest {};

TEST_F(CudaLayouts, K7PagesAnywhereChangeNoBit) {
  for (Heads heads :
       {Heads{.heads = 4, .kvHeads = 2, .operand = OperandType::bf16},
        Heads{.heads = 3, .kvHeads = 1, .dim = 192, .valueDim = 128, .operand = OperandType::f16},
        Heads{.heads = 2, .kvHeads = 1, .dim = 96, .operand = OperandType::bf16}}) {
    Case c = sharedPrefix(heads);
    std::unique_ptr<Kernel> kernel = compile(c);
    ASSERT_TRUE(kernel);
    RunResult expected = run(*kernel, c, {.padding = 0});
    ReferenceRun reference = runOnReference(c);
    ASSERT_TRUE(reference.ok) << reference.message;
    ASSERT_EQ(compareRuns(c, reference.result, expected), "");
    for (int64_t pageSize : {1, 7, 8, 16, 32, 48, 64, 128, 256})
      for (KvLayout kv : {KvLayout::PagedNhd, KvLayout::PagedHnd}) {
        Layout layout{.kv = kv,
                      .pageSize = pageSize,
                      .padding = 8,
                      .sharesPages = true,
                      .seed = uint64_t(pageSize)};
        std::unique_ptr<Kernel> paged = compile(c, layout);
        ASSERT_TRUE(paged);
        for (bool interleaved : {false, true}) {
          layout.interleaved = interleaved;
          RunResult actual = run(*paged, c, layout);
          EXPECT_TRUE(sameResults(actual, expected))
              << "page size " << pageSize << (kv == KvLayout::PagedNhd ? ", NHD" : ", HND")
              << (interleaved ? ", interleaved: " : ": ") << actual.status.message();
        }
      }
  }
}

TEST_F(CudaLayouts, K5PagesFarIntoALargePool) {
  // Elements of the pool beyond 2^32, in both caches; all pages but those of the request are NaN.
  constexpr int64_t kPages = 70'000, kPageSize = 64;
  Case c = makeCase(kBlocks, {{130, 700}},
                    {.heads = 8, .kvHeads = 8, .dim = 128, .operand = OperandType::bf16});
  addInput(c, "layout", "bool", {8, 2, 6}, [](int64_t i) { return i % 3 != 1; });
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  RunResult expected = run(*kernel, c, {.padding = 0});
  ASSERT_TRUE(expected.status) << expected.status.message();

  const Layout layout{.kv = KvLayout::PagedNhd, .pageSize = kPageSize, .padding = 0};
  std::unique_ptr<Kernel> paged = compile(c, layout);
  ASSERT_TRUE(paged);
  PreparedRun prepared(*paged, c, layout);
  Expected<std::unique_ptr<cuda::DeviceArena>> arena = cuda::DeviceArena::create(device);
  ASSERT_TRUE(arena) << arena.status().message();
  Operands host = prepared.operands;
  auto pages = static_cast<int64_t>(host.k.shape[0]);
  int64_t columns = host.blockTable.shape[1];
  auto *table = static_cast<int32_t *>(host.blockTable.data);
  for (int64_t i = 0; i != columns; ++i)
    if (table[i] >= 0 && table[i] < pages)
      table[i] += static_cast<int32_t>(kPages - pages);
  Expected<DeviceOperands> onDevice = DeviceOperands::copy(**arena, host);
  ASSERT_TRUE(onDevice) << onDevice.status().message();
  for (TensorView Operands::*view : {&Operands::k, &Operands::v}) {
    TensorView &pool = onDevice->operands.*view;
    const size_t pageBytes = static_cast<size_t>(pool.strides[0]) * 2;
    Expected<std::span<std::byte>> memory = (*arena)->allocate(kPages * pageBytes);
    if (!memory)
      GTEST_SKIP() << "the device has no room for two pools of " << kPages << " pages";
    ASSERT_EQ(api().fillBytes(memory->data(), 0xff, memory->size()), 0);
    std::byte *last = memory->data() + static_cast<size_t>(kPages - pages) * pageBytes;
    ASSERT_EQ(api().copyToDevice(last, (host.*view).data, static_cast<size_t>(pages) * pageBytes),
              0);
    pool.data = memory->data();
    pool.shape[0] = kPages;
  }
  ASSERT_EQ(api().streamSynchronize(nullptr), 0);
  Status status =
      runOnce(**arena, api(), *paged, {1, 130, 130, 700}, onDevice->operands, prepared.parameters);
  ASSERT_TRUE(status) << status.message();
  ASSERT_TRUE(onDevice->read(**arena, prepared.operands));
  prepared.widenOut();
  EXPECT_TRUE(sameBits(prepared.result.out, expected.out));
  EXPECT_TRUE(sameBits(prepared.result.lse, expected.lse));
}

TEST_F(CudaLayouts, K10HeadsOfOneGroupHaveMasksOfTheirOwn) {
  struct Shape {
    int64_t heads, kvHeads, dim, valueDim;
  };
  for (Shape shape :
       {Shape{7, 1, 64, 64}, Shape{28, 4, 128, 128}, Shape{24, 4, 64, 64}, Shape{40, 8, 128, 128},
        Shape{5, 5, 192, 192}, Shape{64, 1, 64, 64}, Shape{12, 12, 64, 64}, Shape{6, 2, 256, 256},
        Shape{4, 1, 192, 128}, Shape{24, 4, 96, 96}, Shape{4, 2, 96, 64}, Shape{4, 2, 64, 96},
        Shape{2, 1, 32, 224}, Shape{4, 2, 80, 80}}) {
    Case c = makeCase("pattern p { input layout: bool[head, q / 16, k / 16]\n"
                      "  keep layout or k < head }",
                      {{170, 190}},
                      {.heads = shape.heads,
                       .kvHeads = shape.kvHeads,
                       .dim = shape.dim,
                       .valueDim = shape.valueDim,
                       .operand = OperandType::bf16});
    addInput(c, "layout", "bool", {shape.heads, 12, 12},
             [](int64_t i) { return i * 2654435761 % 97 < 40; });
    // Right, or a clear refusal.
    Expected<Kernel> kernel = compileForCuda(c);
    if (!kernel && shape.dim % 32 != 0) {
      EXPECT_EQ(refusalOf(kernel.status()),
                "sm_90a: expected head dimensions that are multiples of 32 up to 256");
      continue;
    }
    EXPECT_EQ(check(c, {.kv = KvLayout::PagedNhd, .pageSize = 16, .padding = 8}), "")
        << shape.heads << " heads over " << shape.kvHeads << ", dimension " << shape.dim;
  }
}

TEST_F(CudaLayouts, K11HeadsOutsideOfTokensAndPackedOperands) {
  // [heads, tokens, dim] seen as [tokens, heads, dim], and q, k, v as slices of one array; the
  // second call of one kernel, after one with dense operands.
  Case c = makeCase("pattern p { keep q - k < 33 }", {{70, 70}},
                    {.heads = 3, .kvHeads = 3, .operand = OperandType::bf16});
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  RunResult expected = run(*kernel, c, {.padding = 0});
  PreparedRun prepared(*kernel, c, {.padding = 0});
  Floats packed(DType::BF16, 3 * 3 * 70 * 64);
  const reference::Tokens *operands[] = {&c.problem.q, &c.problem.k, &c.problem.v};
  TensorView *views[] = {&prepared.operands.q, &prepared.operands.k, &prepared.operands.v};
  for (int which = 0; which != 3; ++which) {
    for (int64_t t = 0; t != 70; ++t)
      for (int64_t h = 0; h != 3; ++h)
        for (int64_t i = 0; i != 64; ++i)
          packed.set(((h * 3 + which) * 70 + t) * 64 + i, float(operands[which]->row(t, h)[i]));
    *views[which] = TensorView::strided(packed.at(which * 70 * 64), DType::BF16, {70, 3, 64},
                                        {64, 3 * 70 * 64, 1});
  }
  runOnCuda(device, *kernel, prepared);
  EXPECT_TRUE(sameResults(prepared.result, expected)) << prepared.result.status.message();
}

TEST_F(CudaLayouts, K11AStrideInsideAVectorIsRefused) {
  Case c = makeCase("pattern p { keep true }", {{8, 8}}, {.operand = OperandType::bf16});
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  PreparedRun prepared(*kernel, c, {.padding = 64});
  prepared.operands.q.strides[2] = 2;
  runOnCuda(device, *kernel, prepared);
  EXPECT_EQ(prepared.result.status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(prepared.result.status.message().find("stride"), std::string::npos)
      << prepared.result.status.message();
}

} // namespace
