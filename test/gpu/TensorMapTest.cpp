// Tensor maps of every layout, seen through the copy engine, and the operands that have none.
#include "test/gpu/Device.h"
#include "test/gpu/TestImage.h"

#include "runtime/LaunchPlan.h"

#include <skim/Kernel.h>

#include <gmock/gmock.h>

#include <numeric>

using namespace skim;
using namespace skim::test;
using testing::HasSubstr;

namespace {

constexpr int64_t kTokens = 64; // a multiple of the tile
constexpr int64_t kTile = 16;
constexpr int64_t kHeads = 2;
constexpr uint16_t kPoison = 0xffff;

LaunchPlan copyPlan(const std::string &kernel, int64_t dim) {
  LaunchPlan plan;
  plan.pattern = "copy";
  plan.signature.queryHeads = plan.signature.kvHeads = kHeads;
  plan.signature.headDim = plan.signature.valueDim = dim;
  plan.signature.operand = plan.signature.output = DType::BF16;
  plan.kernels = {{.symbol = kernel + "_" + std::to_string(dim),
                   .tileSize = kTile,
                   .cuda = CudaLaunch{.threads = 1,
                                      .sharedBytes = kTile * dim * 2,
                                      .tensorMaps = true,
                                      .rowsPerTile = kTile,
                                      .keysPerTile = kTile}}};
  return plan;
}

/// Where an element of a row lies in a box, in elements: the swizzle of 128 bytes exchanges 16
/// bytes of a row by its number in eight rows, that of 64 bytes by half of it.
int64_t swizzled(int64_t dim, int64_t row, int64_t column) {
  const int64_t columns = dim % 64 == 0 ? 64 : 32;
  const int64_t panel = column / columns;
  const int64_t chunk = column % columns / 8;
  const int64_t pattern = columns == 64 ? row % 8 : row % 8 / 2;
  return (panel * kTile + row) * columns + (chunk ^ pattern) * 8 + column % 8;
}

class TensorMaps : public GpuTest {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (device && device->computeCapability() < 90)
      GTEST_SKIP() << device->name() << " has no tensor maps";
  }

  /// One request of kTokens rows. Expects element (token, head, column) of what the kernel copies
  /// to be what `valueOf` says.
  void expectCopies(const char *symbol, int64_t dim, Operands operands,
                    const std::function<uint16_t(int64_t, int64_t, int64_t)> &valueOf) {
    const Expected<Kernel> kernel = Kernel::createCuda(copyPlan(symbol, dim), kTensorMapImage);
    ASSERT_TRUE(kernel) << kernel.status().message();
    const DeviceArray<int32_t> cuSeqlens(std::vector<int32_t>{0, kTokens});
    const DeviceArray<int32_t> kvLens(std::vector<int32_t>{kTokens});
    const DeviceArray<uint16_t> out(std::vector<uint16_t>(kTokens * kHeads * dim, kPoison));
    operands.cuSeqlensQ = TensorView::contiguous(cuSeqlens.data(), DType::I32, {2});
    operands.kvLens = TensorView::contiguous(kvLens.data(), DType::I32, {1});
    if (operands.kvLayout == KvLayout::Contiguous)
      operands.cuSeqlensKv = operands.cuSeqlensQ;
    operands.out = TensorView::contiguous(out.data(), DType::BF16, {kTokens, kHeads, dim});
    const Plan plan = *kernel->plan({1, kTokens, kTokens, kTokens});
    const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()), 0xff);
    const DeviceStream stream;
    RunOptions options;
    options.stream = stream.get();
    const Status status = kernel->run(plan, operands, {}, workspace.span(), options);
    ASSERT_TRUE(status) << status.message();
    const Status met = kernel->status(stream.get());
    ASSERT_TRUE(met) << met.message();
    const std::vector<uint16_t> boxes = out.read();
    int64_t wrong = 0;
    std::string first;
    for (int64_t token = 0; token < kTokens; ++token)
      for (int64_t head = 0; head < kHeads; ++head)
        for (int64_t column = 0; column < dim; ++column) {
          const int64_t box = (token / kTile * kHeads + head) * kTile * dim;
          const uint16_t got = boxes[box + swizzled(dim, token % kTile, column)];
          const uint16_t expected = valueOf(token, head, column);
          if (got != expected && ++wrong <= 8)
            first += "\n  token " + std::to_string(token) + " head " + std::to_string(head) +
                     " column " + std::to_string(column) + ": " + std::to_string(got) +
                     " instead of " + std::to_string(expected);
        }
    EXPECT_EQ(wrong, 0) << symbol << first;
  }
};

