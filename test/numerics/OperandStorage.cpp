#include "test/numerics/OperandStorage.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <type_traits>

namespace skim::numerics {

Floats::Floats(DType dtype, int64_t count) : dtype(dtype), bytes(count * dtypeSize(dtype)) {
  for (int64_t i = 0; i != count; ++i)
    set(i, std::numeric_limits<float>::quiet_NaN());
}

void Floats::set(int64_t i, float value) {
  if (dtype == DType::F32) {
    std::memcpy(at(i), &value, sizeof(float));
    return;
  }
  uint16_t half = dtype == DType::BF16 ? f32ToBf16(value) : f32ToF16(value);
  std::memcpy(at(i), &half, sizeof(half));
}

float Floats::get(int64_t i) const {
  const std::byte *from = bytes.data() + i * dtypeSize(dtype);
  if (dtype == DType::F32) {
    float value = 0;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  uint16_t half = 0;
  std::memcpy(&half, from, sizeof(half));
  return dtype == DType::BF16 ? bf16ToF32(half) : f16ToF32(half);
}

PaddedRows::PaddedRows(const reference::Tokens &tokens, DType dtype, int64_t padding)
    : headStride(tokens.dim + padding), tokenStride(headStride * tokens.heads + padding),
      floats(dtype, tokenStride * tokens.tokens + 1) {
  for (int64_t t = 0; t != tokens.tokens; ++t)
    for (int64_t h = 0; h != tokens.heads; ++h)
      for (int64_t i = 0; i != tokens.dim; ++i)
        floats.set(t * tokenStride + h * headStride + i, float(tokens.row(t, h)[i]));
  view = TensorView::strided(floats.data(), dtype, {tokens.tokens, tokens.heads, tokens.dim},
                             {tokenStride, headStride, 1});
}

/// Whether the tokens of page `page` are the same in the first request and in request `r`, which
/// starts at token `first`.
static bool sharesPage(const reference::Problem &problem, size_t r, int64_t first, int64_t page,
                       int64_t pageSize) {
  int64_t begin = page * pageSize, end = begin + pageSize;
  if (r == 0 || end > problem.kvLens[0] || end > problem.kvLens[r])
    return false;
  for (const reference::Tokens *tokens : {&problem.k, &problem.v}) {
    int64_t row = tokens->heads * tokens->dim;
    auto data = tokens->data.begin();
    if (!std::equal(data + begin * row, data + end * row, data + (first + begin) * row))
      return false;
  }
  return true;
}

PageTable::PageTable(const reference::Problem &problem, const Layout &layout) {
  for (int64_t length : problem.kvLens)
    maxPages = std::max(maxPages, (length + layout.pageSize - 1) / layout.pageSize);
  // What lies past the end of a request must not be read.
  entries.assign(std::max<int64_t>(1, problem.kvLens.size() * maxPages), INT32_MAX);
  int64_t first = 0;
  for (size_t r = 0; r != problem.kvLens.size(); ++r) {
    for (int64_t p = 0; p * layout.pageSize < problem.kvLens[r]; ++p)
      entries[r * maxPages + p] =
          layout.sharesPages && sharesPage(problem, r, first, p, layout.pageSize)
              ? entries[p]
              : static_cast<int32_t>(pages++);
    first += problem.kvLens[r];
  }
  pages += 2;
  std::vector<int32_t> order(pages);
  for (int64_t p = 0; p != pages; ++p)
    order[p] = static_cast<int32_t>(p);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(layout.seed));
  for (int32_t &entry : entries)
    if (entry != INT32_MAX)
      entry = order[entry];
}

namespace {

/// Strides of keys or of values in a pool of pages.
struct PageStrides {
  PageStrides(int64_t heads, int64_t dim, const Layout &layout) {
    int64_t row = dim + layout.padding;
    bool slotsOutside = layout.kv == KvLayout::PagedNhd;
    slot = slotsOutside ? row * heads : row;
    head = slotsOutside ? row : row * layout.pageSize;
    size = row * heads * layout.pageSize;
  }

