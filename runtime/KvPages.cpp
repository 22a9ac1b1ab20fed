#include "runtime/KvPages.h"

#include <cmath>
#include <cstring>

namespace skim {

namespace {

constexpr float kLargestF8 = 448;

float load(const std::byte *element, DType dtype) {
  const auto as = [&]<typename T>(T value) {
    std::memcpy(&value, element, sizeof(T));
    return value;
  };
  switch (dtype) {
  case DType::F16:
    return f16ToF32(as(uint16_t{}));
  case DType::BF16:
    return bf16ToF32(as(uint16_t{}));
  case DType::F8E4M3:
    return f8E4m3ToF32(as(uint8_t{}));
  default:
    return as(float{});
  }
}

void store(std::byte *element, DType dtype, float value) {
  const auto put = [&](auto bits) { std::memcpy(element, &bits, sizeof(bits)); };
  switch (dtype) {
  case DType::F16:
    return put(f32ToF16(value));
  case DType::BF16:
    return put(f32ToBf16(value));
  case DType::F8E4M3:
    return put(f32ToF8E4m3(value));
  default:
    return put(value);
  }
}

std::byte *rowOf(const TensorView &rows, int64_t token, int64_t head) {
  return static_cast<std::byte *>(rows.data) +
         (token * rows.strides[0] + head * rows.strides[1]) * dtypeSize(rows.dtype);
}

} // namespace

KvPages::KvPages(const TensorView &pages, KvLayout layout)
    : view_(pages), slotAxis_(layout == KvLayout::PagedNhd ? 1 : 2), headAxis_(3 - slotAxis_) {}

std::byte *KvPages::row(int32_t page, int64_t slot, int64_t head) const {
  return static_cast<std::byte *>(view_.data) +
         (page * view_.strides[0] + slot * view_.strides[slotAxis_] +
          head * view_.strides[headAxis_]) *
             dtypeSize(view_.dtype);
}

int64_t KvPages::write(const SlotRange &slots, const TensorView &rows, int64_t firstRow,
                       std::span<const float> scales) const {
  const int64_t dim = view_.shape[3];
  const int64_t size = dtypeSize(view_.dtype);
  int64_t saturated = 0;
  for (int64_t i = 0; i < slots.count; ++i)
    for (int64_t head = 0; head < view_.shape[headAxis_]; ++head) {
      const std::byte *from = rowOf(rows, firstRow + i, head);
      std::byte *to = row(slots.page, slots.first + i, head);
      if (rows.dtype == view_.dtype) {
        std::memcpy(to, from, static_cast<size_t>(dim * size));
        continue;
      }
      const float scale = scales.empty() ? 1.0f : scales[head];
      for (int64_t j = 0; j < dim; ++j) {
        const float value = load(from + j * dtypeSize(rows.dtype), rows.dtype) / scale;
        saturated += view_.dtype == DType::F8E4M3 && std::abs(value) > kLargestF8;
        store(to + j * size, view_.dtype, value);
      }
    }
  return saturated;
}

void KvPages::read(const SlotRange &slots, const TensorView &rows, int64_t firstRow,
                   std::span<const float> scales) const {
  for (int64_t i = 0; i < slots.count; ++i)
    for (int64_t head = 0; head < view_.shape[headAxis_]; ++head) {
      const std::byte *from = row(slots.page, slots.first + i, head);
      std::byte *to = rowOf(rows, firstRow + i, head);
      const float scale = scales.empty() ? 1.0f : scales[head];
      for (int64_t j = 0; j < view_.shape[3]; ++j)
        store(to + j * dtypeSize(rows.dtype), rows.dtype,
              load(from + j * dtypeSize(view_.dtype), view_.dtype) * scale);
    }
}

void KvPages::copy(const SlotRange &slots, int32_t toPage) const {
  const auto bytes = static_cast<size_t>(view_.shape[3] * dtypeSize(view_.dtype));
  for (int64_t i = 0; i < slots.count; ++i)
    for (int64_t head = 0; head < view_.shape[headAxis_]; ++head)
      std::memcpy(row(toPage, slots.first + i, head), row(slots.page, slots.first + i, head),
                  bytes);
}

} // namespace skim
