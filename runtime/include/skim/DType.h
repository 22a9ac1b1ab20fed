// Element types of tensors, and conversions between the narrow floats and f32.
#ifndef SKIM_DTYPE_H
#define SKIM_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace skim {

enum class DType : uint8_t {
  F32,  ///< IEEE binary32
  F16,  ///< IEEE binary16
  BF16, ///< the upper half of a binary32
  U8,   ///< also a bool: 0 or not 0
  I32,
  I64,
  F64,    ///< IEEE binary64: workspace buffers alone
  F8E4M3, ///< e4m3fn: 8 bits without infinity, largest 448: KV caches alone
};

/// Bytes of one element.
int64_t dtypeSize(DType dtype);

/// "f32", "f16", "bf16", "u8", "i32", "i64", "f64", "f8e4m3".
const char *dtypeName(DType dtype);
std::optional<DType> parseDType(std::string_view name);

/// To f32: exact. NaN stays NaN.
float bf16ToF32(uint16_t bits);
float f16ToF32(uint16_t bits);
float f8E4m3ToF32(uint8_t bits);

/// From f32: round to nearest, ties to even; overflow gives infinity; subnormal results are
/// kept; NaN stays a (quiet) NaN.
uint16_t f32ToBf16(float value);
uint16_t f32ToF16(float value);
/// The same, but saturating: what lies beyond 448, infinity too, becomes 448 with its sign.
uint8_t f32ToF8E4m3(float value);

} // namespace skim

#endif // SKIM_DTYPE_H
