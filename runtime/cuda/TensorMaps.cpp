#include "runtime/cuda/TensorMaps.h"

#include "runtime/TensorCheck.h"
#include "runtime/cuda/Panels.h"

#include <algorithm>
#include <array>
#include <bit>

namespace skim::cuda {

namespace {

// Numbers of the driver's enumerations.
constexpr int kFloat16 = 6;
constexpr int kBFloat16 = 9;
constexpr int kInterleaveNone = 0;
constexpr int kSwizzle64Bytes = 2;
constexpr int kSwizzle128Bytes = 3;
constexpr int kPromotion256Bytes = 3;
constexpr int kFillZeros = 0;

constexpr int64_t kElementBytes = 2;
constexpr int64_t kAnyStride = 128;
constexpr int64_t kAlignment = 16;

/// The axes of an operand by what they mean; `page` and `slot` are -1 where there are no pages.
struct OperandAxes {
  int token;
  int head;
  int page;
};

OperandAxes axesOf(KvLayout layout) {
  switch (layout) {
  case KvLayout::Contiguous:
    break;
  case KvLayout::PagedNhd:
    return {1, 2, 0};
  case KvLayout::PagedHnd:
    return {2, 1, 0};
  }
  return {0, 1, -1};
}

/// Bytes from one element of an axis to the next; an axis of one element takes any.
Expected<uint64_t> strideBytes(const ArgumentName &name, const TensorView &view, int axis) {
  if (view.shape[axis] <= 1)
    return kAnyStride;
  const int64_t bytes = view.strides[axis] * kElementBytes; // within 64 bits: checkTensor
  if (bytes >= 0 && bytes % kAlignment == 0 && bytes < (int64_t{1} << 40))
    return static_cast<uint64_t>(bytes);
  return expectedButGot(name,
                        "strides of 0 to 2^40 bytes that are multiples of 16 (the kernel copies "
                        "through tensor maps)",
                        std::to_string(bytes) + " bytes along axis " + std::to_string(axis) +
                            " of " + view.describe());
}

/// `tileHeads` is 0 for keys and values, whose boxes are of one head. Of queries, the heads of a
/// tile lie side by side in each panel.
Expected<TensorMap> encode(const DriverApi &api, const ArgumentName &name, const TensorView &view,
                           const OperandAxes &axes, int64_t tileTokens, int64_t tileHeads,
                           std::byte *anywhere) {
  const auto address = view.isEmpty() ? anywhere : static_cast<std::byte *>(view.data);
  if (reinterpret_cast<uintptr_t>(address) % kAlignment != 0)
    return expectedButGot(name, "data aligned to 16 bytes (the kernel copies through tensor maps)",
                          "an address that is not");
  const bool paged = axes.page >= 0;
  const auto extent = [&](int axis) {
    return static_cast<uint64_t>(std::max<int64_t>(view.shape[axis], 1));
  };
  const int64_t dim = view.shape[view.rank - 1];
  const int64_t columns = panelColumns(dim);
  const auto panels = static_cast<uint64_t>(dim / columns);
  const auto tokens = static_cast<int64_t>(extent(axes.token));
  if (paged && (tokens < 8 || !std::has_single_bit(extent(axes.token))))
    return Status(StatusCode::Unsupported,
                  name.str() +
                      ": expected pages of a power of two of at least 8 keys (the kernel "
                      "copies through tensor maps) but got pages of " +
                      std::to_string(tokens));

  const size_t headAt = tileHeads != 0 ? 2 : 3;
  const size_t panelAt = tileHeads != 0 ? 3 : 2;
  std::array<uint64_t, 5> extents = {static_cast<uint64_t>(columns), extent(axes.token), 1, 1, 1};
  std::array<uint64_t, 4> strides = {};
  std::array<uint32_t, 5> box = {
      static_cast<uint32_t>(columns),
      static_cast<uint32_t>(paged ? std::min(tokens, tileTokens) : tileTokens), 1, 1, 1};
  const bool wholeTile = !paged || tokens >= tileTokens;
  extents[headAt] = extent(axes.head);
  box[headAt] = static_cast<uint32_t>(std::max<int64_t>(tileHeads, 1));
  extents[panelAt] = panels;
  box[panelAt] = wholeTile ? static_cast<uint32_t>(panels) : 1;
  strides[panelAt - 1] = static_cast<uint64_t>(columns * kElementBytes);
  const std::pair<int, uint64_t *> stridesOf[] = {
      {axes.token, &strides[0]}, {axes.head, &strides[headAt - 1]}, {axes.page, &strides[3]}};
  for (const auto &[axis, bytes] : stridesOf) {
    if (axis < 0)
      continue;
    const Expected<uint64_t> stride = strideBytes(name, view, axis);
    if (!stride)
      return stride.status();
    *bytes = *stride;
  }
  if (paged)
    extents[4] = extent(axes.page);

  const std::array<uint32_t, 5> elementStrides = {1, 1, 1, 1, 1};
  TensorMap map;
  const Result result = api.tensorMapEncodeTiled(
      &map, view.dtype == DType::BF16 ? kBFloat16 : kFloat16, paged ? 5 : 4, address,
      extents.data(), strides.data(), box.data(), elementStrides.data(), kInterleaveNone,
      columns == 64 ? kSwizzle128Bytes : kSwizzle64Bytes, kPromotion256Bytes, kFillZeros);
  const std::string what = "describing " + name.str() + " = " + view.describe();
  if (Status status = api.check(result, what.c_str()); !status)
    return Status(StatusCode::Unsupported, status.message());
  return map;
}

/// What rows that are copied without a tensor map must be: they are copied 16 bytes at a time, and
/// counted in 32 bits from the start of the data.
Status checkRows(const ArgumentName &name, const TensorView &view) {
  if (view.isEmpty())
    return Status::ok();
  if (reinterpret_cast<uintptr_t>(view.data) % kAlignment != 0)
    return expectedButGot(name, "data aligned to 16 bytes (the kernel copies as many at once)",
                          "an address that is not");
  constexpr int64_t kFarthest = int64_t{1} << 36;
  int64_t last = 0;
  for (int axis = 0; axis < view.rank - 1; ++axis) {
    if (view.shape[axis] <= 1)
      continue;
    const int64_t bytes = view.strides[axis] * kElementBytes; // within 64 bits: checkTensor
    if (bytes < 0 || bytes % kAlignment != 0)
      return expectedButGot(
          name,
          "strides from 0 up that are multiples of 16 bytes (the kernel copies as many at once)",
          std::to_string(bytes) + " bytes along axis " + std::to_string(axis) + " of " +
              view.describe());
    last =
        bytes < kFarthest ? std::min(last + bytes * (view.shape[axis] - 1), kFarthest) : kFarthest;
  }
  if (last < kFarthest)
    return Status::ok();
  return expectedButGot(name, "less than 64 GiB (the kernel copies row by row)", view.describe());
}

} // namespace

Expected<TensorMaps> encodeTensorMaps(const DriverApi &api, const CudaLaunch &launch,
                                      const Operands &operands, int64_t headsPerTile,
                                      std::byte *anywhere) {
  const OperandAxes kvAxes = axesOf(operands.kvLayout);
  const OperandAxes queryAxes = axesOf(KvLayout::Contiguous);
  TensorMaps maps;
  struct Operand {
    const char *name;
    const TensorView &view;
    const OperandAxes &axes;
    int64_t tileTokens;
    int64_t tileHeads;
    TensorMap &map;
  };
  const Operand each[] = {
      {"q", operands.q, queryAxes, launch.rowsPerTile, headsPerTile, maps.query},
      {"k", operands.k, kvAxes, launch.keysPerTile, 0, maps.key},
      {"v", operands.v, kvAxes, launch.keysPerTile, 0, maps.value}};
  for (const Operand &operand : each) {
    if (&operand.axes != &queryAxes && launch.keysPerTile == 0)
      if (Status status = checkRows({"", operand.name}, operand.view); !status)
        return status;
    if (operand.tileTokens == 0)
      continue;
    const Expected<TensorMap> map = encode(api, {"", operand.name}, operand.view, operand.axes,
                                           operand.tileTokens, operand.tileHeads, anywhere);
    if (!map)
      return map.status();
    operand.map = *map;
  }
  return maps;
}

Status checkStores(const TensorView &out) {
  if (out.isEmpty())
    return Status::ok();
  const int64_t bytes = out.dtype == DType::F32 ? 8 : 16;
  const int64_t elements = bytes / dtypeSize(out.dtype);
  bool aligned = reinterpret_cast<uintptr_t>(out.data) % static_cast<uintptr_t>(bytes) == 0;
  for (int axis = 0; axis < 2; ++axis)
    aligned = aligned && (out.shape[axis] <= 1 || out.strides[axis] % elements == 0);
  if (aligned)
    return Status::ok();
  return expectedButGot({"", "out"},
                        "rows that start at multiples of " + std::to_string(bytes) +
                            " bytes (the kernel stores as many at once)",
                        "rows of " + out.describe() + " that do not");
}

} // namespace skim::cuda
