// Random numbers that are the same on every machine for one seed.
#ifndef SKIM_TEST_NUMERICS_RANDOM_H
#define SKIM_TEST_NUMERICS_RANDOM_H

#include <cmath>
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
  double normal() {
    double radius = std::sqrt(-2 * std::log(1 - unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
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
