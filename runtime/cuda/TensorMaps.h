// Tensor maps: what the copy engine of compute capability 9.0 and up is told about q, k and v.
#ifndef SKIM_RUNTIME_CUDA_TENSORMAPS_H
#define SKIM_RUNTIME_CUDA_TENSORMAPS_H

#include "runtime/LaunchPlan.h"
#include "runtime/cuda/Driver.h"

#include <skim/Operands.h>
#include <skim/Status.h>

#include <cstddef>

namespace skim::cuda {

struct TensorMaps {
  TensorMap query;
  TensorMap key;
  TensorMap value;
};

/// The maps of one kernel, for operands that passed their other checks. All hold panels of
/// c = `panelColumns(dim)` columns with a swizzle of as many, and zeros beyond their bounds:
///   q                 {c, tokens, heads, dim / c}, box {c, rowsPerTile, headsPerTile, dim / c}
///   k, v contiguous   {c, tokens, dim / c, heads}, box {c, keysPerTile, dim / c, 1}
///   k, v paged        {c, page, dim / c, heads, pages}, box {c, min(page, keysPerTile),
///                     page >= keysPerTile ? dim / c : 1, 1, 1}
/// Where keysPerTile is 0, k and v have none: the kernel copies their rows 16 bytes at a time.
/// Refuses data and strides that are not multiples of 16 bytes, and maps of pages that are not a
/// power of two of at least 8 keys. `headsPerTile`: the query heads of a group where the kernel's
/// items are KV heads, else 1. `anywhere` is memory of the device for operands without
/// elements.
Expected<TensorMaps> encodeTensorMaps(const DriverApi &api, const CudaLaunch &launch,
                                      const Operands &operands, int64_t headsPerTile,
                                      std::byte *anywhere);

/// Kernels with tensor maps store 8 bytes of f32 or 16 bytes of other elements at once: refuses
/// results whose rows do not start at multiples of that.
Status checkStores(const TensorView &out);

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_TENSORMAPS_H
