// Checks of one tensor argument, with messages that name it. Nothing here allocates
// unless it fails.
#ifndef SKIM_RUNTIME_TENSORCHECK_H
#define SKIM_RUNTIME_TENSORCHECK_H

#include <skim/Status.h>
#include <skim/TensorView.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace skim {

/// An argument as messages name it: `q`, `input 'layout'`, `parameter 'window'`.
struct ArgumentName {
  const char *kind = ""; ///< "input", "parameter", or empty
  std::string_view name;

  std::string str() const;
};

/// "ARGUMENT: expected EXPECTED but got GOT".
Status expectedButGot(const ArgumentName &argument, std::string_view expected,
                      std::string_view got);

/// "0, 1, 4".
std::string joinNumbers(std::span<const int64_t> numbers);

/// "ARGUMENT: unknown name; the pattern has 'a', 'b'".
template <typename Descriptions>
Status unknownName(const ArgumentName &argument, const Descriptions &known) {
  std::string names;
  for (const auto &description : known)
    names += (names.empty() ? "'" : ", '") + description.name + "'";
  return {StatusCode::InvalidArgument,
          argument.str() + ": unknown name; the pattern has " + (names.empty() ? "none" : names)};
}

/// What one axis of an argument must be.
struct AxisRule {
  const char *name;    ///< printed where any extent will do
  int64_t extent = -1; ///< -1: any
  bool atLeast = false;
};

enum class StrideRule : uint8_t {
  Any,       ///< every axis may have any stride
  LastDense, ///< the last axis has stride 1
};

/// Checks that `view` is there and has this element type, rank, extents and strides, that its data
/// is not null and aligned to its elements, and that all of its addresses fit in 64 bits.
/// `typeName` stands for the element type in messages; null is the type's own name.
Status checkTensor(const ArgumentName &argument, const TensorView &view, DType dtype,
                   std::span<const AxisRule> axes, StrideRule strides,
                   const char *typeName = nullptr);

/// Checks that no two elements of a result share memory. Sufficient for every view made by slicing
/// and transposing an array.
Status checkDistinctElements(const ArgumentName &argument, const TensorView &view);

/// Checks that the requests + 1 entries start at 0 and never fall.
Status checkCumulativeLengths(const ArgumentName &argument, const int32_t *entries,
                              int64_t requests);

/// Checks that no length is negative.
Status checkLengths(const ArgumentName &argument, const int32_t *lengths, int64_t requests);

/// Memory that an argument covers; empty where begin == end.
struct ByteRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  bool overlaps(const ByteRange &other) const {
    return begin < end && other.begin < other.end && begin < other.end && other.begin < end;
  }
};

/// From the first to past the last byte of a view that passed checkTensor.
ByteRange byteRange(const TensorView &view);

} // namespace skim

#endif // SKIM_RUNTIME_TENSORCHECK_H
