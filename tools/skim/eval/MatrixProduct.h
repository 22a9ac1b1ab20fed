// The one product of matrices that the model needs, by a BLAS library.
#ifndef SKIM_TOOLS_SKIM_EVAL_MATRIXPRODUCT_H
#define SKIM_TOOLS_SKIM_EVAL_MATRIXPRODUCT_H

#include <cstdint>
#include <vector>

namespace skim::tool {

/// Row-major f32: a linear map has a row for each of its outputs.
struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<float> elements = {};
};

enum class Into { Overwrite, Add };

/// `result` [count, map.rows] receives `map` applied to each of the rows of `input`
/// [count, map.columns]. Safe to call from many threads.
void applyLinear(const Matrix &map, const float *input, int64_t count, float *result,
                 Into into = Into::Overwrite);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_MATRIXPRODUCT_H
