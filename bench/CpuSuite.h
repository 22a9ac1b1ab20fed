// The CPU benchmark: prefill of one request by dense attention, by block lists and by selections,
// beside each other and beside a peer, in one process, interleaved.
#ifndef SKIM_BENCH_CPUSUITE_H
#define SKIM_BENCH_CPUSUITE_H

#include "bench/Workload.h"

#include <skim/Status.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace skim::bench {

struct CpuSuiteOptions {
  Geometry geometry;
  int64_t threads = 0; ///< 0: one a core.
  int64_t repeats = 5;
  bool torch = true; ///< Run PyTorch beside.
  std::string python = "python3";
  /// Where there is one, hears what is being done.
  std::function<void(const std::string &)> progress = {};
};

struct Bar {
  double value = 0;
  bool atLeast = false; ///< Otherwise at most.
};

struct Row {
  std::string name;
  DType dtype = DType::F32;
  double seconds = 0; ///< Median over the repeats, as are all times.
  double fastestSeconds = 0;
  double selectionSeconds = 0; ///< Of the kernels before the attention.
  std::string beside;          ///< What it is compared with; empty where there is nothing.
  double besideSeconds = 0;
  double besideFastestSeconds = 0;
  /// Beside a peer its time over ours; beside our dense attention our time over that.
  std::optional<double> ratio;
  /// None where the sizes are others than those that bars are stated for.
  std::optional<Bar> bar;
  /// Visited key tiles over those that dense attention visits.
  double tiles = 1;
  /// Against the reference, over the first tokens; against the peer, over all.
  double referenceError = 0;
  std::optional<double> peerError;

  /// Where there is a bar and something to hold against it.
  std::optional<bool> meetsBar() const {
    if (!bar || !ratio)
      return std::nullopt;
    return bar->atLeast ? *ratio >= bar->value : *ratio <= bar->value;
  }
};

struct SuiteResult {
  Geometry geometry;
  int64_t threads = 0;
  int64_t repeats = 0;
  /// Name, version and kernel of the peer, empty without.
  std::string peer, peerVersion, peerKernel;
  /// Processes that were ready to run before the first measurement and after the last, on average
  /// over a minute; the second counts the benchmark's own threads.
  double loadBefore = 0, loadAfter = 0;
  std::vector<Row> rows;
};

/// Fails where something does not compile, where the peer is not there, and where a result is
/// wrong.
Expected<SuiteResult> runCpuSuite(const CpuSuiteOptions &options);

} // namespace skim::bench

#endif // SKIM_BENCH_CPUSUITE_H
