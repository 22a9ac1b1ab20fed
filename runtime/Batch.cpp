#include <skim/Batch.h>

#include "runtime/TensorCheck.h"

#include <algorithm>

namespace skim {

Expected<BatchShape> BatchShape::of(const TensorView &cuSeqlensQ, const TensorView &kvLens) {
  const AxisRule entries[] = {{"requests + 1", 1, /*atLeast=*/true}};
  if (Status status =
          checkTensor({"", "cu_seqlens_q"}, cuSeqlensQ, DType::I32, entries, StrideRule::LastDense);
      !status)
    return status;
  BatchShape shape;
  shape.requests = cuSeqlensQ.shape[0] - 1;
  const AxisRule requests[] = {{"requests", shape.requests}};
  if (Status status =
          checkTensor({"", "kv_lens"}, kvLens, DType::I32, requests, StrideRule::LastDense);
      !status)
    return status;

  const auto *cumulative = static_cast<const int32_t *>(cuSeqlensQ.data);
  const auto *lengths = static_cast<const int32_t *>(kvLens.data);
  if (Status status = checkCumulativeLengths({"", "cu_seqlens_q"}, cumulative, shape.requests);
      !status)
    return status;
  if (Status status = checkLengths({"", "kv_lens"}, lengths, shape.requests); !status)
    return status;
  for (int64_t request = 0; request < shape.requests; ++request) {
    shape.maxQueryLength =
        std::max<int64_t>(shape.maxQueryLength, cumulative[request + 1] - cumulative[request]);
    shape.maxKvLength = std::max<int64_t>(shape.maxKvLength, lengths[request]);
  }
  shape.totalQueryTokens = cumulative[shape.requests];
  return shape;
}

} // namespace skim
