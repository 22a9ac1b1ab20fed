// Runs the language model over one prompt, with an attention that the caller brings.
#ifndef SKIM_TOOLS_SKIM_EVAL_MODEL_H
#define SKIM_TOOLS_SKIM_EVAL_MODEL_H

#include "tools/skim/eval/ModelWeights.h"

#include <skim/TensorView.h>
#include <skim/ThreadPool.h>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace skim::tool {

/// What the model says after each byte of a prompt about the byte that follows it.
struct Predictions {
  /// Entry i: the information of byte i + 1 in bits; one entry less than the prompt has bytes.
  std::vector<float> bits;
  /// Entry i: the byte that is most likely to follow byte i.
  std::vector<uint8_t> likeliest;
};

/// Attention of one layer over the whole prompt: queries [tokens, query_heads, head_dim], keys and
/// values [tokens, kv_heads, head_dim] in; f32 [tokens, query_heads, head_dim] out.
using Attend = llvm::function_ref<llvm::Expected<std::vector<float>>(
    int64_t layer, const TensorView &q, const TensorView &k, const TensorView &v)>;

class Model {
public:
  /// `weights` and `pool` must outlive the model. `threads`: at most so many; 0 takes all.
  /// `dtype` is the element type of queries, keys and values: f32, f16 or bf16.
  Model(const ModelWeights &weights, DType dtype, const ThreadPool &pool, int64_t threads)
      : weights(weights), dtype(dtype), pool(pool), threads(threads) {}

  /// A decoder of the Llama family: root-mean-square norms before attention and before the gated
  /// feed-forward, rotary positions on halves, output by the transposed embedding. Fails where
  /// `attend` does. The result does not depend on the number of threads where `attend`'s does not.
  llvm::Expected<Predictions> run(llvm::ArrayRef<uint8_t> prompt, Attend attend) const;

private:
  const ModelWeights &weights;
  DType dtype;
  const ThreadPool &pool;
  int64_t threads;
};

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_MODEL_H
