// The GPU benchmark: compiled kernels beside PyTorch's and FlashInfer's, in one Python process.
#ifndef SKIM_BENCH_GPUSUITE_H
#define SKIM_BENCH_GPUSUITE_H

#include <skim/Status.h>

#include <functional>
#include <string>
#include <vector>

namespace skim::bench {

/// The runtime as a library for Python.
inline constexpr const char *kGpuRuntimeLibrary = "libskim_bench_runtime.so";

struct GpuSuiteOptions {
  std::string python = "python3";
  std::string rows;    ///< Those whose names contain this text; empty: all.
  int64_t rounds = 3;  ///< Over which medians are taken.
  bool peers = true;   ///< Run other implementations beside.
  bool json = false;   ///< Print one JSON object; the table goes to the standard error.
  std::string library; ///< The path of `kGpuRuntimeLibrary`.
  std::string program; ///< That of `skim`, by which is timed how a kernel is come by.
  /// Where there is one, hears what is being done.
  std::function<void(const std::string &)> progress = {};
};

struct PreparedGpuSuite {
  size_t kernels = 0;
  /// Name and reason of each kernel that does not compile: its row runs the peers alone.
  std::vector<std::string> refused;
};

/// Fails with Environment where the interpreter cannot be run or has no PyTorch for CUDA, and where
/// there is no device.
Status checkGpuSuite(const GpuSuiteOptions &options);

/// Fills a folder, which is made where it is not there, with all that the suite runs from: kernels,
/// scripts and runtime library.
Expected<PreparedGpuSuite> prepareGpuSuite(const std::string &folder,
                                           const GpuSuiteOptions &options);

/// Runs the suite of a prepared folder; it prints each row when it is done. Fails with Environment
/// where a row fails or has a wrong result.
Status runGpuSuite(const std::string &folder, const GpuSuiteOptions &options);

} // namespace skim::bench

#endif // SKIM_BENCH_GPUSUITE_H
