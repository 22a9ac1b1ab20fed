#include "tools/skim/eval/MatrixProduct.h"

#include <cblas.h>

namespace skim::tool {

void applyLinear(const Matrix &map, const float *input, int64_t count, float *result, Into into) {
  auto rows = static_cast<int>(map.rows);
  auto columns = static_cast<int>(map.columns);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(count), rows, columns, 1,
              input, columns, map.elements.data(), columns, into == Into::Add ? 1 : 0, result,
              rows);
}

} // namespace skim::tool
