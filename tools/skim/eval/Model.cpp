#include "tools/skim/eval/Model.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace skim::tool {
namespace {

/// Rows that a thread takes at a time: enough for a fast product, few enough for its caches.
constexpr int64_t chunkRows = 256;

/// Calls `body(first, count)` for chunks of rows that do not depend on the number of threads.
template <typename Body>
void forEachChunk(const ThreadPool &pool, int64_t threads, int64_t rows, const Body &body) {
  struct Context {
    const Body &body;
    int64_t rows;
  } context{body, rows};
  pool.forEachChunk(
      llvm::divideCeilSigned(rows, chunkRows), threads,
      [](void *opaque, int64_t, int64_t first, int64_t count) {
        const auto &context = *static_cast<const Context *>(opaque);
        for (int64_t chunk = first; chunk < first + count; ++chunk) {
          int64_t start = chunk * chunkRows;
          context.body(start, std::min(chunkRows, context.rows - start));
        }
      },
      &context);
}

/// Root-mean-square norm of each row of `input`, times `gain`.
void normalise(const float *input, int64_t rows, const std::vector<float> &gain, double epsilon,
               float *result) {
  size_t dim = gain.size();
  for (int64_t row = 0; row < rows; ++row, input += dim, result += dim) {
    double squares = 0;
    for (size_t i = 0; i < dim; ++i)
      squares += double(input[i]) * double(input[i]);
    auto factor = static_cast<float>(1 / std::sqrt(squares / double(dim) + epsilon));
    for (size_t i = 0; i < dim; ++i)
      result[i] = input[i] * factor * gain[i];
  }
}

/// Cosines and sines of all positions: the first and the second half of a row.
class Rotation {
public:
  Rotation(int64_t positions, int64_t headDim, double theta)
      : half(headDim / 2), table(positions * headDim) {
    for (int64_t i = 0; i < half; ++i) {
      double frequency = std::pow(theta, -double(i) / double(half));
      for (int64_t position = 0; position < positions; ++position) {
        table[position * headDim + i] = float(std::cos(double(position) * frequency));
        table[position * headDim + half + i] = float(std::sin(double(position) * frequency));
      }
    }
  }

  /// Turns one head of one token in place.
  void apply(int64_t position, float *head) const {
    const float *cosine = table.data() + position * 2 * half;
    const float *sine = cosine + half;
    for (int64_t i = 0; i < half; ++i) {
      float a = head[i];
      float b = head[half + i];
      head[i] = a * cosine[i] - b * sine[i];
      head[half + i] = b * cosine[i] + a * sine[i];
    }
  }

private:
  int64_t half;
  std::vector<float> table;
};

/// Queries, keys or values of all tokens in the element type of the kernels.
class Heads {
public:
  Heads(int64_t tokens, int64_t heads, int64_t dim, DType dtype)
      : row(heads * dim), dtype(dtype), storage(tokens * row * dtypeSize(dtype)),
        shape{tokens, heads, dim} {}

  void write(int64_t token, const float *values) {
    std::byte *to = storage.data() + token * row * dtypeSize(dtype);
    if (dtype == DType::F32) {
      std::memcpy(to, values, row * sizeof(float));
      return;
    }
    auto *halves = reinterpret_cast<uint16_t *>(to);
    for (int64_t i = 0; i < row; ++i)
      halves[i] = dtype == DType::BF16 ? f32ToBf16(values[i]) : f32ToF16(values[i]);
  }

  TensorView view() const { return TensorView::contiguous(storage.data(), dtype, shape); }

private:
  int64_t row;
  DType dtype;
  std::vector<std::byte> storage;
  std::array<int64_t, 3> shape;
};

/// silu(gate) * up, over rows that hold the gates, then the ups.
void combineGates(const float *gateUp, int64_t rows, int64_t dim, float *result) {
  for (int64_t row = 0; row < rows; ++row, gateUp += 2 * dim, result += dim)
    for (int64_t i = 0; i < dim; ++i)
      result[i] = gateUp[i] / (1 + std::exp(-gateUp[i])) * gateUp[dim + i];
}

/// Bits of `byte` under the softmax of one row of logits.
float informationOf(uint8_t byte, llvm::ArrayRef<float> logits) {
  float largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(double(logit) - double(largest));
  double nats = std::log(sum) + double(largest) - double(logits[byte]);
  return static_cast<float>(nats / std::numbers::ln2);
}

} // namespace

