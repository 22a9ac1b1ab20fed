// Kinds of faults that other systems had: long contexts and large strides. Each test bears the name
// of its kind.
#include "test/numerics/Cases.h"
#include "test/numerics/CpuRun.h"

#include <skim/WorkspaceMemory.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sys/mman.h>

using namespace skim;
using namespace skim::numerics;

namespace {

constexpr const char *kStreaming =
    "pattern p(sink: index = 64, window: index = 512) { keep k < sink or q - k < window }";

/// Memory that takes room only where it is written.
class SparseMemory {
public:
  explicit SparseMemory(int64_t bytes) : bytes(bytes) {
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
  }
  ~SparseMemory() {
    if (isGood())
      munmap(data, bytes);
  }
  SparseMemory(const SparseMemory &) = delete;
  SparseMemory &operator=(const SparseMemory &) = delete;

  bool isGood() const { return data != MAP_FAILED; }
  template <typename T> T *as() { return static_cast<T *>(data); }

private:
  int64_t bytes;
  void *data;
};

Expected<Kernel> compile(const char *program, int64_t heads, int64_t kvHeads, int64_t dim,
                         DType dtype) {
  CompileOptions options;
  options.queryHeads = heads;
  options.kvHeads = kvHeads;
  options.headDim = dim;
  options.dtype = dtype;
  return Compiler().compile(Pattern::fromText(program), options);
}

/// Runs a program over pages near the end of a pool of 4.6e9 elements.
void expectFarPagesToChangeNothing(const char *program) {
  constexpr int64_t kPages = 70000, kPageSize = 64, kHeads = 8, kDim = 128, kTokens = 150;
  constexpr int64_t kPage = kPageSize * kHeads * kDim;
  Case c = makeCase(program, {{kTokens, kTokens}},
                    {.heads = 8, .kvHeads = 8, .dim = 128, .operand = OperandType::bf16});
  Expected<Kernel> kernel = compileCase(c);
  ASSERT_TRUE(kernel) << kernel.status().message();
  RunResult expected = runOnCpu(*kernel, c, {});
  SparseMemory keys(kPages * kPage * 2), values(kPages * kPage * 2);
  ASSERT_TRUE(keys.isGood() && values.isGood());
  const int32_t table[] = {69999, 3, 65537};
  for (int64_t t = 0; t != kTokens; ++t)
    for (int64_t h = 0; h != kHeads; ++h)
      for (int64_t i = 0; i != kDim; ++i) {
        int64_t at = table[t / kPageSize] * kPage + (t % kPageSize * kHeads + h) * kDim + i;
        keys.as<uint16_t>()[at] = f32ToBf16(float(c.problem.k.row(t, h)[i]));
        values.as<uint16_t>()[at] = f32ToBf16(float(c.problem.v.row(t, h)[i]));
      }
  PreparedRun prepared(*kernel, c, {});
  prepared.operands.kvLayout = KvLayout::PagedNhd;
  prepared.operands.cuSeqlensKv = {};
  prepared.operands.k =
      TensorView::contiguous(keys.as<void>(), DType::BF16, {kPages, kPageSize, kHeads, kDim});
  prepared.operands.v =
      TensorView::contiguous(values.as<void>(), DType::BF16, {kPages, kPageSize, kHeads, kDim});
  prepared.operands.blockTable = TensorView::contiguous(table, DType::I32, {1, 3});
  run(*kernel, prepared);
  ASSERT_TRUE(prepared.result.status) << prepared.result.status.message();
  EXPECT_EQ(std::memcmp(prepared.result.out.data(), expected.out.data(),
                        expected.out.size() * sizeof(float)),
            0);
}

TEST(FaultKinds, K5PagesBeyondTheReachOf32Bits) {
  expectFarPagesToChangeNothing(kStreaming);
  expectFarPagesToChangeNothing("pattern p { keep top_k(dot(Q, mean(K, 16)), 3) }");
}

TEST(FaultKinds, K5RowsBeyondTheReachOf32Bits) {
  // 230,000 rows of a stride of 9728 elements: the last ones lie past 2^31 elements.
  constexpr int64_t kRows = 230000, kStride = 9728, kDim = 32, kChecked = 100;
  Expected<Kernel> kernel = compile("pattern p { keep q - k < 16 }", 1, 1, kDim, DType::F32);
  ASSERT_TRUE(kernel) << kernel.status().message();
  SparseMemory q(kRows * kStride * 4), out(kRows * kStride * 4);
  ASSERT_TRUE(q.isGood() && out.isGood());
  std::vector<float> keys(kRows * kDim), values(kRows * kDim);
  for (int64_t i = 0; i != kRows * kDim; ++i) {
    keys[i] = float(i * 37 % 101 - 50) / 32;
    values[i] = float(i * 53 % 89 - 44) / 32;
  }
  for (int64_t t = 0; t != kRows; ++t)
    for (int64_t i = 0; i != kDim; ++i)
      q.as<float>()[t * kStride + i] = float((t * kDim + i) * 29 % 97 - 48) / 32;
  const int32_t cu[] = {0, kRows}, lens[] = {kRows};
  Operands operands;
  operands.q = TensorView::strided(q.as<void>(), DType::F32, {kRows, 1, kDim}, {kStride, kDim, 1});
  operands.out =
      TensorView::strided(out.as<void>(), DType::F32, {kRows, 1, kDim}, {kStride, kDim, 1});
  operands.k = TensorView::contiguous(keys.data(), DType::F32, {kRows, 1, kDim});
  operands.v = TensorView::contiguous(values.data(), DType::F32, {kRows, 1, kDim});
  operands.cuSeqlensQ = operands.cuSeqlensKv = TensorView::contiguous(cu, DType::I32, {2});
  operands.kvLens = TensorView::contiguous(lens, DType::I32, {1});
  Expected<BatchShape> shape = BatchShape::of(operands.cuSeqlensQ, operands.kvLens);
  ASSERT_TRUE(shape) << shape.status().message();
  Expected<Plan> plan = kernel->plan(*shape);
  ASSERT_TRUE(plan) << plan.status().message();
  WorkspaceMemory workspace(plan->workspaceBytes());
  Status status = kernel->run(*plan, operands, {}, workspace.span());
  ASSERT_TRUE(status) << status.message();

  // The last rows again, as a compact call with a cached prefix.
  std::vector<float> compactQ(kChecked * kDim), compactOut(kChecked * kDim);
  for (int64_t t = 0; t != kChecked; ++t)
    std::copy_n(q.as<float>() + (kRows - kChecked + t) * kStride, kDim, &compactQ[t * kDim]);
  const int32_t compactCu[] = {0, kChecked};
  operands.q = TensorView::contiguous(compactQ.data(), DType::F32, {kChecked, 1, kDim});
  operands.out = TensorView::contiguous(compactOut.data(), DType::F32, {kChecked, 1, kDim});
  operands.cuSeqlensQ = TensorView::contiguous(compactCu, DType::I32, {2});
  status = kernel->run(*plan, operands, {}, workspace.span());
  ASSERT_TRUE(status) << status.message();
  for (int64_t t = 0; t != kChecked; ++t)
    for (int64_t i = 0; i != kDim; ++i)
      ASSERT_TRUE(
          sameBits(compactOut[t * kDim + i], out.as<float>()[(kRows - kChecked + t) * kStride + i]))
          << t << ", " << i;
}

/// One row over `length` keys, all of whose elements are 0 but those of the key `match`; values are
/// 1 there and `others` elsewhere.
float attendLongRow(const Kernel &kernel, int64_t length, int64_t match, float others) {
  constexpr int64_t kDim = 128;
  std::vector<uint16_t> q(kDim, f32ToBf16(1)), k(length * kDim),
      v(length * kDim, f32ToBf16(others));
  // The key's weight is that of all others together.
  float logit = std::log(float(length - 1)), element = logit / std::sqrt(float(kDim));
  std::fill_n(&k[match * kDim], kDim, f32ToBf16(element));
  std::fill_n(&v[match * kDim], kDim, f32ToBf16(1));
  std::vector<float> out(kDim);
  const int32_t cu[] = {0, 1}, cuKeys[] = {0, int32_t(length)}, lens[] = {int32_t(length)};
  Operands operands;
  operands.q = TensorView::contiguous(q.data(), DType::BF16, {1, 1, kDim});
  operands.k = TensorView::contiguous(k.data(), DType::BF16, {length, 1, kDim});
  operands.v = TensorView::contiguous(v.data(), DType::BF16, {length, 1, kDim});
  operands.out = TensorView::contiguous(out.data(), DType::F32, {1, 1, kDim});
  operands.cuSeqlensQ = TensorView::contiguous(cu, DType::I32, {2});
  operands.cuSeqlensKv = TensorView::contiguous(cuKeys, DType::I32, {2});
  operands.kvLens = TensorView::contiguous(lens, DType::I32, {1});
  Expected<BatchShape> shape = BatchShape::of(operands.cuSeqlensQ, operands.kvLens);
  EXPECT_TRUE(shape) << shape.status().message();
  Expected<Plan> plan = kernel.plan(*shape);
  EXPECT_TRUE(plan) << plan.status().message();
  WorkspaceMemory workspace(plan->workspaceBytes());
  Status status = kernel.run(*plan, operands, {}, workspace.span());
  EXPECT_TRUE(status) << status.message();
  EXPECT_TRUE(std::all_of(out.begin(), out.end(), [&](float x) { return x == out[0]; }));
  return out[0];
}

TEST(FaultKinds, K6SumsOverLongRowsLoseNothing) {
  constexpr int64_t kLength = 131072;
  Expected<Kernel> kernel = compile("pattern p { keep true }", 1, 1, 128, DType::BF16);
  ASSERT_TRUE(kernel) << kernel.status().message();
  for (int64_t match : {int64_t(0), kLength / 2, kLength - 1}) {
    // A mean of ones, to half an ulp of f32 for each of 2^17 additions; and the weight of one key
    // among many, to the rounding of its elements.
    EXPECT_NEAR(attendLongRow(*kernel, kLength, match, 1), 1, std::ldexp(1.0, -7)) << match;
    EXPECT_NEAR(attendLongRow(*kernel, kLength, match, 0), 0.5, 0.01) << match;
  }
}

/// A field of /proc/self/status in bytes.
int64_t processBytes(const std::string &field) {
  std::ifstream status("/proc/self/status");
  std::string name;
  int64_t kilobytes = 0;
  while (status >> name) {
    if (name == field + ":" && status >> kilobytes)
      return kilobytes * 1024;
    std::getline(status, name);
  }
  return -1;
}

struct LongRun {
  double seconds = 0;
  int64_t extraBytes = 0; ///< Beyond operands and results, at the peak.
  skim_statistics statistics = {};
};

LongRun runStreaming(const Kernel &kernel, int64_t length, int64_t heads, int64_t dim) {
  LongRun result;
  std::vector<uint16_t> q(length * heads * dim, 0x3c00), k(length * dim, 0x3e00),
      v(length * dim, 0x3f80);
  std::vector<float> out(length * heads * dim, 1.0f);
  const int32_t cu[] = {0, int32_t(length)}, lens[] = {int32_t(length)};
  Operands operands;
  operands.q = TensorView::contiguous(q.data(), DType::BF16, {length, heads, dim});
  operands.k = TensorView::contiguous(k.data(), DType::BF16, {length, 1, dim});
  operands.v = TensorView::contiguous(v.data(), DType::BF16, {length, 1, dim});
  operands.out = TensorView::contiguous(out.data(), DType::F32, {length, heads, dim});
  operands.cuSeqlensQ = operands.cuSeqlensKv = TensorView::contiguous(cu, DType::I32, {2});
  operands.kvLens = TensorView::contiguous(lens, DType::I32, {1});
  int64_t before = processBytes("VmRSS");
  std::ofstream("/proc/self/clear_refs") << "5"; // resets the peak
  auto start = std::chrono::steady_clock::now();
  Expected<BatchShape> shape = BatchShape::of(operands.cuSeqlensQ, operands.kvLens);
  EXPECT_TRUE(shape) << shape.status().message();
  Expected<Plan> plan = kernel.plan(*shape);
  EXPECT_TRUE(plan) << plan.status().message();
  WorkspaceMemory workspace(plan->workspaceBytes());
  RunOptions options;
  options.statistics = &result.statistics;
  Status status = kernel.run(*plan, operands, {}, workspace.span(), options);
  EXPECT_TRUE(status) << status.message();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.extraBytes = processBytes("VmHWM") - before;
  // The mean of values that are all 1.
  EXPECT_TRUE(
      std::all_of(out.begin(), out.end(), [](float value) { return std::abs(value - 1) < 1e-5f; }));
  return result;
}

TEST(FaultKinds, K14StreamingNeedsNoMemoryOfTheSizeOfItsContext) {
  Expected<Kernel> kernel = compile(kStreaming, 2, 1, 64, DType::BF16);
  ASSERT_TRUE(kernel) << kernel.status().message();
  LongRun run = runStreaming(*kernel, 65536, 2, 64);
  EXPECT_LT(run.extraBytes, 64 << 20);
  ASSERT_GE(run.extraBytes, 0);
}

TEST(FaultKinds, K14StreamingCostsInProportionToItsLength) {
  Expected<Kernel> kernel = compile(kStreaming, 1, 1, 64, DType::BF16);
  ASSERT_TRUE(kernel) << kernel.status().message();
  runStreaming(*kernel, 16384, 1, 64); // warms up
  LongRun shorter = runStreaming(*kernel, 16384, 1, 64);
  LongRun longer = runStreaming(*kernel, 262144, 1, 64);
  EXPECT_LT(longer.statistics.tiles_visited, 16.5 * shorter.statistics.tiles_visited);
  // Quadratic work would take 256 times as long; the machine may be busy with other things.
  EXPECT_LT(longer.seconds, 40 * shorter.seconds);
}

} // namespace
