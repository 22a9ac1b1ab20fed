// Launch-time values of a pattern's parameters.
#ifndef SKIM_PARAMETERS_H
#define SKIM_PARAMETERS_H

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace skim {

/// One value, or one a query head. An `index` parameter takes integers from -2^31
/// to 2^31, an `f32` parameter floats and integers (rounded to f32; NaN is refused), a `bool`
/// parameter bools. A per-head parameter takes query_heads values, or one for all heads.
class ParameterValue {
public:
  using Storage = std::variant<int64_t, double, bool, std::vector<int64_t>, std::vector<double>,
                               std::vector<bool>>;

  template <typename T>
    requires std::is_arithmetic_v<T>
  ParameterValue(T value) {
    if constexpr (std::is_same_v<T, bool>)
      storage_ = value;
    else if constexpr (std::is_floating_point_v<T>)
      storage_ = static_cast<double>(value);
    else
      storage_ = static_cast<int64_t>(value);
  }
  ParameterValue(std::vector<int64_t> values) : storage_(std::move(values)) {}
  ParameterValue(std::vector<double> values) : storage_(std::move(values)) {}
  ParameterValue(std::vector<bool> values) : storage_(std::move(values)) {}

  const Storage &storage() const { return storage_; }

private:
  Storage storage_;
};

struct NamedParameter {
  std::string name;
  ParameterValue value;
};

/// `{{"window", 512}, {"alpha", 0.1f}}`. What is left out takes its default.
using Parameters = std::vector<NamedParameter>;

} // namespace skim

#endif // SKIM_PARAMETERS_H
