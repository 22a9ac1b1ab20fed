// Files of the tree that the benchmarks carry with them.
#ifndef SKIM_BENCH_EMBEDDED_H
#define SKIM_BENCH_EMBEDDED_H

namespace skim::bench {

extern const char *const kTorchPeer;    ///< bench/peers/torch_sdpa.py
extern const char *const kCausal;       ///< examples/patterns/causal.skim
extern const char *const kFlashPrefill; ///< examples/patterns/flash_prefill.skim
extern const char *const kPeak;         ///< examples/patterns/peak.skim

} // namespace skim::bench

#endif // SKIM_BENCH_EMBEDDED_H
