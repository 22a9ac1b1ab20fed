// Random numbers that are the same on every machine for one seed.
#ifndef SKIM_TEST_NUMERICS_RANDOM_H
#define SKIM_TEST_NUMERICS_RANDOM_H

#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <random>
#include <vector>

namespace skim::numerics {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// Uniform, both ends included.
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % static_cast<uint64_t>(high - low + 1));
  }
  double unit() { return static_cast<double>(engine() >> 11) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }
  /// Nearly normal, of mean 0 and variance 1: the sum of four uniform numbers.
  double normal() {
    uint64_t bits = engine();
    int64_t sum = 0;
    for (int i = 0; i < 4; ++i, bits >>= 16)
      sum += static_cast<int64_t>(bits & 0xffff);
    return (static_cast<double>(sum) * 0x1p-16 - 2) * std::numbers::sqrt3;
  }
  template <typename T> T pick(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<int64_t>(values.size()) - 1)];
  }
  template <typename T> const T &pick(const std::vector<T> &values) {
    return values[between(0, static_cast<int64_t>(values.size()) - 1)];
  }

private:
  std::mt19937_64 engine;
};

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_RANDOM_H
