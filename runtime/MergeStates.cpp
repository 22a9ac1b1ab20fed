#include <skim/MergeStates.h>

#include "runtime/TensorCheck.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace skim {

namespace {

double load(const TensorView &view, int64_t offset) {
  switch (view.dtype) {
  case DType::F16:
    return f16ToF32(static_cast<const uint16_t *>(view.data)[offset]);
  case DType::BF16:
    return bf16ToF32(static_cast<const uint16_t *>(view.data)[offset]);
  default:
    return static_cast<const float *>(view.data)[offset];
  }
}

/// f64 to a 16-bit float through f32 would round twice: round to odd first, which keeps the
/// information that the second rounding needs.
float roundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest) || std::isnan(value))
    return nearest;
  const float other =
      std::nextafter(nearest, nearest < value ? std::numeric_limits<float>::infinity()
                                              : -std::numeric_limits<float>::infinity());
  return (std::bit_cast<uint32_t>(nearest) & 1) != 0 ? nearest : other;
}

void store(const TensorView &view, int64_t offset, double value) {
  switch (view.dtype) {
  case DType::F16:
    static_cast<uint16_t *>(view.data)[offset] = f32ToF16(roundToOdd(value));
    break;
  case DType::BF16:
    static_cast<uint16_t *>(view.data)[offset] = f32ToBf16(roundToOdd(value));
    break;
  default:
    static_cast<float *>(view.data)[offset] = static_cast<float>(value);
  }
}

Status checkState(const std::string &name, const AttentionState &state, const TensorView &shape) {
  const DType dtype = state.out.dtype;
  const bool isFloat = dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
  if (!isFloat)
    return expectedButGot({"", name + " out"}, "f32, f16 or bf16", state.out.describe());
  const AxisRule out[] = {
      {"tokens", shape.shape[0]}, {"heads", shape.shape[1]}, {"dim", shape.shape[2]}};
  if (Status status = checkTensor({"", name + " out"}, state.out, dtype, out, StrideRule::Any);
      !status)
    return status;
  const AxisRule lse[] = {{"heads", shape.shape[1]}, {"tokens", shape.shape[0]}};
  return checkTensor({"", name + " lse"}, state.lse, DType::F32, lse, StrideRule::Any);
}

bool sameView(const TensorView &a, const TensorView &b) {
  return a.data == b.data && a.dtype == b.dtype && a.strides == b.strides && a.shape == b.shape;
}

Status checkApart(const std::string &name, const TensorView &part, const std::string &resultName,
                  const TensorView &result) {
  if (sameView(part, result) || !byteRange(part).overlaps(byteRange(result)))
    return Status::ok();
  return expectedButGot({"", resultName}, "memory of its own, or exactly that of a part",
                        "memory that overlaps " + name);
}

/// Merges one row of one head. `sum` is scratch of `dim` numbers.
void mergeRow(std::span<const AttentionState> parts, const AttentionState &merged, int64_t token,
              int64_t head, std::vector<double> &sum) {
  constexpr double kEmpty = -std::numeric_limits<double>::infinity();
  const auto lseOf = [&](const AttentionState &state) -> double {
    return load(state.lse, head * state.lse.strides[0] + token * state.lse.strides[1]);
  };
  const auto rowOf = [&](const AttentionState &state) {
    return token * state.out.strides[0] + head * state.out.strides[1];
  };

  double largest = kEmpty;
  for (const AttentionState &part : parts)
    largest = std::max(largest, lseOf(part));
  double total = 0;
  std::fill(sum.begin(), sum.end(), 0.0);
  for (const AttentionState &part : parts) {
    const double lse = lseOf(part);
    if (lse == kEmpty)
      continue;
    const double weight = std::exp(lse - largest);
    total += weight;
    const int64_t row = rowOf(part);
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += weight * load(part.out, row + static_cast<int64_t>(i) * part.out.strides[2]);
  }

  const bool empty = total == 0;
  const int64_t row = rowOf(merged);
  for (size_t i = 0; i < sum.size(); ++i)
    store(merged.out, row + static_cast<int64_t>(i) * merged.out.strides[2],
          empty ? 0.0 : sum[i] / total);
  store(merged.lse, head * merged.lse.strides[0] + token * merged.lse.strides[1],
        empty ? kEmpty : largest + std::log(total));
}

} // namespace

Status mergeStates(std::span<const AttentionState> parts, const AttentionState &merged) {
  const AxisRule any[] = {{"tokens"}, {"heads"}, {"dim"}};
  if (Status status =
          checkTensor({"", "merged out"}, merged.out, merged.out.dtype, any, StrideRule::Any);
      !status)
    return status;
  if (Status status = checkState("merged", merged, merged.out); !status)
    return status;
  if (Status status = checkDistinctElements({"", "merged out"}, merged.out); !status)
    return status;
  if (Status status = checkDistinctElements({"", "merged lse"}, merged.lse); !status)
    return status;
  if (byteRange(merged.out).overlaps(byteRange(merged.lse)))
    return expectedButGot({"", "merged out"}, "memory of its own",
                          "memory that overlaps merged lse");
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string name = "part " + std::to_string(i);
    if (Status status = checkState(name, parts[i], merged.out); !status)
      return status;
    const std::pair<std::string, const TensorView *> results[] = {{"merged out", &merged.out},
                                                                  {"merged lse", &merged.lse}};
    for (const auto &[resultName, result] : results) {
      if (Status status = checkApart(name + " out", parts[i].out, resultName, *result); !status)
        return status;
      if (Status status = checkApart(name + " lse", parts[i].lse, resultName, *result); !status)
        return status;
    }
  }

  std::vector<double> sum(static_cast<size_t>(merged.out.shape[2]));
  for (int64_t token = 0; token < merged.out.shape[0]; ++token)
    for (int64_t head = 0; head < merged.out.shape[1]; ++head)
      mergeRow(parts, merged, token, head, sum);
  return Status::ok();
}

} // namespace skim
