// What a plan is made for: the shapes of a batch, not its lengths.
#ifndef SKIM_BATCH_H
#define SKIM_BATCH_H

#include <skim/Status.h>
#include <skim/TensorView.h>

#include <cstdint>

namespace skim {

/// Upper bounds. A plan serves every batch that stays within them, so one plan can be kept
/// while lengths change. All are counts, 0 and up, and must fit in 31 bits.
struct BatchShape {
  int64_t requests = 0;
  int64_t totalQueryTokens = 0; ///< sum of q_len over the requests
  int64_t maxQueryLength = 0;   ///< largest q_len of a request
  int64_t maxKvLength = 0;      ///< largest kv_len of a request (cached and new tokens)

  /// The smallest shape that admits these lengths: cu_seqlens_q i32[requests + 1], monotonic
  /// from 0; kv_lens i32[requests], none negative.
  static Expected<BatchShape> of(const TensorView &cuSeqlensQ, const TensorView &kvLens);
};

} // namespace skim

#endif // SKIM_BATCH_H
