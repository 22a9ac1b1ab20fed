// How queries, keys and values of 16 bits lie in the shared memory of a kernel with tensor maps.
#ifndef SKIM_RUNTIME_CUDA_PANELS_H
#define SKIM_RUNTIME_CUDA_PANELS_H

#include <cstdint>

namespace skim::cuda {

/// The columns of a panel of an operand of that dimension. Its panels lie one behind the other,
/// each row by row and with a swizzle as wide as a row of it: 64 columns (128 bytes) where they
/// divide the dimension, else 32 (64 bytes).
constexpr int64_t panelColumns(int64_t dim) { return dim % 64 == 0 ? 64 : 32; }

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_PANELS_H
