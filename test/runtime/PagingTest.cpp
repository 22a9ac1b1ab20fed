// K7 and K5: keys and values in pages of any size, layout and place.
#include "Problem.h"

#include "runtime/CheckedMath.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

using namespace skim;
using namespace skim::test;

namespace {

/// How a cache lies in memory: strides in elements of page, slot and head, and the shape to give.
struct CacheLayout {
  const char *name;
  KvLayout layout;
  /// Elements of the allocation, and offsets of keys and values in it.
  std::function<TensorView(float *memory, bool values, int64_t pages, int64_t pageSize,
                           const Heads &heads)>
      view;
  int64_t elementsPerPage; ///< per slot and head dimension element, of keys and values together
};

TensorView nhd(float *memory, bool values, int64_t pages, int64_t pageSize, const Heads &heads) {
  const int64_t size = pages * pageSize * heads.kv * heads.dim;
  return TensorView::contiguous(memory + (values ? size : 0), DType::F32,
                                {pages, pageSize, heads.kv, heads.dim});
}
TensorView hnd(float *memory, bool values, int64_t pages, int64_t pageSize, const Heads &heads) {
  const int64_t size = pages * pageSize * heads.kv * heads.dim;
  return TensorView::contiguous(memory + (values ? size : 0), DType::F32,
                                {pages, heads.kv, pageSize, heads.dim});
}
/// (pages, 2, page, heads, dim): keys and values of a page side by side.
TensorView interleaved(float *memory, bool values, int64_t pages, int64_t pageSize,
                       const Heads &heads) {
  const int64_t token = heads.kv * heads.dim;
  return TensorView::strided(memory + (values ? pageSize * token : 0), DType::F32,
                             {pages, pageSize, heads.kv, heads.dim},
                             {2 * pageSize * token, token, heads.dim, 1});
}
/// Head-major pages whose heads and slots are padded to odd strides.
TensorView padded(float *memory, bool values, int64_t pages, int64_t pageSize, const Heads &heads) {
  const int64_t slot = heads.dim + 3;
  const int64_t head = pageSize * slot + 5;
  const int64_t page = heads.kv * head + 7;
  return TensorView::strided(memory + (values ? pages * page : 0), DType::F32,
                             {pages, heads.kv, pageSize, heads.dim}, {page, head, slot, 1});
}

const CacheLayout kLayouts[] = {{"nhd", KvLayout::PagedNhd, nhd, 2},
                                {"hnd", KvLayout::PagedHnd, hnd, 2},
                                {"interleaved", KvLayout::PagedNhd, interleaved, 2},
                                {"padded", KvLayout::PagedHnd, padded, 8}};

/// Copies contiguous rows into pages; everything else is NaN.
void fillPages(const Problem &problem, const std::vector<float> &rows, TensorView cache,
               KvLayout layout, const std::vector<int32_t> &table, int64_t maxPages,
               int64_t pageSize) {
  const int slotAxis = layout == KvLayout::PagedNhd ? 1 : 2;
  for (int64_t r = 0; r < problem.requests(); ++r)
    for (int64_t token = 0; token < problem.kvLens[r]; ++token)
      for (int64_t head = 0; head < problem.heads.kv; ++head)
        std::copy_n(
            &rows[((problem.cuSeqlensKv[r] + token) * problem.heads.kv + head) * problem.heads.dim],
            problem.heads.dim,
            static_cast<float *>(cache.data) +
                table[r * maxPages + token / pageSize] * cache.strides[0] +
                token % pageSize * cache.strides[slotAxis] + head * cache.strides[3 - slotAxis]);
}

class Paging : public testing::TestWithParam<int64_t> {};

TEST_P(Paging, K7_everyLayoutEqualsContiguousBitForBit) {
  const int64_t pageSize = GetParam();
  for (const Heads heads : {Heads{4, 2}, Heads{3, 1}}) {
    Problem problem({{20, 70}, {5, 5}, {0, 40}, {33, 200}, {2, 0}}, heads);
    const Kernel kernel = causalKernel(heads);
    ASSERT_TRUE(runOnce(kernel, problem.shape(), problem.operands()));
    const std::vector<float> expected = problem.out;

    const int64_t maxPages = ceilDiv(200, pageSize) + 1;
    std::vector<int32_t> free(static_cast<size_t>(problem.requests() * maxPages + 3));
    std::iota(free.begin(), free.end(), 0);
    std::shuffle(free.begin(), free.end(), std::mt19937(5));
    std::vector<int32_t> table(static_cast<size_t>(problem.requests() * maxPages), -1);
    for (int64_t r = 0; r < problem.requests(); ++r)
      for (int64_t i = 0; i < ceilDiv(problem.kvLens[r], pageSize); ++i) {
        table[r * maxPages + i] = free.back();
        free.pop_back();
      }
    const int64_t pages = problem.requests() * maxPages + 3;

    for (const CacheLayout &layout : kLayouts) {
      const int64_t size =
          layout.elementsPerPage * pages * (pageSize * heads.kv + 2) * (heads.dim + 8);
      std::vector<float> memory(static_cast<size_t>(size), kNaN);
      Operands operands = problem.operands();
      operands.kvLayout = layout.layout;
      operands.k = layout.view(memory.data(), false, pages, pageSize, heads);
      operands.v = layout.view(memory.data(), true, pages, pageSize, heads);
      fillPages(problem, problem.k, operands.k, layout.layout, table, maxPages, pageSize);
      fillPages(problem, problem.v, operands.v, layout.layout, table, maxPages, pageSize);
      operands.cuSeqlensKv = {};
      operands.blockTable =
          TensorView::contiguous(table.data(), DType::I32, {problem.requests(), maxPages});
      std::fill(problem.out.begin(), problem.out.end(), kNaN);
      const Status status = runOnce(kernel, problem.shape(), operands);
      ASSERT_TRUE(status) << layout.name << ": " << status.message();
      EXPECT_EQ(std::memcmp(problem.out.data(), expected.data(), expected.size() * sizeof(float)),
                0)
          << layout.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(PageSizes, Paging, testing::Values(1, 16, 32, 48, 64, 128, 256),
                         testing::PrintToStringParamName());

TEST(Paging, K7_requestsMayShareThePagesOfAPrefix) {
  Problem problem({{4, 20}, {6, 18}});
  for (int64_t i = 0; i < 16 * 16; ++i) { // the first 16 keys are the same
    problem.k[20 * 16 + i] = problem.k[i];
    problem.v[20 * 16 + i] = problem.v[i];
  }
  std::vector<int32_t> table = {3, 1, 0, 3, 1, 2}; // pages of 8, rows of 3
  std::vector<float> k(4 * 8 * 16, kNaN);
  std::vector<float> v(4 * 8 * 16, kNaN);
  Operands operands = problem.operands();
  operands.kvLayout = KvLayout::PagedNhd;
  operands.k = TensorView::contiguous(k.data(), DType::F32, {4, 8, 2, 8});
  operands.v = TensorView::contiguous(v.data(), DType::F32, {4, 8, 2, 8});
  fillPages(problem, problem.k, operands.k, operands.kvLayout, table, 3, 8);
  fillPages(problem, problem.v, operands.v, operands.kvLayout, table, 3, 8);
  operands.cuSeqlensKv = {};
  operands.blockTable = TensorView::contiguous(table.data(), DType::I32, {2, 3});
  ASSERT_TRUE(runOnce(causalKernel({}), problem.shape(), operands));
  expectAttention(problem, referenceAttention(problem));
}

TEST(Paging, blockTableRowsMayBeStrided) {
  Problem problem({{4, 10}, {4, 16}});
  std::vector<int32_t> table = {0, 1, 99, 99, 99, 2, 3, 99, 99, 99};
  std::vector<float> k(4 * 8 * 16, kNaN);
  std::vector<float> v(4 * 8 * 16, kNaN);
  Operands operands = problem.operands();
  operands.kvLayout = KvLayout::PagedHnd;
  operands.k = TensorView::contiguous(k.data(), DType::F32, {4, 2, 8, 8});
  operands.v = TensorView::contiguous(v.data(), DType::F32, {4, 2, 8, 8});
  fillPages(problem, problem.k, operands.k, operands.kvLayout, table, 5, 8);
  fillPages(problem, problem.v, operands.v, operands.kvLayout, table, 5, 8);
  operands.cuSeqlensKv = {};
  operands.blockTable = TensorView::strided(table.data(), DType::I32, {2, 2}, {5, 1});
  ASSERT_TRUE(runOnce(causalKernel({}), problem.shape(), operands));
  expectAttention(problem, referenceAttention(problem));
}

TEST(Paging, K4_emptyCacheServesRequestsWithoutKeys) {
  Problem problem({{3, 0}});
  Operands operands = problem.operands();
  operands.kvLayout = KvLayout::PagedNhd;
  operands.k = TensorView::contiguous(nullptr, DType::F32, {0, 16, 2, 8});
  operands.v = TensorView::contiguous(nullptr, DType::F32, {0, 16, 2, 8});
  operands.cuSeqlensKv = {};
  operands.blockTable = TensorView::contiguous(nullptr, DType::I32, {1, 0});
  ASSERT_TRUE(runOnce(causalKernel({}), problem.shape(), operands));
  expectAttention(problem, referenceAttention(problem));
}

/// Address space without memory behind it, until it is touched.
class Reservation {
public:
  explicit Reservation(int64_t elements)
      : bytes_(static_cast<size_t>(elements) * sizeof(float)),
        data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  Reservation(const Reservation &) = delete;
  Reservation &operator=(const Reservation &) = delete;
  ~Reservation() { munmap(data_, bytes_); }
  float *data() const { return data_ == MAP_FAILED ? nullptr : static_cast<float *>(data_); }

private:
  size_t bytes_;
  void *data_;
};

TEST(Paging, K5_pagesPastFourBillionElementsAreReached) {
  // 70,000 pages of 64 tokens, 8 heads and 128 elements, of which 8 are the head dimension.
  const Heads heads = {8, 8};
  const int64_t pages = 70000;
  const int64_t pageStride = 64 * 8 * 128;
  const Reservation keys(pages * pageStride);
  const Reservation values(pages * pageStride);
  ASSERT_TRUE(keys.data() && values.data());
  Problem problem({{20, 130}, {3, 64}}, heads);
  std::vector<int32_t> table = {69999, 65537, 69000, 69998, -1, -1};
  Operands operands = problem.operands();
  operands.kvLayout = KvLayout::PagedNhd;
  operands.k = TensorView::strided(keys.data(), DType::F32, {pages, 64, 8, 8},
                                   {pageStride, 8 * 128, 128, 1});
  operands.v = TensorView::strided(values.data(), DType::F32, {pages, 64, 8, 8},
                                   {pageStride, 8 * 128, 128, 1});
  fillPages(problem, problem.k, operands.k, operands.kvLayout, table, 3, 64);
  fillPages(problem, problem.v, operands.v, operands.kvLayout, table, 3, 64);
  operands.cuSeqlensKv = {};
  operands.blockTable = TensorView::contiguous(table.data(), DType::I32, {2, 3});
  ASSERT_TRUE(runOnce(causalKernel(heads), problem.shape(), operands));
  expectAttention(problem, referenceAttention(problem));
}

TEST(Paging, K5_rowsPastTwoBillionElementsAreReached) {
  // Queries and results with a row stride of 9728, the batch's tokens at the very end of 230,000
  // rows: request 0 has no rows in use but takes up their numbers.
  const Heads heads = {2, 1};
  const int64_t rows = 230000;
  const int64_t rowStride = 9728;
  const Reservation queries(rows * rowStride);
  const Reservation results(rows * rowStride);
  ASSERT_TRUE(queries.data() && results.data());
  Problem problem({{4, 9}}, heads);
  const Attention expected = referenceAttention(problem);
  Operands operands = problem.operands();
  float *q = queries.data() + (rows - 4) * rowStride;
  for (int64_t token = 0; token < 4; ++token)
    std::copy_n(&problem.q[token * 16], 16, q + token * rowStride);
  // Seen from the last row backwards, so that offsets reach past 2^31 in both directions.
  std::vector<float> reversed(problem.q.size());
  operands.q = TensorView::strided(q, DType::F32, {4, 2, 8}, {rowStride, 8, 1});
  operands.out =
      TensorView::strided(results.data(), DType::F32, {4, 2, 8}, {(rows / 4) * rowStride, 8, 1});
  ASSERT_TRUE(runOnce(causalKernel(heads), problem.shape(), operands));
  for (int64_t token = 0; token < 4; ++token)
    std::copy_n(results.data() + token * (rows / 4) * rowStride, 16, &problem.out[token * 16]);
  expectAttention(problem, expected);
}

} // namespace
