// A compiled pattern over a workload: run, timed, and checked.
#ifndef SKIM_BENCH_TIMEDPATTERN_H
#define SKIM_BENCH_TIMEDPATTERN_H

#include "bench/Workload.h"

#include <skim/Kernel.h>
#include <skim/WorkspaceMemory.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skim::bench {

/// An i32 input: `list` or `index`.
struct IndexInput {
  std::vector<int64_t> shape;
  std::vector<int32_t> data;
};

struct PatternRun {
  std::string text; ///< A `.skim` file; its last pattern runs.
  std::map<std::string, IndexInput> inputs;
  /// Under which the check against the reference runs, one value each: so that a short prompt
  /// leaves something to choose.
  Parameters checkParameters;
};

struct Timing {
  double seconds = 0;          ///< The whole run.
  double selectionSeconds = 0; ///< The kernels before the attention.
};

class TimedPattern {
public:
  /// Compiles for the CPU at hand. `workload` and `pool` must outlive the result.
  static Expected<TimedPattern> compile(PatternRun what, Workload &workload,
                                        const ThreadPool &pool);

  /// Runs over the first `tokens` tokens of the workload.
  Expected<Timing> run(int64_t tokens, const Parameters &parameters = {});
  /// Of the last run.
  const skim_statistics &statistics() const { return statistics_; }
  const std::vector<float> &output() const { return out; }

  /// Runs over the first `tokens` tokens, interprets the same on the reference in f64, and returns
  /// max |out - reference| / max |reference| over a head, for the worst head.
  Expected<double> errorAgainstReference(int64_t tokens);

private:
  TimedPattern(PatternRun what, Kernel kernel, Workload &workload, const ThreadPool &pool)
      : what(std::move(what)), kernel(std::move(kernel)), workload(&workload), pool(&pool) {}

  PatternRun what;
  Kernel kernel;
  Workload *workload;
  const ThreadPool *pool;
  std::optional<WorkspaceMemory> workspace;
  std::vector<float> out;
  skim_statistics statistics_ = {};
};

/// max |actual - expected| / max |expected| over a head, for the worst head; both
/// [tokens, heads, dim].
double worstError(const std::vector<float> &actual, const std::vector<float> &expected,
                  int64_t heads, int64_t dim);

} // namespace skim::bench

#endif // SKIM_BENCH_TIMEDPATTERN_H
