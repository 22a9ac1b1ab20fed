#include <skim/DType.h>

#include <array>
#include <bit>
#include <cmath>

namespace skim {

namespace {
struct DTypeInfo {
  DType dtype;
  int64_t size;
  const char *name;
};
constexpr std::array<DTypeInfo, 8> kDTypes = {{{DType::F32, 4, "f32"},
                                               {DType::F16, 2, "f16"},
                                               {DType::BF16, 2, "bf16"},
                                               {DType::U8, 1, "u8"},
                                               {DType::I32, 4, "i32"},
                                               {DType::I64, 8, "i64"},
                                               {DType::F64, 8, "f64"},
                                               {DType::F8E4M3, 1, "f8e4m3"}}};
} // namespace

int64_t dtypeSize(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].size; }

const char *dtypeName(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].name; }

std::optional<DType> parseDType(std::string_view name) {
  for (const DTypeInfo &info : kDTypes)
    if (name == info.name)
      return info.dtype;
  return std::nullopt;
}

float bf16ToF32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t f32ToBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) // quiet, and never rounded into infinity
    return static_cast<uint16_t>((bits >> 16) | 0x0040u);
  // Just under half a unit, plus the lowest kept bit: ties go to even.
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// binary16 is sign 1, exponent 5 (bias 15), fraction 10; binary32 is 1, 8 (bias 127), 23.
float f16ToF32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) { // zero and subnormals: fraction * 2^-24, exact in f32
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  const uint32_t wide = exponent == 31 ? 255u : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

uint16_t f32ToF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x47800000u) // 65536 and up, infinity included
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) { // below 2^-14: subnormal, or zero
    // Adding 0.5 aligns the unit of the result (2^-24) with the last bit of an f32 in
    // [0.5, 1), so that the addition itself rounds to nearest even.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(aligned) - 0x3f000000u));
  }
  // A carry out of the fraction raises the exponent, up to infinity.
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - ((127u - 15u) << 23)) >> 13));
}

// e4m3fn is sign 1, exponent 4 (bias 7), fraction 3; all ones are NaN and there is no infinity.
float f8E4m3ToF32(uint8_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x80u) << 24;
  const uint32_t exponent = (bits >> 3) & 0xfu;
  const uint32_t fraction = bits & 0x7u;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -9);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  if (exponent == 15 && fraction == 7)
    return std::bit_cast<float>(sign | 0x7fc00000u);
  return std::bit_cast<float>(sign | ((exponent + (127 - 7)) << 23) | (fraction << 20));
}

uint8_t f32ToF8E4m3(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint8_t>((bits >> 24) & 0x80u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint8_t>(sign | 0x7fu);
  if (magnitude >= 0x43e00000u) // 448 and up, infinity included
    return static_cast<uint8_t>(sign | 0x7eu);
  if (magnitude < 0x3c800000u) { // below 2^-6: subnormal, or zero
    // As above: the unit 2^-9 is the last bit of an f32 in [2^14, 2^15).
    const float aligned = std::bit_cast<float>(magnitude) + 16384.0f;
    return static_cast<uint8_t>(sign | (std::bit_cast<uint32_t>(aligned) - 0x46800000u));
  }
  const uint32_t rounded = magnitude + 0x7ffffu + ((magnitude >> 20) & 1u);
  return static_cast<uint8_t>(sign | ((rounded - ((127u - 7u) << 23)) >> 20));
}

} // namespace skim
