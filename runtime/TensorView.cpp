#include <skim/TensorView.h>

#include <algorithm>
#include <limits>

namespace skim {

TensorView TensorView::contiguous(const void *data, DType dtype, std::span<const int64_t> shape) {
  TensorView view;
  // Views are handed about whole; only those of results are written through.
  view.data = const_cast<void *>(data);
  view.dtype = dtype;
  view.rank = static_cast<int64_t>(shape.size());
  const int64_t kept = std::min(view.rank, kMaxRank);
  int64_t stride = 1;
  for (int64_t axis = kept - 1; axis >= 0; --axis) {
    view.shape[axis] = shape[axis];
    view.strides[axis] = stride;
    if (__builtin_mul_overflow(stride, std::max<int64_t>(shape[axis], 1), &stride))
      stride = std::numeric_limits<int64_t>::max(); // refused where the view is used
  }
  return view;
}

TensorView TensorView::contiguous(const void *data, DType dtype,
                                  std::initializer_list<int64_t> shape) {
  return contiguous(data, dtype, std::span<const int64_t>(shape.begin(), shape.size()));
}

TensorView TensorView::strided(const void *data, DType dtype, std::initializer_list<int64_t> shape,
                               std::initializer_list<int64_t> strides) {
  TensorView view = contiguous(data, dtype, shape);
  std::copy_n(strides.begin(), std::min<int64_t>(strides.size(), kMaxRank), view.strides.begin());
  return view;
}

bool TensorView::isEmpty() const {
  const int64_t kept = std::clamp<int64_t>(rank, 0, kMaxRank);
  return std::any_of(shape.begin(), shape.begin() + kept,
                     [](int64_t extent) { return extent <= 0; });
}

std::string TensorView::describe() const {
  if (!isPresent())
    return "nothing";
  std::string text = std::string(dtypeName(dtype)) + "[";
  for (int64_t axis = 0; axis < std::min(rank, kMaxRank); ++axis)
    text += (axis ? ", " : "") + std::to_string(shape[axis]);
  return text + (rank > kMaxRank ? ", ...]" : "]");
}

} // namespace skim
