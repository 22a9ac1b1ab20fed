// The kernels of the GPU suite: what bench/gpu/rows.py asks for by name.
#ifndef SKIM_BENCH_GPUKERNELS_H
#define SKIM_BENCH_GPUKERNELS_H

#include <skim/Compiler.h>
#include <skim/Status.h>

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace skim::bench {

/// For 32 query and 8 KV heads, operands and output in bf16.
struct GpuKernel {
  const char *name;
  const char *file; ///< As diagnostics cite the pattern.
  const char *text;
  int64_t headDim = 128;
  int64_t pageSize = 0;
};

llvm::ArrayRef<GpuKernel> gpuKernels();

/// What a process without the compiler runs a kernel from.
struct GpuKernelText {
  std::string plan; ///< JSON
  std::string ptx;
};

Expected<GpuKernelText> compileGpuKernel(const Compiler &compiler, const GpuKernel &kernel);

} // namespace skim::bench

#endif // SKIM_BENCH_GPUKERNELS_H
