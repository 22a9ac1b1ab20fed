// Files of the tree that the benchmarks carry with them.
#ifndef SKIM_BENCH_EMBEDDED_H
#define SKIM_BENCH_EMBEDDED_H

namespace skim::bench {

extern const char *const kTorchPeer;    ///< bench/peers/torch_sdpa.py
extern const char *const kCausal;       ///< examples/patterns/causal.skim
extern const char *const kFlashPrefill; ///< examples/patterns/flash_prefill.skim
extern const char *const kPeak;         ///< examples/patterns/peak.skim
extern const char *const kStreaming;    ///< examples/patterns/streaming.skim

/// Of bench/gpu/patterns.
extern const char *const kBlockLists;
extern const char *const kGatheredColumns;
extern const char *const kMixedHeads;

extern const char *const kGpuSuiteScript;    ///< bench/gpu/suite.py
extern const char *const kGpuRowsScript;     ///< bench/gpu/rows.py
extern const char *const kGpuStartupScript;  ///< bench/gpu/startup.py
extern const char *const kGpuTimingScript;   ///< bench/gpu/timing.py
extern const char *const kGpuKernelsScript;  ///< bench/gpu/kernels.py
extern const char *const kTorchGpuPeer;      ///< bench/peers/torch_gpu.py
extern const char *const kFlashInferGpuPeer; ///< bench/peers/flashinfer_gpu.py

} // namespace skim::bench

#endif // SKIM_BENCH_EMBEDDED_H
