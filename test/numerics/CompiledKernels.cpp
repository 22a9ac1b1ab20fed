#include "CompiledKernels.h"

#include "runtime/LaunchPlan.h"

#include <skim/Compiler.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace skim::test {

const std::vector<PatternKind> kPatternKinds = {
    {"static", "pattern p(sink: index = 4, window: index = 40) {\n"
               "  keep k < sink or q - k < window\n}\n"},
    {"list", "pattern p {\n"
             "  input blocks: list[kv_head, q / 64, k / 64]\n"
             "  keep blocks or q - k < 32\n}\n"},
    {"mask", "pattern p {\n"
             "  input layout: bool[head, q / 64, k / 64]\n"
             "  keep layout or q - k < 8\n}\n"},
    {"tokens", "pattern p(window: index = 16) {\n"
               "  input importance: f32[kv_head, k]\n"
               "  keep top_k(importance, 0.2 * kv_len) or q - k < window\n}\n"},
    {"selection", "pattern p(alpha: f32 = 0.1) {\n"
                  "  let energy = sum(exp(dot(Q, bf16(mean(K, 32)))), into: q / 32, over: group)\n"
                  "  keep energy >= alpha * max(energy, over: k / 32) or q - k < 32\n"
                  "  rest mean(32, q / 32)\n}\n"},
    {"compact", "pattern p {\n"
                "  input importance: f32[kv_head, k]\n"
                "  keep k < 4 or q - k < 40\n"
                "  compact top_k(importance, 10)\n}\n"}};

Kernel compileKind(const std::string &text) {
  CompileOptions options;
  options.queryHeads = kQueryHeads;
  options.kvHeads = kKvHeads;
  options.headDim = kHeadDim;
  options.dtype = DType::F32;
  Expected<Kernel> kernel = Compiler().compile(Pattern::fromText(text), options);
  EXPECT_TRUE(kernel) << kernel.status().message();
  return *std::move(kernel);
}

RaggedBatch::RaggedBatch()
    : cuSeqlensQ{0, 100, 120, 120, 123, 323}, kvLens{260, 20, 50, 0, 200}, cuSeqlensKv{0} {
  for (const int32_t length : kvLens)
    cuSeqlensKv.push_back(cuSeqlensKv.back() + length);
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  const auto fill = [&](std::vector<float> &values, int64_t count) {
    values.resize(static_cast<size_t>(count));
    std::generate(values.begin(), values.end(), [&] { return normal(random); });
  };
  fill(q, tokens() * kQueryHeads * kHeadDim);
  fill(k, cuSeqlensKv.back() * kKvHeads * kHeadDim);
  fill(v, cuSeqlensKv.back() * kKvHeads * kHeadDim);
  fill(importance, requests() * kKvHeads * longestKv());
  out.resize(q.size());
  lse.resize(static_cast<size_t>(tokens() * kQueryHeads));
  blocks.assign(static_cast<size_t>(requests() * kKvHeads * 5 * 2), 0);
  const auto withoutKeys = std::ranges::find(kvLens, 0) - kvLens.begin();
  std::fill_n(blocks.begin() + withoutKeys * kKvHeads * 5 * 2, kKvHeads * 5 * 2, -1);
  layout.resize(static_cast<size_t>(requests() * kQueryHeads * 5 * 5));
  std::generate(layout.begin(), layout.end(), [&] { return random() % 2; });
  positions.resize(static_cast<size_t>(requests() * kKvHeads * longestKv()));
  counts.resize(static_cast<size_t>(requests() * kKvHeads));
}

int64_t RaggedBatch::longestKv() const { return *std::ranges::max_element(kvLens); }

Operands RaggedBatch::operands(const Kernel &kernel) {
  const int64_t keys = cuSeqlensKv.back();
  Operands operands;
  operands.q = TensorView::contiguous(q.data(), DType::F32, {tokens(), kQueryHeads, kHeadDim});
  operands.k = TensorView::contiguous(k.data(), DType::F32, {keys, kKvHeads, kHeadDim});
  operands.v = TensorView::contiguous(v.data(), DType::F32, {keys, kKvHeads, kHeadDim});
  operands.cuSeqlensQ = TensorView::contiguous(cuSeqlensQ.data(), DType::I32, {requests() + 1});
  operands.kvLens = TensorView::contiguous(kvLens.data(), DType::I32, {requests()});
  operands.cuSeqlensKv = TensorView::contiguous(cuSeqlensKv.data(), DType::I32, {requests() + 1});
  operands.out = TensorView::contiguous(out.data(), DType::F32, {tokens(), kQueryHeads, kHeadDim});
  operands.lse = TensorView::contiguous(lse.data(), DType::F32, {kQueryHeads, tokens()});
  const NamedTensor known[] = {
      {"blocks", TensorView::contiguous(blocks.data(), DType::I32, {requests(), kKvHeads, 5, 2})},
      {"layout", TensorView::contiguous(layout.data(), DType::U8, {requests(), kQueryHeads, 5, 5})},
      {"importance",
       TensorView::contiguous(importance.data(), DType::F32, {requests(), kKvHeads, longestKv()})}};
  for (const InputDescription &input : kernel.launchPlan().inputs)
    for (const NamedTensor &tensor : known)
      if (tensor.name == input.name)
        operands.inputs.push_back(tensor);
  if (kernel.launchPlan().signature.compactHeads) {
    operands.compactPositions =
        TensorView::contiguous(positions.data(), DType::I32, {requests(), kKvHeads, longestKv()});
    operands.compactCounts =
        TensorView::contiguous(counts.data(), DType::I32, {requests(), kKvHeads});
  }
  return operands;
}

} // namespace skim::test
