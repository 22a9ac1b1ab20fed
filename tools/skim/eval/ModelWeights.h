// A byte-level language model as a folder holds it: `config.json` and `model.safetensors`.
#ifndef SKIM_TOOLS_SKIM_EVAL_MODELWEIGHTS_H
#define SKIM_TOOLS_SKIM_EVAL_MODELWEIGHTS_H

#include "tools/skim/eval/MatrixProduct.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace skim::tool {

struct ModelShape {
  int64_t layers = 0;
  int64_t modelDim = 0;
  int64_t queryHeads = 0;
  int64_t kvHeads = 0; ///< Divides queryHeads.
  int64_t headDim = 0; ///< Even: the rotary embedding turns pairs.
  int64_t feedForwardDim = 0;
  int64_t longestContext = 0;
  double ropeTheta = 0;
  double normEpsilon = 0;

  int64_t queryDim() const { return queryHeads * headDim; }
  int64_t kvDim() const { return kvHeads * headDim; }
};

struct LayerWeights {
  std::vector<float> attentionNorm;
  Matrix queryKeyValue; ///< The rows of query, key and value below each other.
  Matrix output;
  std::vector<float> feedForwardNorm;
  Matrix gateUp; ///< The rows of gate, then those of up.
  Matrix down;
};

struct ModelWeights {
  ModelShape shape;
  Matrix embedding; ///< [256, modelDim]: one row a byte; also the output map.
  std::vector<LayerWeights> layers;
  std::vector<float> norm;

  /// Fails with WrongInput where a file is missing or broken, or a tensor is missing, of another
  /// type or of another shape than config.json says.
  static llvm::Expected<ModelWeights> load(llvm::StringRef folder);
};

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_MODELWEIGHTS_H
