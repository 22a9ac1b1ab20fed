// A view of an array that somebody else owns.
#ifndef SKIM_TENSORVIEW_H
#define SKIM_TENSORVIEW_H

#include <skim/DType.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace skim {

/// Element (i0, i1, ...) lies at data + (i0 * strides[0] + i1 * strides[1] + ...) elements.
/// Strides may be anything, negative or zero too, unless an argument says otherwise; the
/// runtime addresses in 64 bits. A default view is absent: it stands for an argument
/// that was not given. `data` may be null where the view has no element.
/// The runtime writes only through views that are documented as results.
struct TensorView {
  /// No argument of the runtime has more axes.
  static constexpr int64_t kMaxRank = 6;

  void *data = nullptr;
  DType dtype = DType::F32;
  int64_t rank = -1;
  std::array<int64_t, kMaxRank> shape{};
  std::array<int64_t, kMaxRank> strides{}; ///< in elements

  /// A view with the last axis fastest. Axes past kMaxRank are dropped, yet counted in
  /// `rank`, so that the runtime refuses the view.
  static TensorView contiguous(const void *data, DType dtype, std::span<const int64_t> shape);
  static TensorView contiguous(const void *data, DType dtype, std::initializer_list<int64_t> shape);
  /// A view with given strides (in elements), as many as there are extents.
  static TensorView strided(const void *data, DType dtype, std::initializer_list<int64_t> shape,
                            std::initializer_list<int64_t> strides);

  bool isPresent() const { return rank >= 0; }
  bool isEmpty() const;

  /// "f32[4, 128]", as messages print a view; "nothing" for an absent one.
  std::string describe() const;
};

} // namespace skim

#endif // SKIM_TENSORVIEW_H
