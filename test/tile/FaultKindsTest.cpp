// Kinds of fault that attention kernels are known for, each by its case: empty rows, lengths off
// the tile, 32-bit overflow, paged layouts; and invariance to the batch and to how a prompt was
// cut.
#include "test/tile/Programs.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cmath>
#include <cstring>

using namespace skim;
using namespace skim::test;

namespace {

constexpr double tolerance = 3e-6;

bool causal(int64_t, int64_t, int64_t q, int64_t k) { return k <= q; }

void runIndexed(AttentionBatch &batch, const AttentionText &text, const cpu::Target &target,
                const std::vector<int64_t> &parameters = {}) {
  std::unique_ptr<cpu::Jit> jit = compile(attentionProgram(batch.shape(), text), target);
  ASSERT_NE(jit, nullptr);
  std::vector<skim_scalar> scalars(parameters.size());
  std::vector<skim_parameter> slots(parameters.size());
  for (size_t slot = 0; slot < parameters.size(); ++slot) {
    scalars[slot].index = parameters[slot];
    slots[slot].values = &scalars[slot];
  }
  skim_kernel_args args = batch.arguments();
  args.parameters = slots.data();
  batch.run(lookup(*jit, "attention"), text.rows, args);
}

const cpu::Target &native() { return *llvm::cantFail(cpu::findTarget("native")); }

} // namespace

// K1: rows without a key give 0 and -inf, not NaN.
TEST(FaultKinds, K1RowsWithoutKeys) {
  Shape shape;
  // The first 128 rows of the first request lie before key 0.
  shape.requests = {{130, 2}, {10, 0}, {70, 70}};
  AttentionBatch batch(shape, 20);
  runIndexed(batch, causalText(64, 64), native());
  batch.expectAttention(causal, tolerance);
  EXPECT_TRUE(std::isinf(batch.logSumExp(0, 127, 0)));
  EXPECT_FALSE(std::isinf(batch.logSumExp(0, 128, 0)));
}

// K1: also where a tile is visited for the sake of other rows, and with a sink logit.
TEST(FaultKinds, K1EmptyRowsOfVisitedTiles) {
  Shape shape;
  shape.requests = {{96, 96}};
  AttentionBatch batch(shape, 21);
  AttentionText text = causalText(64, 64);
  // Every third row keeps nothing.
  text.mask =
      "        %c = tile.contains affine_set<(q, k) : (q - k >= 0, (q mod 3) - 1 >= 0)>(%q, %k) "
      ": i1\n        %keep = arith.andi %c, %c : i1\n";
  text.hidden =
      "interval<lower = affine_map<(t)[s0, s1] -> (0)>, upper = affine_map<(t)[s0, s1] -> (s1)>>";
  text.literals = "    %sink = arith.constant 1.5 : f32\n";
  text.sink = "sink(%sink)";
  runIndexed(batch, text, native());
  batch.expectAttention([](int64_t, int64_t, int64_t q, int64_t k) { return k <= q && q % 3 != 0; },
                        tolerance, {}, 1.5);
}

// K2: lengths around tile sizes. Everything beyond the last key and row is NaN in memory.
TEST(FaultKinds, K2LengthsOffTheTile) {
  for (int64_t length : {1, 7, 63, 64, 65, 127, 129, 500, 501}) {
    Shape shape;
    shape.pageSize = 48;
    shape.requests = {{length, length}, {(length + 1) / 2, length}};
    AttentionBatch batch(shape, static_cast<unsigned>(length));
    runIndexed(batch, causalText(64, 64), native());
    batch.expectAttention(causal, tolerance);
  }
}

// K5: offsets beyond 2^32 elements, in the pages and in the strides.
TEST(FaultKinds, K5OffsetsBeyond32Bits) {
  Shape shape;
  shape.queryHeads = 2;
  shape.kvHeads = 2;
  shape.pageSize = 64;
  shape.requests = {{70, 130}};
  AttentionBatch batch(shape, 22);
  skim_kernel_args args = batch.arguments();
  // The same pages again, spread over address space that is mostly never touched.
  int64_t dim = shape.headDim, pageElements = 64 * 2 * dim;
  // Three pages are owned; a table of three entries is drawn from five.
  constexpr int64_t pages = 5, pageStride = 70'000'000, headStride = 5'000'000'000;
  constexpr int64_t bytes = (headStride + 12 * pageStride) * 4;
  std::array<void *, 2> spread;
  for (void *&memory : spread) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
  }
  auto copy = [&](const skim_pages &from, void *to) {
    for (int64_t page = 0; page < pages; ++page)
      for (int64_t slot = 0; slot < 64; ++slot)
        for (int64_t head = 0; head < 2; ++head)
          std::memcpy(static_cast<float *>(to) + page * pageStride + head * headStride + slot * dim,
                      static_cast<float *>(from.data) + page * pageElements +
                          (slot * 2 + head) * dim,
                      static_cast<size_t>(dim) * sizeof(float));
  };
  copy(args.key, spread[0]);
  copy(args.value, spread[1]);
  args.key = {spread[0], pageStride, dim, headStride};
  args.value = {spread[1], pageStride, dim, headStride};
  AttentionText text = causalText(64, 64);
  std::unique_ptr<cpu::Jit> jit = compile(attentionProgram(shape, text), native());
  ASSERT_NE(jit, nullptr);
  batch.run(lookup(*jit, "attention"), 64, args);
  batch.expectAttention(causal, tolerance);
  for (void *memory : spread)
    munmap(memory, bytes);
}

