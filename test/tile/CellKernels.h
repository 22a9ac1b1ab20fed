// What tests of kernels that write cells share: arrays of cells, programs, work items.
#ifndef SKIM_TEST_TILE_CELLKERNELS_H
#define SKIM_TEST_TILE_CELLKERNELS_H

#include "test/tile/Programs.h"

#include <cstdint>
#include <string>
#include <vector>

namespace skim::test {

inline int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// An array of the axes (request, head, query, key) with contiguous strides.
template <typename T> struct Cells {
  Cells(int64_t requests, int64_t heads, int64_t queries, int64_t keys, T initial = {})
      : extents{requests, heads, queries, keys},
        data(static_cast<size_t>(requests * heads * queries * keys), initial) {}

  T &at(int64_t request, int64_t head, int64_t query, int64_t key) {
    return data[((request * extents[1] + head) * extents[2] + query) * extents[3] + key];
  }
  /// `elements` of a cell lie side by side along the last axis.
  skim_buffer view(int64_t elements = 1) {
    int64_t keys = extents[3];
    skim_buffer buffer = {data.data(), {}, {}};
    int64_t strides[4] = {extents[1] * extents[2] * keys, extents[2] * keys, keys, elements};
    for (int axis = 0; axis < 4; ++axis) {
      buffer.extents[axis] = axis == 3 ? keys / elements : extents[axis];
      buffer.strides[axis] = buffer.extents[axis] == 1 ? 0 : strides[axis];
    }
    return buffer;
  }

  int64_t extents[4];
  std::vector<T> data;
};

/// Scratch of two workers, of which tests run the second.
template <typename T> Cells<T> scratch(int64_t columns, int64_t rows = 64) {
  return Cells<T>(2, 1, columns + 1, rows, T(-55));
}

/// A program called `kernel` around the body of its `tile.for_each_work_item %item`.
std::string program(const Shape &shape, int64_t rows, int64_t keys, const char *head,
                    const char *axis, const std::string &body);

/// Items of all requests and heads along query tiles (`rows` > 0), key blocks (`keys` > 0) or
/// nothing.
std::vector<skim_work_item> items(const Shape &shape, int64_t heads, int64_t rows, int64_t keys);

/// Runs `kernel` over the items of all requests and heads along query tiles, as worker 1.
void runKernel(const cpu::Jit &jit, AttentionBatch &batch, int64_t heads, int64_t rows,
               std::vector<skim_buffer> buffers, std::vector<skim_buffer> inputs = {});

} // namespace skim::test

#endif // SKIM_TEST_TILE_CELLKERNELS_H
