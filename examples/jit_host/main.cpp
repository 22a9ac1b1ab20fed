// Compiles a pattern at run time and serves a ragged batch over a paged KV cache: jit_host P.skim
// [cuda]
//
// With `cuda` it does so on a Hopper GPU, which needs its driver and no CUDA Toolkit. The first
// process compiles; the next ones find the kernel in the cache on disk (docs/cache.md).
#include <skim/Compiler.h>
#include <skim/CudaMemory.h>
#include <skim/Metrics.h>
#include <skim/WorkspaceMemory.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

namespace {

constexpr int64_t kQueryHeads = 8, kKvHeads = 2, kDim = 64, kPageSize = 16;

/// Standard normal numbers in bf16, the upper half of a float.
std::vector<uint16_t> randomTensor(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution;
  std::vector<uint16_t> values(count);
  for (uint16_t &value : values)
    value = static_cast<uint16_t>(std::bit_cast<uint32_t>(distribution(generator)) >> 16);
  return values;
}

int fail(const skim::Status &status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

/// A run whose operands a GPU has copies of: an engine would have them there already.
skim::Status runOnCuda(const skim::Kernel &kernel, const skim::Plan &plan,
                       skim::Operands operands) {
  auto memory = skim::CudaMemory::open();
  if (!memory)
    return memory.status();
  const skim::Operands host = operands;
  for (skim::TensorView *view : {&operands.q, &operands.k, &operands.v, &operands.cuSeqlensQ,
                                 &operands.kvLens, &operands.blockTable}) {
    auto onDevice = memory->copyIn(*view);
    if (!onDevice)
      return onDevice.status();
    *view = *onDevice;
  }
  for (skim::TensorView *result : {&operands.out, &operands.lse}) {
    auto onDevice = memory->like(*result);
    if (!onDevice)
      return onDevice.status();
    *result = *onDevice;
  }
  auto workspace = memory->allocate(plan.workspaceBytes());
  if (!workspace)
    return workspace.status();
  skim::RunOptions options;
  options.stream = memory->stream();
  // Enqueues, and may be captured in a graph; `status` waits, and says what the device found wrong.
  if (skim::Status status = kernel.run(plan, operands, {}, *workspace, options); !status)
    return status;
  if (skim::Status status = kernel.status(memory->stream()); !status)
    return status;
  const size_t rows = host.lse.shape[0] * host.lse.shape[1] * sizeof(float);
  if (skim::Status status =
          memory->copyOut(operands.lse, {static_cast<std::byte *>(host.lse.data), rows});
      !status)
    return status;
  return memory->copyOut(operands.out, {static_cast<std::byte *>(host.out.data), rows * kDim});
}

} // namespace

int main(int argc, char **argv) {
  const bool onCuda = argc == 3 && std::strcmp(argv[2], "cuda") == 0;
  if (argc != 2 && !onCuda) {
    std::fprintf(stderr, "usage: jit_host PATTERN.skim [cuda]\n");
    return 2;
  }
  skim::Metrics metrics;
  const skim::Compiler compiler({.metrics = &metrics});
  auto pattern = skim::Pattern::load(argv[1]);
  if (!pattern)
    return fail(pattern.status());
  const auto start = std::chrono::steady_clock::now();
  std::string warnings;
  skim::CompileOptions compileOptions;
  compileOptions.queryHeads = kQueryHeads;
  compileOptions.kvHeads = kKvHeads;
  compileOptions.headDim = kDim;
  compileOptions.dtype = skim::DType::BF16;
  if (onCuda)
    compileOptions.target = "sm_90a";
  compileOptions.pageSize = kPageSize;
  auto kernel = compiler.compile(*pattern, compileOptions, &warnings);
  if (!kernel)
    return fail(kernel.status());
  std::fputs(warnings.c_str(), stderr);
  std::printf(
      "kernel %s after %.1f ms\n",
      metrics.snapshot().compile.cacheHits > 0 ? "found in the cache" : "compiled",
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());

  // Two requests: the whole of one prompt, and the second chunk of another.
  const std::vector<int32_t> starts = {0, 200, 300};
  const std::vector<int32_t> lengths = {200, 450};
  const int64_t tokens = 300, mostPages = 29, pages = 64;
  std::vector<int32_t> blockTable(2 * mostPages, -1);
  int32_t next = 0;
  for (size_t request = 0; request < 2; ++request)
    for (int64_t page = 0; page * kPageSize < lengths[request]; ++page)
      blockTable[request * mostPages + page] = (7 * next++) % pages; // pages lie anywhere
  const std::vector<uint16_t> q = randomTensor(tokens * kQueryHeads * kDim, 1);
  const std::vector<uint16_t> k = randomTensor(pages * kPageSize * kKvHeads * kDim, 2);
  const std::vector<uint16_t> v = randomTensor(pages * kPageSize * kKvHeads * kDim, 3);
  std::vector<float> out(q.size());
  std::vector<float> lse(kQueryHeads * tokens);

  using skim::DType, skim::TensorView;
  skim::Operands operands;
  operands.q = TensorView::contiguous(q.data(), DType::BF16, {tokens, kQueryHeads, kDim});
  operands.kvLayout = skim::KvLayout::PagedNhd;
  operands.k = TensorView::contiguous(k.data(), DType::BF16, {pages, kPageSize, kKvHeads, kDim});
  operands.v = TensorView::contiguous(v.data(), DType::BF16, {pages, kPageSize, kKvHeads, kDim});
  operands.cuSeqlensQ = TensorView::contiguous(starts.data(), DType::I32, {3});
  operands.kvLens = TensorView::contiguous(lengths.data(), DType::I32, {2});
  operands.blockTable = TensorView::contiguous(blockTable.data(), DType::I32, {2, mostPages});
  operands.out = TensorView::contiguous(out.data(), DType::F32, {tokens, kQueryHeads, kDim});
  operands.lse = TensorView::contiguous(lse.data(), DType::F32, {kQueryHeads, tokens});

  auto shape = skim::BatchShape::of(operands.cuSeqlensQ, operands.kvLens);
  if (!shape)
    return fail(shape.status());
  auto plan = kernel->plan(*shape);
  if (!plan)
    return fail(plan.status());
  skim_statistics statistics = {};
  if (onCuda) {
    if (skim::Status status = runOnCuda(*kernel, *plan, operands); !status)
      return fail(status);
  } else {
    skim::WorkspaceMemory workspace(plan->workspaceBytes());
    skim::RunOptions runOptions;
    runOptions.statistics = &statistics;
    if (skim::Status status = kernel->run(*plan, operands, {}, workspace.span(), runOptions);
        !status)
      return fail(status);
  }

  int64_t visible = 0;
  for (size_t request = 0; request < 2; ++request)
    for (int64_t row = starts[request]; row < starts[request + 1]; ++row)
      visible += lengths[request] - (starts[request + 1] - row) + 1;
  for (const float value : out)
    if (!std::isfinite(value)) {
      std::fprintf(stderr, "the output has a value that is not finite\n");
      return 1;
    }
  std::printf("%lld rows of 2 requests", (long long)tokens);
  // A GPU is not asked to count.
  if (!onCuda)
    std::printf(", density %.3f", double(statistics.pairs_kept) / double(kQueryHeads * visible));
  std::printf("\n");
  return 0;
}
