// Conversions between f32 and the narrow floats, checked over all of their values and around
// every rounding boundary.
#include <skim/DType.h>
#include <skim/TensorView.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace skim;

namespace {

/// The value of a small float by its definition.
double decode(uint16_t bits, int exponentBits, int fractionBits) {
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = (bits >> fractionBits) & ((1 << exponentBits) - 1);
  const int fraction = bits & ((1 << fractionBits) - 1);
  double magnitude = 0;
  if (exponent == (1 << exponentBits) - 1)
    magnitude = fraction ? std::nan("") : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, 1 - bias - fractionBits);
  else
    magnitude = std::ldexp(fraction + (1 << fractionBits), exponent - bias - fractionBits);
  return bits & 0x8000 ? -magnitude : magnitude;
}

struct Format {
  int exponentBits;
  int fractionBits;
  float (*toF32)(uint16_t);
  uint16_t (*fromF32)(float);
};

class SmallFloat : public testing::TestWithParam<Format> {};

TEST_P(SmallFloat, widensEveryValueExactlyAndBack) {
  const Format format = GetParam();
  for (uint32_t i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const double value = decode(bits, format.exponentBits, format.fractionBits);
    const float wide = format.toF32(bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(wide)) << i;
      ASSERT_TRUE(std::isnan(format.toF32(format.fromF32(wide)))) << i;
      continue;
    }
    ASSERT_EQ(static_cast<double>(wide), value) << i;
    ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0) << i;
    ASSERT_EQ(format.fromF32(wide), bits) << i;
  }
}

TEST_P(SmallFloat, roundsToNearestEven) {
  const Format format = GetParam();
  const uint16_t infinity =
      static_cast<uint16_t>(((1 << format.exponentBits) - 1) << format.fractionBits);
  for (uint16_t low = 0; low + 1 < infinity; ++low) {
    const double below = decode(low, format.exponentBits, format.fractionBits);
    const double above = decode(low + 1, format.exponentBits, format.fractionBits);
    const auto middle = static_cast<float>((below + above) / 2); // exact in f32
    ASSERT_EQ(static_cast<double>(middle), (below + above) / 2);
    const uint16_t even = low % 2 == 0 ? low : low + 1;
    ASSERT_EQ(format.fromF32(middle), even) << low;
    ASSERT_EQ(format.fromF32(-middle), even | 0x8000) << low;
    ASSERT_EQ(format.fromF32(std::nextafter(middle, 0.0f)), low) << low;
    ASSERT_EQ(format.fromF32(std::nextafter(middle, HUGE_VALF)), low + 1) << low;
  }
}

TEST_P(SmallFloat, overflowsToInfinity) {
  const Format format = GetParam();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(format.toF32(format.fromF32(std::numeric_limits<float>::max())), infinity);
  EXPECT_EQ(format.toF32(format.fromF32(-infinity)), -infinity);
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloat,
                         testing::Values(Format{8, 7, bf16ToF32, f32ToBf16},
                                         Format{5, 10, f16ToF32, f32ToF16}),
                         [](const auto &info) {
                           return info.param.exponentBits == 8 ? "bf16" : "f16";
                         });

TEST(SmallFloat, keepsNaNWhoseFractionWouldRoundAway) {
  const auto nan = std::bit_cast<float>(0x7f800001u);
  EXPECT_TRUE(std::isnan(bf16ToF32(f32ToBf16(nan))));
  EXPECT_TRUE(std::isnan(f16ToF32(f32ToF16(nan))));
}

/// The value of an e4m3fn by its definition.
double decodeF8(uint8_t bits) {
  const int exponent = (bits >> 3) & 15;
  const int fraction = bits & 7;
  if (exponent == 15 && fraction == 7)
    return std::nan("");
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(fraction + 8, exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

TEST(F8E4M3, widensEveryValueExactlyAndBack) {
  for (uint32_t i = 0; i <= 0xff; ++i) {
    const auto bits = static_cast<uint8_t>(i);
    const float wide = f8E4m3ToF32(bits);
    if (std::isnan(decodeF8(bits)))
      ASSERT_TRUE(std::isnan(wide)) << i;
    else
      ASSERT_EQ(static_cast<double>(wide), decodeF8(bits)) << i;
    ASSERT_EQ(f32ToF8E4m3(wide), bits) << i;
  }
}

TEST(F8E4M3, roundsToNearestEvenAndSaturates) {
  for (uint8_t low = 0; low < 0x7e; ++low) {
    const auto middle = static_cast<float>((decodeF8(low) + decodeF8(low + 1)) / 2);
    const uint8_t even = low % 2 == 0 ? low : low + 1;
    ASSERT_EQ(f32ToF8E4m3(middle), even) << int(low);
    ASSERT_EQ(f32ToF8E4m3(-middle), even | 0x80) << int(low);
    ASSERT_EQ(f32ToF8E4m3(std::nextafter(middle, 0.0f)), low) << int(low);
    ASSERT_EQ(f32ToF8E4m3(std::nextafter(middle, HUGE_VALF)), low + 1) << int(low);
  }
  for (const float large : {448.0f, 449.0f, 1e30f, HUGE_VALF}) {
    EXPECT_EQ(f8E4m3ToF32(f32ToF8E4m3(large)), 448);
    EXPECT_EQ(f8E4m3ToF32(f32ToF8E4m3(-large)), -448);
  }
}

TEST(DType, hasSizeAndName) {
  const std::pair<const char *, int64_t> expected[] = {{"f32", 4}, {"f16", 2},   {"bf16", 2},
                                                       {"u8", 1},  {"i32", 4},   {"i64", 8},
                                                       {"f64", 8}, {"f8e4m3", 1}};
  for (const auto &[name, size] : expected) {
    const std::optional<DType> dtype = parseDType(name);
    ASSERT_TRUE(dtype) << name;
    EXPECT_EQ(dtypeSize(*dtype), size);
    EXPECT_STREQ(dtypeName(*dtype), name);
  }
  EXPECT_FALSE(parseDType("f8"));
}

TEST(TensorView, contiguousViewsHaveTheLastAxisFastest) {
  float data[24];
  const TensorView view = TensorView::contiguous(data, DType::F32, {2, 3, 4});
  EXPECT_EQ(view.rank, 3);
  EXPECT_EQ(view.strides[0], 12);
  EXPECT_EQ(view.strides[1], 4);
  EXPECT_EQ(view.strides[2], 1);
  EXPECT_EQ(view.describe(), "f32[2, 3, 4]");
  EXPECT_FALSE(view.isEmpty());
  EXPECT_TRUE(TensorView::contiguous(data, DType::F32, {2, 0}).isEmpty());
}

TEST(TensorView, describesAbsentAndOversizedViews) {
  EXPECT_EQ(TensorView().describe(), "nothing");
  EXPECT_EQ(TensorView::contiguous(nullptr, DType::U8, {1, 2, 3, 4, 5, 6, 7}).describe(),
            "u8[1, 2, 3, 4, 5, 6, ...]");
  EXPECT_EQ(TensorView::contiguous(nullptr, DType::I64, {}).describe(), "i64[]");
}

} // namespace