// K7: any page size and layout gives the same bits as contiguous keys and values.
TEST(FaultKinds, K7PagedLayouts) {
  Shape contiguous;
  contiguous.queryHeads = 4;
  contiguous.kvHeads = 2;
  contiguous.requests = {{100, 300}, {0, 40}, {129, 129}, {1, 257}};
  AttentionBatch expected(contiguous, 23);
  runIndexed(expected, causalText(64, 64), native());
  expected.expectAttention(causal, tolerance);
  for (int64_t pageSize : {1, 16, 32, 48, 64, 128, 256})
    for (bool headMajor : {false, true}) {
      Shape shape = contiguous;
      shape.pageSize = pageSize;
      shape.headMajor = headMajor;
      AttentionBatch batch(shape, 23);
      runIndexed(batch, causalText(64, 64), native());
      for (size_t request = 0; request < shape.requests.size(); ++request)
        for (int64_t row = 0; row < shape.requests[request].q; ++row)
          for (int64_t head = 0; head < 4; ++head) {
            auto r = static_cast<int64_t>(request);
            ASSERT_EQ(batch.logSumExp(r, row, head), expected.logSumExp(r, row, head));
            for (int64_t i = 0; i < shape.valueDim; ++i)
              ASSERT_EQ(batch.output(r, row, head, i), expected.output(r, row, head, i))
                  << "page size " << pageSize << " request " << request << " row " << row;
          }
    }
}

namespace {

/// One request as a view of another batch's first request: its rows [begin, begin + q) with the
/// keys up to their end.
struct Chunk {
  int64_t begin, rows;
};

} // namespace

// Rule 16: a prompt cut into chunks gives the same bits, whatever tiles the cuts fall in.
TEST(Invariance, ChunksOfOnePrompt) {
  for (const cpu::Target *target : hostTargets()) {
    Shape shape;
    shape.requests = {{300, 300}};
    AttentionBatch whole(shape, 24);
    AttentionText text = streamingText(64, 64);
    std::unique_ptr<cpu::Jit> jit = compile(attentionProgram(shape, text), *target);
    ASSERT_NE(jit, nullptr);
    skim_cpu_kernel kernel = lookup(*jit, "attention");
    std::array<skim_scalar, 2> scalars = {{{.index = 20}, {.index = 70}}};
    std::array<skim_parameter, 2> parameters = {{{&scalars[0]}, {&scalars[1]}}};
    skim_kernel_args args = whole.arguments();
    args.parameters = parameters.data();
    whole.run(kernel, 64, args);

    int64_t stride = shape.queryHeads * shape.valueDim;
    std::vector<float> out(static_cast<size_t>(300 * stride), NAN);
    std::vector<float> lse(static_cast<size_t>(300 * shape.queryHeads), NAN);
    for (Chunk chunk :
         {Chunk{0, 1}, Chunk{1, 99}, Chunk{100, 64}, Chunk{164, 130}, Chunk{294, 6}}) {
      skim_kernel_args part = args;
      std::array<int32_t, 2> cuSeqlensQ = {0, static_cast<int32_t>(chunk.rows)};
      auto kvLen = static_cast<int32_t>(chunk.begin + chunk.rows);
      part.cu_seqlens_q = cuSeqlensQ.data();
      part.kv_lens = &kvLen;
      part.query.data =
          static_cast<float *>(args.query.data) + chunk.begin * args.query.token_stride;
      part.out.data = out.data() + chunk.begin * stride;
      part.lse = lse.data() + chunk.begin;
      part.lse_head_stride = 300;
      part.kept = nullptr;
      std::vector<skim_work_item> items;
      for (int32_t head = 0; head < 2; ++head)
        for (auto tile = static_cast<int32_t>(chunk.begin / 64); tile <= (kvLen - 1) / 64; ++tile)
          items.push_back({0, head, tile, 0});
      kernel(&part, items.data(), 0, static_cast<int64_t>(items.size()), /*worker=*/0);
    }
    for (int64_t row = 0; row < 300; ++row)
      for (int64_t head = 0; head < 2; ++head) {
        ASSERT_EQ(lse[head * 300 + row], whole.logSumExp(0, row, head)) << row;
        for (int64_t i = 0; i < shape.valueDim; ++i)
          ASSERT_EQ(out[row * stride + head * shape.valueDim + i], whole.output(0, row, head, i))
              << target->name.str() << " row " << row;
      }
  }
}