/// Head dimensions of panels of 64 and of 32 columns, each with kernels of its own.
class TensorMapsOfDim : public TensorMaps, public testing::WithParamInterface<int64_t> {};
INSTANTIATE_TEST_SUITE_P(All, TensorMapsOfDim, testing::Values(128, 96));

std::vector<uint16_t> counted(int64_t elements) {
  std::vector<uint16_t> values(static_cast<size_t>(elements));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint16_t>(i * 40503U >> 3);
  return values;
}

TEST_P(TensorMapsOfDim, queriesAndKeysOfAnyStridesArriveSwizzled) {
  const int64_t dim = GetParam();
  const int64_t rows = kTokens;
  struct Layout {
    const char *name;
    int64_t token, head;
  };
  // [tokens, heads, dim]; heads outermost; between other tensors, as a fused projection leaves it.
  for (const Layout &layout :
       {Layout{"dense", kHeads * dim, dim}, Layout{"head major", dim, rows * dim},
        Layout{"fused", 5 * kHeads * dim, dim}}) {
    const std::vector<uint16_t> values = counted(rows * 5 * kHeads * dim);
    const DeviceArray<uint16_t> memory(values);
    const TensorView view = TensorView::strided(memory.data(), DType::BF16, {rows, kHeads, dim},
                                                {layout.token, layout.head, 1});
    Operands operands;
    operands.q = operands.k = operands.v = view;
    const auto valueOf = [&](int64_t token, int64_t head, int64_t column) {
      return values[token * layout.token + head * layout.head + column];
    };
    SCOPED_TRACE(layout.name);
    expectCopies("copy_queries", dim, operands, valueOf);
    expectCopies("copy_keys", dim, operands, valueOf);
    EXPECT_EQ(memory.read(), values) << "operands are not written";
  }
}

TEST_P(TensorMapsOfDim, whatLiesBeyondTheKeysArrivesAsZeros) {
  const int64_t dim = GetParam();
  const int64_t keys = 40; // the request's length says more: two tiles and a half
  const std::vector<uint16_t> values = counted(kTokens * kHeads * dim);
  const DeviceArray<uint16_t> memory(values);
  Operands operands;
  operands.q = TensorView::contiguous(memory.data(), DType::BF16, {kTokens, kHeads, dim});
  operands.k = operands.v = operands.q;
  const Expected<Kernel> kernel = Kernel::createCuda(copyPlan("copy_keys", dim), kTensorMapImage);
  ASSERT_TRUE(kernel) << kernel.status().message();
  operands.k.shape[0] = operands.v.shape[0] = keys;
  const DeviceArray<int32_t> cuSeqlensQ(std::vector<int32_t>{0, keys});
  const DeviceArray<int32_t> kvLens(std::vector<int32_t>{keys});
  const DeviceArray<uint16_t> out(std::vector<uint16_t>(kTokens * kHeads * dim, kPoison));
  operands.cuSeqlensQ = TensorView::contiguous(cuSeqlensQ.data(), DType::I32, {2});
  operands.cuSeqlensKv = operands.cuSeqlensQ;
  operands.kvLens = TensorView::contiguous(kvLens.data(), DType::I32, {1});
  operands.out = TensorView::contiguous(out.data(), DType::BF16, {kTokens, kHeads, dim});
  const Plan plan = *kernel->plan({1, keys, keys, keys});
  const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()), 0xff);
  const DeviceStream stream;
  RunOptions options;
  options.stream = stream.get();
  ASSERT_TRUE(kernel->run(plan, operands, {}, workspace.span(), options));
  ASSERT_TRUE(kernel->status(stream.get()));
  const std::vector<uint16_t> boxes = out.read();
  for (int64_t row = 0; row < kTile; ++row)
    for (int64_t column = 0; column < dim; ++column) {
      const int64_t token = 2 * kTile + row;
      ASSERT_EQ(boxes[2 * kHeads * kTile * dim + swizzled(dim, row, column)],
                token < keys ? values[token * kHeads * dim + column] : 0)
          << token;
    }
}

