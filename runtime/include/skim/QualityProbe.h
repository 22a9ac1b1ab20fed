// What a pattern loses against dense attention, measured on a sample of the rows that are served.
//
//   auto probe = QualityProbe::create(dense, {.rate = 1.0 / 1024});  // dense: see below
//   kernel.run(plan, operands, parameters, workspace, {.metrics = &runs});
//   probe->measure(operands, parameters, {.seed = step, .metrics = &runs});
#ifndef SKIM_QUALITYPROBE_H
#define SKIM_QUALITYPROBE_H

#include <skim/Kernel.h>
#include <skim/Metrics.h>
#include <skim/Operands.h>
#include <skim/Parameters.h>
#include <skim/Status.h>

#include <cstdint>
#include <vector>

namespace skim {

struct QualityProbeOptions {
  /// Share of the dense kernel's work items (a tile of query positions of one head) that is run,
  /// 0 to 1. The probe takes about this share of the time of dense attention over the same batch,
  /// plus what binding the arguments takes: 0.1 % of it by default.
  double rate = 1.0 / 1024;
};

struct ProbeRunOptions {
  /// Chooses the items together with layer, head and position, and nothing else: whether a row is
  /// probed does not depend on what else is in the batch. Another number chooses other rows.
  uint64_t seed = 0;
  /// At most this many threads, the caller included; 0 takes all of the pool.
  int64_t threads = 0;
  /// Null takes the process's shared pool.
  const ThreadPool *pool = nullptr;
  /// Where not null, receives the rows and the time.
  RunMetrics *metrics = nullptr;
};

/// A row is one query token of one head.
struct QualitySample {
  std::vector<ProbedRow> rows; ///< finite ones, and others; those that see no key are left out
  double seconds = 0;          ///< of the whole measurement
};

/// Runs on the CPU. Safe to share between threads.
class QualityProbe {
public:
  /// `dense` is what the pattern is compared with: its text with `keep true`, without `rest`,
  /// `skip`, `dense when` and `compact`, compiled for the same heads, types and layout. Fails where
  /// it has more than the attention kernel, or runs on another device.
  static Expected<QualityProbe> create(Kernel dense, const QualityProbeOptions &options = {});

  /// Compares `out` and `lse` of `operands`, which a run of the pattern with these operands and
  /// parameters has written, with dense attention. Both must be there. Parameters and inputs that
  /// the dense kernel does not have are passed over. Writes none of the results.
  /// What enters the softmax besides keys (rest entries, sinks) counts as kept; a share is at
  /// most 1.
  Expected<QualitySample> measure(const Operands &operands, const Parameters &parameters,
                                  const ProbeRunOptions &options = {}) const;

private:
  QualityProbe(Kernel dense, const QualityProbeOptions &options)
      : dense_(std::move(dense)), options_(options) {}

  Kernel dense_;
  QualityProbeOptions options_;
};

} // namespace skim

#endif // SKIM_QUALITYPROBE_H
