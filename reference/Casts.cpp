#include "reference/Casts.h"

#include <algorithm>
#include <cmath>

namespace skim::reference {

/// Rounds to `bits` bits of significand, with the exponent's lower end at `minExponent`
/// (below it the spacing stays that of the smallest normal number).
static double roundToFloat(double value, int bits, int minExponent) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent = std::max(std::ilogb(value), minExponent);
  double spacing = std::ldexp(1.0, exponent - (bits - 1));
  // nearbyint rounds half to even; the quotient is exact.
  return std::nearbyint(value / spacing) * spacing;
}

double toBf16(double value) {
  double rounded = roundToFloat(value, 8, -126);
  const double largest = std::ldexp(255.0, 120);
  return std::abs(rounded) > largest ? std::copysign(HUGE_VAL, value) : rounded;
}

double toF16(double value) {
  double rounded = roundToFloat(value, 11, -14);
  return std::abs(rounded) > 65504 ? std::copysign(HUGE_VAL, value) : rounded;
}

double toFp8(double value) {
  return std::isnan(value) ? value : std::clamp(roundToFloat(value, 4, -6), -448.0, 448.0);
}

void quantise(llvm::MutableArrayRef<double> vector, double levels) {
  double largest = 0;
  for (double x : vector)
    largest = std::isnan(x) ? x : std::max(largest, std::abs(x)); // Keeps a NaN that it has.
  if (largest == 0)
    return;
  // The product is exact, so that a quotient is halfway only where it is so in truth.
  for (double &x : vector)
    x = std::nearbyint(x * levels / largest) * (largest / levels);
}

} // namespace skim::reference