TEST_P(TensorMapsOfDim, pagesOfAnyPowerOfTwoArriveSwizzled) {
  const int64_t dim = GetParam();
  for (const KvLayout layout : {KvLayout::PagedNhd, KvLayout::PagedHnd})
    for (const int64_t page : {8, 16, 64}) {
      const int64_t pages = kTokens / page + 3;
      const std::vector<uint16_t> values = counted(pages * page * kHeads * dim);
      const DeviceArray<uint16_t> memory(values);
      std::vector<int32_t> table(static_cast<size_t>(kTokens / page));
      for (size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<int32_t>(pages - 1 - static_cast<int64_t>(i));
      const DeviceArray<int32_t> tableOnGpu(table);
      const bool nhd = layout == KvLayout::PagedNhd;
      Operands operands;
      operands.kvLayout = layout;
      operands.k =
          nhd ? TensorView::contiguous(memory.data(), DType::BF16, {pages, page, kHeads, dim})
              : TensorView::contiguous(memory.data(), DType::BF16, {pages, kHeads, page, dim});
      operands.v = operands.k;
      operands.q = TensorView::contiguous(memory.data(), DType::BF16, {kTokens, kHeads, dim});
      operands.blockTable =
          TensorView::contiguous(tableOnGpu.data(), DType::I32, {1, kTokens / page});
      SCOPED_TRACE(std::string(nhd ? "nhd " : "hnd ") + std::to_string(page));
      expectCopies("copy_paged_values", dim, operands,
                   [&](int64_t token, int64_t head, int64_t column) {
                     const int64_t number = table[token / page];
                     const int64_t slot = token % page;
                     const int64_t row = nhd ? (number * page + slot) * kHeads + head
                                             : (number * kHeads + head) * page + slot;
                     return values[row * dim + column];
                   });
    }
}

TEST_F(TensorMaps, operandsThatTheCopyEngineCannotReadAreRefused) {
  constexpr int64_t kDim = 128;
  const Expected<Kernel> kernel = Kernel::createCuda(copyPlan("copy_keys", kDim), kTensorMapImage);
  ASSERT_TRUE(kernel) << kernel.status().message();
  const DeviceBytes memory(1 << 20);
  const Plan plan = *kernel->plan({1, 8, 8, 8});
  const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()));
  const auto message = [&](const std::function<void(Operands &)> &change) {
    Operands operands;
    const auto at = [&](int64_t offset) { return memory.data() + offset; };
    operands.q = TensorView::contiguous(at(0), DType::BF16, {8, kHeads, kDim});
    operands.k = operands.v = operands.q;
    operands.cuSeqlensQ = TensorView::contiguous(at(65536), DType::I32, {2});
    operands.cuSeqlensKv = operands.cuSeqlensQ;
    operands.kvLens = TensorView::contiguous(at(65536), DType::I32, {1});
    operands.out = TensorView::contiguous(at(131072), DType::BF16, {8, kHeads, kDim});
    change(operands);
    return kernel->run(plan, operands, {}, workspace.span(), {}).message();
  };
  EXPECT_EQ(
      message([&](Operands &o) { o.k.data = memory.data() + 2; }),
      "k: expected data aligned to 16 bytes (the kernel copies through tensor maps) but got an "
      "address that is not");
  EXPECT_EQ(message([&](Operands &o) { o.v.strides[0] = 300; }),
            "v: expected strides of 0 to 2^40 bytes that are multiples of 16 (the kernel copies "
            "through tensor maps) but got 600 bytes along axis 0 of bf16[8, 2, 128]");
  EXPECT_THAT(message([&](Operands &o) {
                o.q.strides[1] = -128;
                o.q.data = memory.data() + 4096;
              }),
              HasSubstr("but got -256 bytes along axis 1"));
  EXPECT_EQ(message([&](Operands &o) {
              o.out = TensorView::strided(memory.data() + 131072, DType::BF16, {8, kHeads, kDim},
                                          {kHeads * kDim + 1, kDim, 1});
            }),
            "out: expected rows that start at multiples of 16 bytes (the kernel stores as many at "
            "once) but got rows of bf16[8, 2, 128] that do not");
  EXPECT_THAT(message([&](Operands &o) {
                o.kvLayout = KvLayout::PagedNhd;
                o.k = o.v =
                    TensorView::contiguous(memory.data(), DType::BF16, {4, 12, kHeads, kDim});
                o.cuSeqlensKv = {};
                o.blockTable = TensorView::contiguous(memory.data() + 65536, DType::I32, {1, 1});
              }),
              HasSubstr("k: expected pages of a power of two of at least 8 keys (the kernel copies "
                        "through tensor maps) but got pages of 12"));
}

} // namespace
