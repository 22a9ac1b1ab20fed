// Random operands of one request, prefilled at once: as many queries as keys.
#ifndef SKIM_BENCH_WORKLOAD_H
#define SKIM_BENCH_WORKLOAD_H

#include "reference/Problem.h"

#include <skim/Operands.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skim::bench {

/// The defaults are those for which the bars of the suites are stated.
struct Geometry {
  int64_t tokens = 4096;
  int64_t queryHeads = 8;
  int64_t kvHeads = 2;
  int64_t headDim = 128;

  bool operator==(const Geometry &) const = default;
};

/// Queries, keys and values with normally distributed elements from a fixed seed, contiguous
/// [tokens, heads, head dim].
class Workload {
public:
  Workload(const Geometry &geometry, DType dtype);

  const Geometry &geometry() const { return shape; }
  DType dtype() const { return type; }
  const std::vector<std::byte> &queries() const { return q; }
  const std::vector<std::byte> &keys() const { return k; }
  const std::vector<std::byte> &values() const { return v; }

  /// The first `tokens` tokens, as views into this workload. Lengths are views too, valid until the
  /// next call.
  Operands operands(int64_t tokens);
  /// The same for the reference interpreter.
  reference::Problem problem(int64_t tokens) const;

private:
  reference::Tokens widened(const std::vector<std::byte> &bytes, int64_t tokens,
                            int64_t heads) const;

  Geometry shape;
  DType type;
  std::vector<std::byte> q, k, v;
  int32_t starts[2] = {}, length = 0;
};

} // namespace skim::bench

#endif // SKIM_BENCH_WORKLOAD_H
