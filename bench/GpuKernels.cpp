#include "bench/GpuKernels.h"

#include "bench/Embedded.h"

namespace skim::bench {

llvm::ArrayRef<GpuKernel> gpuKernels() {
  static const GpuKernel kernels[] = {
      {"causal-d64", "causal.skim", kCausal, 64},
      {"causal-d96", "causal.skim", kCausal, 96},
      {"causal-d128", "causal.skim", kCausal},
      {"causal-d256", "causal.skim", kCausal, 256},
      {"causal-d128-page128", "causal.skim", kCausal, 128, 128},
      {"causal-d128-page64", "causal.skim", kCausal, 128, 64},
      {"causal-d128-page16", "causal.skim", kCausal, 128, 16},
      {"causal-d128-page1", "causal.skim", kCausal, 128, 1},
      {"streaming-d128", "streaming.skim", kStreaming},
      {"block_lists-d128", "block_lists.skim", kBlockLists},
      {"mixed_heads-d128", "mixed_heads.skim", kMixedHeads},
      {"gathered_columns-d128", "gathered_columns.skim", kGatheredColumns},
  };
  return kernels;
}

Expected<GpuKernelText> compileGpuKernel(const Compiler &compiler, const GpuKernel &kernel) {
  CompileOptions options;
  options.target = "sm_90a";
  options.queryHeads = 32;
  options.kvHeads = 8;
  options.headDim = kernel.headDim;
  options.dtype = options.outDtype = DType::BF16;
  options.pageSize = kernel.pageSize;
  const Pattern pattern = Pattern::fromText(kernel.text, kernel.file);
  Expected<std::string> plan = compiler.emit(pattern, options, Stage::Plan);
  if (!plan)
    return plan.status();
  Expected<std::string> ptx = compiler.emit(pattern, options, Stage::Ptx);
  if (!ptx)
    return ptx.status();
  return GpuKernelText{*std::move(plan), *std::move(ptx)};
}

} // namespace skim::bench