llvm::Expected<Predictions> Model::run(llvm::ArrayRef<uint8_t> prompt, Attend attend) const {
  const ModelShape &shape = weights.shape;
  auto tokens = static_cast<int64_t>(prompt.size());
  int64_t dim = shape.modelDim;
  auto overRows = [&](const auto &body) { forEachChunk(pool, threads, tokens, body); };

  std::vector<float> state(tokens * dim);
  for (int64_t token = 0; token < tokens; ++token)
    std::copy_n(weights.embedding.elements.data() + prompt[token] * dim, dim,
                state.data() + token * dim);
  Rotation rotation(tokens, shape.headDim, shape.ropeTheta);
  Heads queries(tokens, shape.queryHeads, shape.headDim, dtype);
  Heads keys(tokens, shape.kvHeads, shape.headDim, dtype);
  Heads values(tokens, shape.kvHeads, shape.headDim, dtype);

  for (int64_t number = 0; number < shape.layers; ++number) {
    const LayerWeights &layer = weights.layers[number];
    overRows([&](int64_t first, int64_t count) {
      std::vector<float> normal(count * dim);
      std::vector<float> projected(count * layer.queryKeyValue.rows);
      normalise(state.data() + first * dim, count, layer.attentionNorm, shape.normEpsilon,
                normal.data());
      applyLinear(layer.queryKeyValue, normal.data(), count, projected.data());
      float *row = projected.data();
      for (int64_t token = first; token < first + count; ++token) {
        for (int64_t head = 0; head < shape.queryHeads + shape.kvHeads; ++head)
          rotation.apply(token, row + head * shape.headDim);
        queries.write(token, row);
        keys.write(token, row + shape.queryDim());
        values.write(token, row + shape.queryDim() + shape.kvDim());
        row += layer.queryKeyValue.rows;
      }
    });
    llvm::Expected<std::vector<float>> attended =
        attend(number, queries.view(), keys.view(), values.view());
    if (!attended)
      return attended.takeError();
    overRows([&](int64_t first, int64_t count) {
      float *rows = state.data() + first * dim;
      applyLinear(layer.output, attended->data() + first * shape.queryDim(), count, rows,
                  Into::Add);
      std::vector<float> normal(count * dim);
      std::vector<float> gateUp(count * layer.gateUp.rows);
      std::vector<float> inner(count * shape.feedForwardDim);
      normalise(rows, count, layer.feedForwardNorm, shape.normEpsilon, normal.data());
      applyLinear(layer.gateUp, normal.data(), count, gateUp.data());
      combineGates(gateUp.data(), count, shape.feedForwardDim, inner.data());
      applyLinear(layer.down, inner.data(), count, rows, Into::Add);
    });
  }

  Predictions predictions;
  predictions.bits.resize(std::max<int64_t>(tokens - 1, 0));
  predictions.likeliest.resize(tokens);
  overRows([&](int64_t first, int64_t count) {
    std::vector<float> normal(count * dim);
    std::vector<float> logits(count * weights.embedding.rows);
    normalise(state.data() + first * dim, count, weights.norm, shape.normEpsilon, normal.data());
    applyLinear(weights.embedding, normal.data(), count, logits.data());
    llvm::ArrayRef<float> rest = logits;
    for (int64_t token = first; token < first + count; ++token) {
      llvm::ArrayRef<float> row = rest.take_front(weights.embedding.rows);
      rest = rest.drop_front(row.size());
      predictions.likeliest[token] =
          static_cast<uint8_t>(std::max_element(row.begin(), row.end()) - row.begin());
      if (token + 1 < tokens)
        predictions.bits[token] = informationOf(prompt[token + 1], row);
    }
  });
  return predictions;
}

} // namespace skim::tool
