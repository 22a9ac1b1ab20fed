// Runs a pattern that was compiled ahead of time: aot F.skimb [window]
//
// The bundle holds `streaming` for 8 query and 2 KV heads of dimension 64 in f32. The program links
// the runtime alone: no compiler, no LLVM.
#include <skim/Kernel.h>
#include <skim/WorkspaceMemory.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

constexpr int64_t kQueryHeads = 8, kKvHeads = 2, kDim = 64, kTokens = 1000, kSink = 64;

std::vector<float> randomTensor(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(generator);
  return values;
}

/// One row of the same attention in plain loops.
std::vector<double> plainRow(const std::vector<float> &q, const std::vector<float> &k,
                             const std::vector<float> &v, int64_t row, int64_t head,
                             int64_t window) {
  const int64_t kvHead = head / (kQueryHeads / kKvHeads);
  std::vector<double> out(kDim);
  double sum = 0;
  for (int64_t key = 0; key <= row; ++key) {
    if (key >= kSink && row - key >= window)
      continue;
    double score = 0;
    for (int64_t i = 0; i < kDim; ++i)
      score += double(q[(row * kQueryHeads + head) * kDim + i]) *
               k[(key * kKvHeads + kvHead) * kDim + i];
    const double weight = std::exp(score / std::sqrt(double(kDim)));
    sum += weight;
    for (int64_t i = 0; i < kDim; ++i)
      out[i] += weight * v[(key * kKvHeads + kvHead) * kDim + i];
  }
  for (double &value : out)
    value /= sum;
  return out;
}

int fail(const skim::Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: aot F.skimb [window]\n");
    return 2;
  }
  const int64_t window = argc > 2 ? std::atoll(argv[2]) : 128;

  // Once, when the process starts.
  auto kernel = skim::Kernel::load(argv[1], {.pattern = "streaming", .dtype = skim::DType::F32});
  if (!kernel)
    return fail(kernel.status());

  // Once for each shape of batch: sizes depend on nothing else.
  auto plan = kernel->plan({.requests = 1,
                            .totalQueryTokens = kTokens,
                            .maxQueryLength = kTokens,
                            .maxKvLength = kTokens});
  if (!plan)
    return fail(plan.status());
  skim::WorkspaceMemory workspace(plan->workspaceBytes());

  // For each batch.
  using skim::DType, skim::TensorView;
  const std::vector<float> q = randomTensor(kTokens * kQueryHeads * kDim, 1);
  const std::vector<float> k = randomTensor(kTokens * kKvHeads * kDim, 2);
  const std::vector<float> v = randomTensor(kTokens * kKvHeads * kDim, 3);
  std::vector<float> out(q.size());
  const std::vector<int32_t> starts = {0, kTokens};
  const std::vector<int32_t> lengths = {kTokens};
  skim::Operands operands;
  operands.q = TensorView::contiguous(q.data(), DType::F32, {kTokens, kQueryHeads, kDim});
  operands.k = TensorView::contiguous(k.data(), DType::F32, {kTokens, kKvHeads, kDim});
  operands.v = TensorView::contiguous(v.data(), DType::F32, {kTokens, kKvHeads, kDim});
  operands.cuSeqlensQ = TensorView::contiguous(starts.data(), DType::I32, {2});
  operands.cuSeqlensKv = operands.cuSeqlensQ;
  operands.kvLens = TensorView::contiguous(lengths.data(), DType::I32, {1});
  operands.out = TensorView::contiguous(out.data(), DType::F32, {kTokens, kQueryHeads, kDim});
  skim_statistics statistics = {};
  skim::RunOptions options;
  options.statistics = &statistics;
  // Another window compiles nothing: it is a value of the launch.
  const skim::Status status = kernel->run(*plan, operands, {{"sink", kSink}, {"window", window}},
                                          workspace.span(), options);
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
  const double visible = double(kQueryHeads) * kTokens * (kTokens + 1) / 2;
  std::printf("density %.3f, key tiles visited %lld, largest difference from plain loops %.1e\n",
              double(statistics.pairs_kept) / visible, (long long)statistics.tiles_visited,
              difference);
  return difference < 1e-4 ? 0 : 1;
}
