// What a process that serves patterns counts and times, as plain data and as Prometheus text.
// Nothing is counted unless it is asked for.
//
//   Metrics metrics;                                        // one for the process
//   options.metrics = &metrics.runs("streaming");           // RunOptions of every run
//   metrics.recordTimeToFirstToken(seconds);                // what the engine alone knows
//   std::string text = *prometheusText(metrics.snapshot()); // for GET /metrics
#ifndef SKIM_METRICS_H
#define SKIM_METRICS_H

#include <skim/PagedKvCache.h>
#include <skim/Status.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skim {

/// Counts of observations below ascending bounds.
class Histogram {
public:
  /// `bounds` must outlive the histogram.
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds), counts_(bounds.size() + 1) {}

  /// Counts a value in the first bucket whose bound is not less. NaN is passed over.
  void observe(double value);

  std::span<const double> bounds() const { return bounds_; }
  /// One a bound, and one for what is beyond the last. Not cumulative.
  std::span<const int64_t> counts() const { return counts_; }
  int64_t count() const;
  double sum() const { return sum_; }

private:
  std::span<const double> bounds_;
  std::vector<int64_t> counts_;
  double sum_ = 0;
};

/// From 100 microseconds to 10 seconds.
extern const std::span<const double> kSecondsBounds;
/// Shares, dense near 1.
extern const std::span<const double> kMassBounds;
/// Relative errors, 1e-4 to 3.
extern const std::span<const double> kErrorBounds;

/// One run of a kernel.
struct RunRecord {
  int64_t requests = 0; ///< those with rows, as for the next two
  int64_t queryTokens = 0;
  int64_t keyTokens = 0;
  int64_t visiblePairs = 0; ///< (query, key) pairs that causality and length admit, over all heads
  int64_t keptPairs = 0;    ///< those among them that were attended
  int64_t tilesVisited = 0; ///< key tiles whose product with a query tile was computed
  int64_t tilesMasked = 0;  ///< those among them that needed a mask
  /// Pages read by visited tiles, once a visit; 0 for contiguous keys. Counted as if all tiles were
  /// whole, and rounded up where page and tile do not divide one another.
  int64_t pagesVisited = 0;
  int64_t restEntries = 0;     ///< pooled blocks that entered by their mean
  bool outOfRange = false;     ///< the run met values out of range in an input
  double selectionSeconds = 0; ///< the kernels before the attention
  double attentionSeconds = 0;
};

/// One row of one head, run dense beside the pattern.
struct ProbedRow {
  double keptMass = 0;    ///< share of the dense softmax's sum that the pattern's has
  double outputError = 0; ///< max |out - dense| / max |dense| over the row
};

/// Sums over the runs of a pattern.
struct RunTotals {
  int64_t runs = 0;
  int64_t runsOutOfRange = 0;
  int64_t requests = 0;
  int64_t queryTokens = 0;
  int64_t keyTokens = 0;
  int64_t visiblePairs = 0;
  int64_t keptPairs = 0;
  int64_t tilesVisited = 0;
  int64_t tilesMasked = 0;
  int64_t pagesVisited = 0;
  int64_t restEntries = 0;
  double lastDensity = 0; ///< kept over visible pairs of the last run that had visible ones
  Histogram selectionSeconds{kSecondsBounds};
  Histogram attentionSeconds{kSecondsBounds};
  Histogram keptMass{kMassBounds};     ///< of probed rows
  Histogram outputError{kErrorBounds}; ///< of probed rows
  int64_t rowsNotFinite = 0;           ///< probed rows that held infinities or NaN: in no histogram
  double probeSeconds = 0;
};

/// Counts the runs of one pattern. Any number of threads; recording takes one lock and allocates
/// nothing.
class RunMetrics {
public:
  void record(const RunRecord &run);
  void record(std::span<const ProbedRow> rows, double seconds);
  RunTotals totals() const;

private:
  mutable std::mutex mutex_;
  RunTotals totals_;
};

struct CompileTotals {
  Histogram seconds{kSecondsBounds}; ///< of patterns compiled, not taken from a cache
  int64_t cacheHits = 0;
  int64_t cacheMisses = 0;
  int64_t cacheEvictions = 0;
};

struct RequestTotals {
  Histogram queueSeconds{kSecondsBounds};
  Histogram timeToFirstToken{kSecondsBounds};
};

/// The state of all metrics at one time.
struct MetricsSnapshot {
  std::map<std::string, RunTotals> runs; ///< by pattern
  CompileTotals compile;
  RequestTotals requests;
  std::map<std::string, PagedKvCacheStatistics> caches; ///< by name
};

/// Any number of threads may call anything.
class Metrics {
public:
  /// Those of one pattern, made on first use. The reference stays valid. Every name stays for the
  /// life of the metrics: take few.
  RunMetrics &runs(std::string_view pattern);

  void recordCompile(double seconds);
  void recordCacheLookup(bool hit);
  void recordCacheEvictions(int64_t entries);
  /// From the arrival of a request to its first run.
  void recordQueueing(double seconds);
  /// From the arrival of a request to its first token.
  void recordTimeToFirstToken(double seconds);
  /// The state of a KV cache, in place of what was set before under that name.
  void setKvCache(std::string_view name, const PagedKvCacheStatistics &statistics);

  MetricsSnapshot snapshot() const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<RunMetrics>, std::less<>> runs_;
  CompileTotals compile_;
  RequestTotals requests_;
  std::map<std::string, PagedKvCacheStatistics, std::less<>> caches_;
};

struct MetricLabel {
  std::string name;
  std::string value; ///< UTF-8
};

/// Prometheus' text format 0.0.4 (`text/plain; version=0.0.4`). `labels` stand on every sample;
/// fails where one has a name that Prometheus does not allow or that a metric here uses.
Expected<std::string> prometheusText(const MetricsSnapshot &snapshot,
                                     std::span<const MetricLabel> labels = {});

} // namespace skim

#endif // SKIM_METRICS_H
