// The CUDA driver, loaded when the first device is asked for: a program that never asks runs on
// machines without it.
#ifndef SKIM_RUNTIME_CUDA_DRIVER_H
#define SKIM_RUNTIME_CUDA_DRIVER_H

#include <skim/Status.h>

#include <cstddef>
#include <cstdint>
#include <string>

// The driver's own names of its handles, so that handles of a caller convert.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUlinkState_st;
struct CUstream_st;
struct CUevent_st;

namespace skim::cuda {

using Result = int;
using Context = CUctx_st *;
using Module = CUmod_st *;
using Function = CUfunc_st *;
using LinkState = CUlinkState_st *;
using Stream = CUstream_st *;
using Event = CUevent_st *;

/// Opaque to all but the driver and the device.
struct alignas(128) TensorMap {
  uint64_t words[16] = {};
};

struct DriverApi {
#define SKIM_CUDA_ENTRY(name, symbol, ...) Result (*name)(__VA_ARGS__) = nullptr;
#include "runtime/cuda/DriverApi.def"

  /// `Environment` with the driver's name of the error, where `result` is one.
  Status check(Result result, const char *what) const;
};

/// The entry points, loaded and initialised once. A failure says what is missing: the library, an
/// entry point that is younger than the driver, or a device.
Expected<const DriverApi *> driver();

/// What tells this driver from others: the newest CUDA that it knows, and the file of its library,
/// which is named after the release: "12040 libcuda.so.550.54.15".
Expected<std::string> driverVersion();

/// An entry point by its symbol, null where the driver has none or cannot be loaded.
void *driverSymbol(const char *symbol);

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_DRIVER_H
