// 64-bit arithmetic on sizes that remembers an overflow instead of wrapping.
#ifndef SKIM_RUNTIME_CHECKEDMATH_H
#define SKIM_RUNTIME_CHECKEDMATH_H

#include <cstdint>

namespace skim {

/// A size; once an operation overflowed, it and all that is computed from it are invalid.
class CheckedSize {
public:
  constexpr CheckedSize(int64_t value) : value_(value) {}

  constexpr bool isValid() const { return valid_; }
  /// The value; only where valid.
  constexpr int64_t value() const { return value_; }

  friend constexpr CheckedSize operator+(CheckedSize lhs, CheckedSize rhs) {
    CheckedSize result(0);
    result.valid_ =
        !__builtin_add_overflow(lhs.value_, rhs.value_, &result.value_) && lhs.valid_ && rhs.valid_;
    return result;
  }
  friend constexpr CheckedSize operator*(CheckedSize lhs, CheckedSize rhs) {
    CheckedSize result(0);
    result.valid_ =
        !__builtin_mul_overflow(lhs.value_, rhs.value_, &result.value_) && lhs.valid_ && rhs.valid_;
    return result;
  }

private:
  int64_t value_;
  bool valid_ = true;
};

/// Quotient rounded towards minus infinity; `divisor` is at least 1.
constexpr int64_t floorDiv(int64_t dividend, int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0);
}

/// Quotient rounded towards plus infinity; `divisor` is at least 1.
constexpr int64_t ceilDiv(int64_t dividend, int64_t divisor) {
  return dividend / divisor + (dividend % divisor > 0);
}

} // namespace skim

#endif // SKIM_RUNTIME_CHECKEDMATH_H