  int64_t slot, head, size;
};

} // namespace

PagedKeysAndValues::PagedKeysAndValues(const reference::Problem &problem, const PageTable &table,
                                       DType dtype, const Layout &layout)
    : floats(dtype, table.pages * (PageStrides(problem.k.heads, problem.k.dim, layout).size +
                                   PageStrides(problem.v.heads, problem.v.dim, layout).size +
                                   2 * layout.padding) +
                        1) {
  PageStrides k(problem.k.heads, problem.k.dim, layout), v(problem.v.heads, problem.v.dim, layout);
  int64_t keyPage = k.size + layout.padding, valuePage = v.size + layout.padding;
  int64_t firstValue = layout.interleaved ? keyPage : table.pages * keyPage;
  if (layout.interleaved)
    keyPage = valuePage = keyPage + valuePage;
  auto fill = [&](const reference::Tokens &tokens, const PageStrides &strides, int64_t first,
                  int64_t page) {
    int64_t token = 0;
    for (size_t r = 0; r != problem.kvLens.size(); ++r)
      for (int64_t t = 0; t != problem.kvLens[r]; ++t, ++token) {
        int64_t start = first + table.entries[r * table.maxPages + t / layout.pageSize] * page +
                        t % layout.pageSize * strides.slot;
        for (int64_t h = 0; h != tokens.heads; ++h)
          for (int64_t i = 0; i != tokens.dim; ++i)
            floats.set(start + h * strides.head + i, float(tokens.row(token, h)[i]));
      }
    if (layout.kv == KvLayout::PagedNhd)
      return TensorView::strided(floats.at(first), dtype,
                                 {table.pages, layout.pageSize, tokens.heads, tokens.dim},
                                 {page, strides.slot, strides.head, 1});
    return TensorView::strided(floats.at(first), dtype,
                               {table.pages, tokens.heads, layout.pageSize, tokens.dim},
                               {page, strides.head, strides.slot, 1});
  };
  keys = fill(problem.k, k, 0, keyPage);
  values = fill(problem.v, v, firstValue, valuePage);
}

/// Elements before and after an input that belong to nobody.
static constexpr size_t kGuard = 1024;

/// What no cell may hold: NaN, an index outside of every axis, or, of truth values, one that turns
/// what reads it around.
template <typename T> static T poison(const std::vector<double> &values) {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::quiet_NaN();
  else if constexpr (sizeof(T) == 1)
    return std::count(values.begin(), values.end(), 0.0) * 2 > std::ssize(values);
  else
    return std::numeric_limits<T>::max() / 3;
}

/// `values` between guards.
template <typename T> static std::vector<std::byte> convert(const std::vector<double> &values) {
  std::vector<T> elements(values.size() + 2 * kGuard, poison<T>(values));
  std::transform(values.begin(), values.end(), elements.begin() + kGuard,
                 [](double value) { return static_cast<T>(value); });
  auto bytes = std::as_bytes(std::span(elements));
  return {bytes.begin(), bytes.end()};
}

TypedInputs::TypedInputs(const LaunchPlan &plan, const reference::Problem &problem) {
  for (const InputDescription &input : plan.inputs) {
    auto given = problem.inputs.find(input.name);
    if (given == problem.inputs.end())
      continue;
    const reference::InputValue &value = given->second;
    DType dtype = DType::F32;
    if (input.element == InputElement::Bool) {
      dtype = DType::U8;
      storage.push_back(convert<uint8_t>(value.data));
    } else if (input.element == InputElement::F32 || input.element == InputElement::Vector) {
      storage.push_back(convert<float>(value.data));
    } else {
      dtype = DType::I32;
      storage.push_back(convert<int32_t>(value.data));
    }
    tensors.push_back(
        {input.name, TensorView::contiguous(storage.back().data() + kGuard * dtypeSize(dtype),
                                            dtype, value.shape)});
  }
}

} // namespace skim::numerics
