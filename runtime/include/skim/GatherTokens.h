// Taking the tokens that `compact` gathers out of arrays with an entry a token.
#ifndef SKIM_GATHERTOKENS_H
#define SKIM_GATHERTOKENS_H

#include <skim/Status.h>
#include <skim/TensorView.h>

#include <cstdint>

namespace skim {

/// What `gatherTokens` reads and writes. Strides may be anything where nothing else is said.
struct TokenGather {
  /// [tokens, ...] of any type and up to `TensorView::kMaxRank` axes: hidden states, keys, values.
  TensorView tokens = {};
  /// i32[requests + 1], dense: request r has the tokens from entry r to r + 1.
  TensorView cuSeqlens = {};
  /// i32[requests], dense, optional: the tokens of a request are its last ones, as the rows of a
  /// call over cached keys are. The first sits at position kv_len - tokens, and positions before it
  /// are passed over. Without it the first token of a request sits at position 0.
  TensorView kvLens = {};

  /// i32[requests, heads, capacity] and i32[requests, heads]: `Operands::compactPositions` and
  /// `compactCounts` after a run. Tokens are taken in the order of their positions in the array.
  TensorView positions = {};
  TensorView counts = {};
  /// Whose positions: the index along `heads`.
  int64_t head = 0;

  /// Result: [gathered, ...], type and other axes as `tokens`, the tokens of all requests one after
  /// another. There may be more room than the tokens need.
  TensorView gathered = {};
  /// Result: i32[requests + 1], dense: where the tokens of each request lie in `gathered`.
  TensorView gatheredCuSeqlens = {};
  /// Result, optional: i32[gathered], dense: the position that each token had.
  TensorView gatheredPositions = {};
};

/// Packs the chosen tokens of a ragged batch, so that what follows runs on them alone: the later
/// layers take `gathered` with `gatheredCuSeqlens`, and rotary embeddings `gatheredPositions`.
/// Checks all arguments and every position first: nothing is written when one is refused. Allocates
/// nothing on success.
/// Source: UniPrefill (arXiv:2605.06221), which drops tokens between layers in prefill.
Status gatherTokens(const TokenGather &gather);

} // namespace skim

#endif // SKIM_GATHERTOKENS_H
