// Merging attention over parts of the keys (cascade and split-KV attention).
#ifndef SKIM_MERGESTATES_H
#define SKIM_MERGESTATES_H

#include <skim/Status.h>
#include <skim/TensorView.h>

#include <span>

namespace skim {

/// The result of attention over some of the keys.
struct AttentionState {
  TensorView out; ///< [tokens, heads, dim], f32, f16 or bf16
  TensorView lse; ///< f32[heads, tokens], natural logarithm
};

/// Attention over the union of disjoint sets of keys, from the results over each:
///   lse = ln(sum exp(lse_i)),   out = sum exp(lse_i - lse) out_i,
/// computed in f64 and rounded once. A part with lse -inf holds no key: its `out` is not read.
/// Where all parts are empty, or there is none, out is 0 and lse -inf. Every view may have its own
/// type and strides. `merged` may be one of the parts (the same view) but must not
/// overlap one otherwise.
/// Source: the rescaling of online softmax (Milakov and Gimelshein 2018, arXiv:1805.02867).
Status mergeStates(std::span<const AttentionState> parts, const AttentionState &merged);

} // namespace skim

#endif // SKIM_MERGESTATES_H
