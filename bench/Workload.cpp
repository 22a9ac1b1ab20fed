#include "bench/Workload.h"

#include <cstring>
#include <random>

namespace skim::bench {
namespace {

std::vector<std::byte> randomElements(std::mt19937_64 &random, int64_t count, DType dtype) {
  std::normal_distribution<float> normal;
  int64_t size = dtypeSize(dtype);
  std::vector<std::byte> bytes(count * size);
  for (int64_t i = 0; i < count; ++i) {
    float value = normal(random);
    uint16_t narrow = f32ToBf16(value);
    const void *source = dtype == DType::BF16 ? static_cast<const void *>(&narrow) : &value;
    std::memcpy(bytes.data() + i * size, source, size);
  }
  return bytes;
}

} // namespace

Workload::Workload(const Geometry &geometry, DType dtype) : shape(geometry), type(dtype) {
  std::mt19937_64 random(20240501);
  int64_t row = shape.tokens * shape.headDim;
  q = randomElements(random, row * shape.queryHeads, dtype);
  k = randomElements(random, row * shape.kvHeads, dtype);
  v = randomElements(random, row * shape.kvHeads, dtype);
}

Operands Workload::operands(int64_t tokens) {
  length = starts[1] = static_cast<int32_t>(tokens);
  auto rows = [&](const std::vector<std::byte> &bytes, int64_t heads) {
    return TensorView::contiguous(bytes.data(), type, {tokens, heads, shape.headDim});
  };
  Operands operands;
  operands.q = rows(q, shape.queryHeads);
  operands.k = rows(k, shape.kvHeads);
  operands.v = rows(v, shape.kvHeads);
  operands.cuSeqlensQ = operands.cuSeqlensKv = TensorView::contiguous(starts, DType::I32, {2});
  operands.kvLens = TensorView::contiguous(&length, DType::I32, {1});
  return operands;
}

reference::Tokens Workload::widened(const std::vector<std::byte> &bytes, int64_t tokens,
                                    int64_t heads) const {
  reference::Tokens result{tokens, heads, shape.headDim, {}};
  result.data.resize(tokens * heads * shape.headDim);
  for (size_t i = 0; i < result.data.size(); ++i) {
    float wide = 0;
    uint16_t narrow = 0;
    if (type == DType::BF16)
      std::memcpy(&narrow, bytes.data() + i * sizeof narrow, sizeof narrow);
    else
      std::memcpy(&wide, bytes.data() + i * sizeof wide, sizeof wide);
    result.data[i] = type == DType::BF16 ? bf16ToF32(narrow) : wide;
  }
  return result;
}

reference::Problem Workload::problem(int64_t tokens) const {
  reference::Problem problem;
  problem.q = widened(q, tokens, shape.queryHeads);
  problem.k = widened(k, tokens, shape.kvHeads);
  problem.v = widened(v, tokens, shape.kvHeads);
  problem.cuSeqlensQ = {0, tokens};
  problem.kvLens = {tokens};
  return problem;
}

} // namespace skim::bench
