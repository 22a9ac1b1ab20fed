// Runs a pattern that was compiled ahead of time: aot F.skimb [window] [cuda]
//
// The bundle holds `streaming` for 8 query and 2 KV heads of dimension 64 in bf16, for CPUs and for
// Hopper GPUs. The program links the runtime alone: no compiler, no LLVM, no CUDA Toolkit.
#include <skim/CudaMemory.h>
#include <skim/Kernel.h>
#include <skim/WorkspaceMemory.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace {

constexpr int64_t kQueryHeads = 8, kKvHeads = 2, kDim = 64, kTokens = 1000, kSink = 64;

/// Standard normal numbers in bf16, the upper half of a float.
std::vector<uint16_t> randomTensor(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution;
  std::vector<uint16_t> values(count);
  for (uint16_t &value : values)
    value = static_cast<uint16_t>(std::bit_cast<uint32_t>(distribution(generator)) >> 16);
  return values;
}
double number(uint16_t value) { return std::bit_cast<float>(uint32_t{value} << 16); }

/// One row of the same attention in plain loops.
std::vector<double> plainRow(const std::vector<uint16_t> &q, const std::vector<uint16_t> &k,
                             const std::vector<uint16_t> &v, int64_t row, int64_t head,
                             int64_t window) {
  const int64_t kvHead = head / (kQueryHeads / kKvHeads);
  std::vector<double> out(kDim);
  double sum = 0;
  for (int64_t key = 0; key <= row; ++key) {
    if (key >= kSink && row - key >= window)
      continue;
    double score = 0;
    for (int64_t i = 0; i < kDim; ++i)
      score += number(q[(row * kQueryHeads + head) * kDim + i]) *
               number(k[(key * kKvHeads + kvHead) * kDim + i]);
    const double weight = std::exp(score / std::sqrt(double(kDim)));
    sum += weight;
    for (int64_t i = 0; i < kDim; ++i)
      out[i] += weight * number(v[(key * kKvHeads + kvHead) * kDim + i]);
  }
  for (double &value : out)
    value /= sum;
  return out;
}

int fail(const skim::Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

/// Runs on operands of the host.
skim::Status runOnCpu(const skim::Kernel &kernel, const skim::Plan &plan,
                      const skim::Operands &operands, const skim::Parameters &parameters) {
  skim::WorkspaceMemory workspace(plan.workspaceBytes());
  skim_statistics statistics = {};
  skim::RunOptions options;
  options.statistics = &statistics;
  const skim::Status status = kernel.run(plan, operands, parameters, workspace.span(), options);
  const double visible = double(kQueryHeads) * kTokens * (kTokens + 1) / 2;
  std::printf("density %.3f, key tiles visited %lld, ", double(statistics.pairs_kept) / visible,
              (long long)statistics.tiles_visited);
  return status;
}

/// The same on a GPU: everything that a run is given lies there, and the host copies it over.
skim::Status runOnCuda(const skim::Kernel &kernel, const skim::Plan &plan, skim::Operands operands,
                       const skim::Parameters &parameters) {
  auto memory = skim::CudaMemory::open();
  if (!memory)
    return memory.status();
  const skim::TensorView out = operands.out;
  for (skim::TensorView *view : {&operands.q, &operands.k, &operands.v, &operands.cuSeqlensQ,
                                 &operands.cuSeqlensKv, &operands.kvLens, &operands.out}) {
    auto onDevice = memory->copyIn(*view);
    if (!onDevice)
      return onDevice.status();
    *view = *onDevice;
  }
  auto workspace = memory->allocate(plan.workspaceBytes());
  if (!workspace)
    return workspace.status();
  skim::RunOptions options;
  options.stream = memory->stream();
  // Enqueues, and waits for nothing.
  if (skim::Status status = kernel.run(plan, operands, parameters, *workspace, options); !status)
    return status;
  // Waits, and says what the device has found wrong.
  if (skim::Status status = kernel.status(memory->stream()); !status)
    return status;
  return memory->copyOut(operands.out, {static_cast<std::byte *>(out.data),
                                        sizeof(float) * kTokens * kQueryHeads * kDim});
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: aot F.skimb [window] [cuda]\n");
    return 2;
  }
  const int64_t window = argc > 2 ? std::atoll(argv[2]) : 128;
  const bool onCuda = argc > 3 && std::strcmp(argv[3], "cuda") == 0;

  // Once, when the process starts.
  auto kernel =
      skim::Kernel::load(argv[1], {.pattern = "streaming", .target = onCuda ? "sm_90a" : ""});
  if (!kernel)
    return fail(kernel.status());

  // Once for each shape of batch: sizes depend on nothing else.
  auto plan = kernel->plan({.requests = 1,
                            .totalQueryTokens = kTokens,
                            .maxQueryLength = kTokens,
                            .maxKvLength = kTokens});
  if (!plan)
    return fail(plan.status());

  // For each batch.
  using skim::DType, skim::TensorView;
  const std::vector<uint16_t> q = randomTensor(kTokens * kQueryHeads * kDim, 1);
  const std::vector<uint16_t> k = randomTensor(kTokens * kKvHeads * kDim, 2);
  const std::vector<uint16_t> v = randomTensor(kTokens * kKvHeads * kDim, 3);
  std::vector<float> out(q.size());
  const std::vector<int32_t> starts = {0, kTokens};
  const std::vector<int32_t> lengths = {kTokens};
  skim::Operands operands;
  operands.q = TensorView::contiguous(q.data(), DType::BF16, {kTokens, kQueryHeads, kDim});
  operands.k = TensorView::contiguous(k.data(), DType::BF16, {kTokens, kKvHeads, kDim});
  operands.v = TensorView::contiguous(v.data(), DType::BF16, {kTokens, kKvHeads, kDim});
  operands.cuSeqlensQ = TensorView::contiguous(starts.data(), DType::I32, {2});
  operands.cuSeqlensKv = operands.cuSeqlensQ;
  operands.kvLens = TensorView::contiguous(lengths.data(), DType::I32, {1});
  operands.out = TensorView::contiguous(out.data(), DType::F32, {kTokens, kQueryHeads, kDim});
  // Another window compiles nothing: it is a value of the launch.
  const skim::Parameters parameters = {{"sink", kSink}, {"window", window}};
  const skim::Status status = onCuda ? runOnCuda(*kernel, *plan, operands, parameters)
                                     : runOnCpu(*kernel, *plan, operands, parameters);
  if (!status)
    return fail(status);

  double difference = 0;
  for (int64_t row : {int64_t(0), int64_t(63), int64_t(500), kTokens - 1})
    for (int64_t head = 0; head < kQueryHeads; ++head) {
      const std::vector<double> expected = plainRow(q, k, v, row, head, window);
      for (int64_t i = 0; i < kDim; ++i)
        difference = std::max(difference,
                              std::abs(expected[i] - out[(row * kQueryHeads + head) * kDim + i]));
    }
  std::printf("largest difference from plain loops %.1e\n", difference);
  // Weights are rounded to bf16 before they meet values: 2^-8 of each.
  return difference < 0.01 ? 0 : 1;
}
