// A batch of random queries, keys and values for one kernel, its memory as engines lay it out and
// poisoned wherever nothing may be read, and a plain f64 loop to compare with.
#ifndef SKIM_TEST_TILE_ATTENTIONBATCH_H
#define SKIM_TEST_TILE_ATTENTIONBATCH_H

#include <skim/abi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace skim::test {

struct Shape {
  int64_t queryHeads = 2, kvHeads = 1, headDim = 32, valueDim = 32;
  std::string operand = "f32", out = "f32";
  int64_t pageSize = 0;   ///< 0: contiguous
  bool headMajor = false; ///< pages of [kv_heads, page, dim] instead of [page, kv_heads, dim]
  struct Lengths {
    int64_t q, kv;
  };
  std::vector<Lengths> requests = {{64, 64}};
};

/// Bits of an f32 as `type` (f32, bf16, f16), rounded to nearest even, and back.
uint32_t encode(const std::string &type, float value);
float decode(const std::string &type, uint32_t bits);
int64_t bytesOf(const std::string &type);

class AttentionBatch {
public:
  AttentionBatch(const Shape &shape, unsigned seed);

  /// Whether (q, k) is kept, for one request and query head; positions are absolute.
  using Keeps = std::function<bool(int64_t request, int64_t head, int64_t q, int64_t k)>;
  /// Replaces a scaled score.
  using Score = std::function<double(double s, int64_t head, int64_t q, int64_t k)>;

  /// Arguments that point into this batch. Parameters, inputs and buffers are the caller's.
  skim_kernel_args arguments();
  /// Work items of a kernel over query tiles of `rows`.
  std::vector<skim_work_item> queryItems(int64_t rows) const;

  /// Runs a kernel over query tiles.
  void run(skim_cpu_kernel kernel, int64_t rows, skim_kernel_args arguments);

  /// Compares output and log-sum-exp with the f64 loop, the kept relation and its count exactly. An
  /// error of the output is relative to the head's greatest reference value.
  void expectAttention(const Keeps &keeps, double tolerance, const Score &score = {},
                       double sink = -std::numeric_limits<double>::infinity()) const;

  const Shape &shape() const { return shape_; }
  float query(int64_t request, int64_t row, int64_t head, int64_t i) const;
  float key(int64_t request, int64_t token, int64_t head, int64_t i) const;
  float value(int64_t request, int64_t token, int64_t head, int64_t i) const;
  int64_t tokens() const { return cuSeqlensQ_.back(); }
  int64_t base(int64_t request) const {
    return shape_.requests[request].kv - shape_.requests[request].q;
  }
  float output(int64_t request, int64_t row, int64_t head, int64_t i) const;
  float logSumExp(int64_t request, int64_t row, int64_t head) const;
  const skim_statistics &statistics() const { return statistics_; }
  int32_t status() const { return status_; }
  double scale() const { return scale_; }

private:
  std::vector<std::byte> layOutKeys(const std::vector<float> &values, int64_t dim);

  Shape shape_;
  double scale_;
  std::vector<int32_t> cuSeqlensQ_, cuSeqlensKv_, kvLens_, blockTable_;
  int64_t blockTableStride_ = 0, pages_ = 0;
  std::vector<float> q_, k_, v_; // [tokens][heads][dim], rounded to the operand type
  std::vector<std::byte> qMemory_, kMemory_, vMemory_, outMemory_;
  std::vector<float> lse_;
  std::vector<uint8_t> kept_;
  int64_t keptRowStride_ = 0;
  skim_statistics statistics_ = {};
  int32_t status_ = 0;
};

} // namespace skim::test

#endif // SKIM_TEST_TILE_ATTENTIONBATCH_H
