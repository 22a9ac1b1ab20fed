#include "PlainKvCache.h"

#include "runtime/CheckedMath.h"

#include <algorithm>
#include <cmath>

namespace skim::test {

namespace {
constexpr int64_t kTokenStride = kHeads * (kDim + 1) + 3;
} // namespace

float decode(const void *data, DType dtype, int64_t index) {
  switch (dtype) {
  case DType::F16:
    return f16ToF32(static_cast<const uint16_t *>(data)[index]);
  case DType::BF16:
    return bf16ToF32(static_cast<const uint16_t *>(data)[index]);
  case DType::F8E4M3:
    return f8E4m3ToF32(static_cast<const uint8_t *>(data)[index]);
  default:
    return static_cast<const float *>(data)[index];
  }
}

void encode(void *data, DType dtype, int64_t index, float value) {
  switch (dtype) {
  case DType::F16:
    static_cast<uint16_t *>(data)[index] = f32ToF16(value);
    return;
  case DType::BF16:
    static_cast<uint16_t *>(data)[index] = f32ToBf16(value);
    return;
  case DType::F8E4M3:
    static_cast<uint8_t *>(data)[index] = f32ToF8E4m3(value);
    return;
  default:
    static_cast<float *>(data)[index] = value;
  }
}

float rounded(float value, DType dtype) {
  float bits = 0;
  encode(&bits, dtype, 0, value);
  return decode(&bits, dtype, 0);
}

float elementOf(int64_t token, int64_t head, int64_t i, bool value) {
  uint64_t bits = static_cast<uint64_t>(token * 64 + head * 16 + i * 2 + value) + 1;
  bits = (bits ^ (bits >> 31)) * 0x9e3779b97f4a7c15u; // mixes all bits into the upper ones
  bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u;
  bits >>= 32;
  const float magnitude = static_cast<float>(bits % 256) / 32;
  return (bits & 0x10000 ? -1.0f : 1.0f) * (bits % 61 == 0 ? magnitude * 75 : magnitude);
}

Rows::Rows(const std::vector<int64_t> &tokens, bool value, DType dtype)
    : memory(tokens.size() * kTokenStride * 4), dtype(dtype), count(std::ssize(tokens)) {
  for (int64_t t = 0; t < count; ++t)
    for (int64_t head = 0; head < kHeads; ++head)
      for (int64_t i = 0; i < kDim; ++i)
        encode(memory.data(), dtype, t * kTokenStride + head * (kDim + 1) + i,
               elementOf(tokens[t], head, i, value));
}

TensorView Rows::view() const {
  return TensorView::strided(memory.data(), dtype, {count, kHeads, kDim},
                             {kTokenStride, kDim + 1, 1});
}

std::map<const int *, int> PlainCache::holders() const {
  std::map<const int *, int> count;
  for (const auto &[id, sequence] : sequences)
    for (const auto &page : sequence.pages)
      ++count[page.get()];
  return count;
}

bool PlainCache::append(PlainSequence &sequence, const std::vector<int64_t> &added) {
  const auto before = static_cast<int64_t>(sequence.tokens.size());
  const bool copies =
      !added.empty() && before % test.pageSize != 0 && sequence.pages.back().use_count() > 1;
  const auto pages =
      static_cast<size_t>(ceilDiv(before + static_cast<int64_t>(added.size()), test.pageSize));
  if (static_cast<int64_t>(pages - sequence.pages.size()) + copies >
      test.pages - std::ssize(holders())) {
    ++exhausted;
    return false;
  }
  if (copies) {
    sequence.pages.back() = std::make_shared<int>();
    ++pageCopies;
  }
  while (sequence.pages.size() < pages)
    sequence.pages.push_back(std::make_shared<int>());
  sequence.tokens.insert(sequence.tokens.end(), added.begin(), added.end());
  if (test.cache == DType::F8E4M3)
    for (const int64_t token : added)
      for (int64_t i = 0; i < kHeads * kDim * 2; ++i) {
        const float value = elementOf(token, i / 2 / kDim, i / 2 % kDim, i % 2);
        saturated += std::abs(rounded(value, test.rows) / sequence.scale) > 448;
      }
  return true;
}

void PlainCache::resize(PlainSequence &sequence, int64_t tokens) const {
  sequence.tokens.resize(static_cast<size_t>(tokens));
  sequence.pages.resize(static_cast<size_t>(ceilDiv(tokens, test.pageSize)));
}

PagedKvCacheStatistics PlainCache::statistics() const {
  PagedKvCacheStatistics result;
  result.pages = test.pages;
  const std::map<const int *, int> count = holders();
  result.pagesFree = test.pages - static_cast<int64_t>(count.size());
  result.pagesShared =
      std::ranges::count_if(count, [](const auto &page) { return page.second > 1; });
  result.sequences = static_cast<int64_t>(sequences.size());
  for (const auto &[id, sequence] : sequences)
    result.tokens += static_cast<int64_t>(sequence.tokens.size());
  result.pageCopies = pageCopies;
  result.exhausted = exhausted;
  result.saturated = saturated;
  return result;
}

} // namespace skim::test
