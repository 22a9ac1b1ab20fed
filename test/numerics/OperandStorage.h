// The arrays of a run, laid out as unkindly as the contract allows: whatever belongs to no token is
// NaN.
#ifndef SKIM_TEST_NUMERICS_OPERANDSTORAGE_H
#define SKIM_TEST_NUMERICS_OPERANDSTORAGE_H

#include "reference/Problem.h"
#include "runtime/LaunchPlan.h"

#include <skim/Operands.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skim::numerics {

/// How the operands of a run lie in memory.
struct Layout {
  KvLayout kv = KvLayout::Contiguous;
  int64_t pageSize = 0; ///< Paged layouts only.
  /// Elements between neighbouring rows that belong to nobody.
  int64_t padding = 3;
  /// Keys and values of a page stand side by side in one array (paged layouts).
  bool interleaved = false;
  /// Pages of equal contents at equal places are one page.
  bool sharesPages = false;
  /// Shuffles the pages, and chooses the number of threads.
  uint64_t seed = 0;
};

/// An array of f32, bf16 or f16, all NaN at first.
class Floats {
public:
  Floats(DType dtype, int64_t count);
  void set(int64_t i, float value);
  float get(int64_t i) const;
  void *data() { return bytes.data(); }
  void *at(int64_t i) { return bytes.data() + i * dtypeSize(dtype); }

private:
  DType dtype;
  std::vector<std::byte> bytes;
};

/// A `[tokens, heads, dim]` array with NaN between its rows.
struct PaddedRows {
  PaddedRows(const reference::Tokens &tokens, DType dtype, int64_t padding);

  int64_t headStride, tokenStride;
  Floats floats;
  TensorView view;
};

/// Which page holds page p of a request; two pages belong to nobody.
struct PageTable {
  PageTable(const reference::Problem &problem, const Layout &layout);

  int64_t pages = 0, maxPages = 0;
  std::vector<int32_t> entries; ///< `[requests, maxPages]`
};

/// Keys and values in pages.
struct PagedKeysAndValues {
  PagedKeysAndValues(const reference::Problem &problem, const PageTable &table, DType dtype,
                     const Layout &layout);

  Floats floats;
  TensorView keys, values;
};

/// The inputs of a problem in the element types that the kernel asks for, between cells that
/// change the result when they are read.
class TypedInputs {
public:
  TypedInputs(const LaunchPlan &plan, const reference::Problem &problem);

  std::vector<NamedTensor> tensors;

private:
  std::vector<std::vector<std::byte>> storage;
};

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_OPERANDSTORAGE_H
