#include "runtime/TensorCheck.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace skim {

namespace {

/// Offsets in bytes, relative to `data`, of a view's first byte and of the byte past its last.
struct ByteExtent {
  int64_t low = 0;
  int64_t high = 0;
};

/// False on overflow.
bool byteExtent(const TensorView &view, ByteExtent &extent) {
  extent = {};
  if (view.isEmpty())
    return true;
  const int64_t size = dtypeSize(view.dtype);
  extent.high = size;
  for (int64_t axis = 0; axis < view.rank; ++axis) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(view.shape[axis] - 1, view.strides[axis], &reach) ||
        __builtin_mul_overflow(reach, size, &reach))
      return false;
    int64_t &side = reach < 0 ? extent.low : extent.high;
    if (__builtin_add_overflow(side, reach, &side))
      return false;
  }
  const auto address = static_cast<int64_t>(reinterpret_cast<uintptr_t>(view.data));
  int64_t end = 0;
  return !__builtin_add_overflow(address, extent.low, &end) && end >= 0 &&
         !__builtin_add_overflow(address, extent.high, &end);
}

std::string describeRule(std::string_view type, std::span<const AxisRule> axes) {
  std::string text = std::string(type) + "[";
  for (size_t i = 0; i < axes.size(); ++i) {
    text += i ? ", " : "";
    text += axes[i].extent < 0 ? axes[i].name : std::to_string(axes[i].extent);
    text += axes[i].extent >= 0 && axes[i].atLeast ? " or more" : "";
  }
  return text + "]";
}

bool matches(const TensorView &view, DType dtype, std::span<const AxisRule> axes) {
  if (view.rank != static_cast<int64_t>(axes.size()) || view.dtype != dtype)
    return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t extent = view.shape[i];
    if (extent < 0 || (axes[i].extent >= 0 &&
                       (axes[i].atLeast ? extent < axes[i].extent : extent != axes[i].extent)))
      return false;
  }
  return true;
}

} // namespace

std::string ArgumentName::str() const {
  if (*kind == 0)
    return std::string(name);
  return std::string(kind) + " '" + std::string(name) + "'";
}

Status expectedButGot(const ArgumentName &argument, std::string_view expected,
                      std::string_view got) {
  return {StatusCode::InvalidArgument,
          argument.str() + ": expected " + std::string(expected) + " but got " + std::string(got)};
}

std::string joinNumbers(std::span<const int64_t> numbers) {
  std::string text;
  for (const int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

Status checkTensor(const ArgumentName &argument, const TensorView &view, DType dtype,
                   std::span<const AxisRule> axes, StrideRule strides, const char *typeName) {
  if (!matches(view, dtype, axes))
    return expectedButGot(argument, describeRule(typeName ? typeName : dtypeName(dtype), axes),
                          view.describe());
  if (view.isEmpty())
    return Status::ok();

  const int64_t last = view.rank - 1;
  if (strides == StrideRule::LastDense && last >= 0 && view.shape[last] > 1 &&
      view.strides[last] != 1)
    return expectedButGot(argument, "stride 1 in the last axis",
                          "stride " + std::to_string(view.strides[last]) + " in " +
                              view.describe());
  if (!view.data)
    return expectedButGot(argument, "the data of " + view.describe(), "a null pointer");
  if (reinterpret_cast<uintptr_t>(view.data) % dtypeSize(dtype) != 0)
    return expectedButGot(argument,
                          "data aligned to " + std::to_string(dtypeSize(dtype)) + " bytes",
                          "an address that is not");
  ByteExtent extent;
  if (!byteExtent(view, extent))
    return expectedButGot(argument, "strides that stay within the address space",
                          view.describe() + " reaching past it");
  return Status::ok();
}

Status checkDistinctElements(const ArgumentName &argument, const TensorView &view) {
  if (view.isEmpty())
    return Status::ok();
  struct Axis {
    int64_t stride = 0;
    int64_t extent = 1;
  };
  std::array<Axis, TensorView::kMaxRank> axes;
  for (int64_t axis = 0; axis < view.rank; ++axis)
    if (view.shape[axis] > 1)
      axes[axis] = {std::abs(view.strides[axis]), view.shape[axis]};
  std::sort(axes.begin(), axes.end(),
            [](const Axis &a, const Axis &b) { return a.stride < b.stride; });
  int64_t span = 1; // elements that the axes so far cover
  for (const Axis &axis : axes) {
    if (axis.extent == 1)
      continue;
    if (axis.stride < span)
      return expectedButGot(argument, "strides that give every element its own memory",
                            "overlapping elements in " + view.describe());
    span += axis.stride * (axis.extent - 1); // within 64 bits: checkTensor
  }
  return Status::ok();
}

Status checkCumulativeLengths(const ArgumentName &argument, const int32_t *entries,
                              int64_t requests) {
  if (entries[0] != 0)
    return expectedButGot(argument, "0 at entry 0", std::to_string(entries[0]));
  for (int64_t i = 1; i <= requests; ++i)
    if (entries[i] < entries[i - 1])
      return expectedButGot(argument,
                            "at least " + std::to_string(entries[i - 1]) + " at entry " +
                                std::to_string(i) + " (entries never fall)",
                            std::to_string(entries[i]));
  return Status::ok();
}

Status checkLengths(const ArgumentName &argument, const int32_t *lengths, int64_t requests) {
  for (int64_t i = 0; i < requests; ++i)
    if (lengths[i] < 0)
      return expectedButGot(argument, "at least 0 at entry " + std::to_string(i),
                            std::to_string(lengths[i]));
  return Status::ok();
}

ByteRange byteRange(const TensorView &view) {
  ByteExtent extent;
  if (!view.isPresent() || !byteExtent(view, extent))
    return {};
  const auto address = reinterpret_cast<uintptr_t>(view.data);
  return {address + static_cast<uintptr_t>(extent.low),
          address + static_cast<uintptr_t>(extent.high)};
}

} // namespace skim
