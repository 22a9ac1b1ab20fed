#include <skim/Metrics.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace skim {

namespace {
constexpr double kSeconds[] = {1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2,
                               5e-2, 0.1,    0.25, 0.5,  1,      2.5,  5,    10};
constexpr double kMasses[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1};
constexpr double kErrors[] = {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3};
} // namespace

const std::span<const double> kSecondsBounds = kSeconds;
const std::span<const double> kMassBounds = kMasses;
const std::span<const double> kErrorBounds = kErrors;

void Histogram::observe(double value) {
  if (std::isnan(value))
    return;
  ++counts_[static_cast<size_t>(std::ranges::lower_bound(bounds_, value) - bounds_.begin())];
  sum_ += value;
}

int64_t Histogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}

void RunMetrics::record(const RunRecord &run) {
  const std::lock_guard lock(mutex_);
  ++totals_.runs;
  totals_.runsOutOfRange += run.outOfRange;
  totals_.requests += run.requests;
  totals_.queryTokens += run.queryTokens;
  totals_.keyTokens += run.keyTokens;
  totals_.visiblePairs += run.visiblePairs;
  totals_.keptPairs += run.keptPairs;
  totals_.tilesVisited += run.tilesVisited;
  totals_.tilesMasked += run.tilesMasked;
  totals_.pagesVisited += run.pagesVisited;
  totals_.restEntries += run.restEntries;
  if (run.visiblePairs > 0)
    totals_.lastDensity =
        static_cast<double>(run.keptPairs) / static_cast<double>(run.visiblePairs);
  totals_.selectionSeconds.observe(run.selectionSeconds);
  totals_.attentionSeconds.observe(run.attentionSeconds);
}

void RunMetrics::record(std::span<const ProbedRow> rows, double seconds) {
  const std::lock_guard lock(mutex_);
  for (const ProbedRow &row : rows) {
    if (!std::isfinite(row.keptMass) || !std::isfinite(row.outputError)) {
      ++totals_.rowsNotFinite;
      continue;
    }
    totals_.keptMass.observe(row.keptMass);
    totals_.outputError.observe(row.outputError);
  }
  totals_.probeSeconds += seconds;
}

RunTotals RunMetrics::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

RunMetrics &Metrics::runs(std::string_view pattern) {
  const std::lock_guard lock(mutex_);
  auto found = runs_.find(pattern);
  if (found == runs_.end())
    found = runs_.emplace(std::string(pattern), std::make_unique<RunMetrics>()).first;
  return *found->second;
}

void Metrics::recordCompile(double seconds) {
  const std::lock_guard lock(mutex_);
  compile_.seconds.observe(seconds);
}

void Metrics::recordCacheLookup(bool hit) {
  const std::lock_guard lock(mutex_);
  ++(hit ? compile_.cacheHits : compile_.cacheMisses);
}

void Metrics::recordCacheEvictions(int64_t entries) {
  const std::lock_guard lock(mutex_);
  compile_.cacheEvictions += entries;
}

void Metrics::recordQueueing(double seconds) {
  const std::lock_guard lock(mutex_);
  requests_.queueSeconds.observe(seconds);
}

void Metrics::recordTimeToFirstToken(double seconds) {
  const std::lock_guard lock(mutex_);
  requests_.timeToFirstToken.observe(seconds);
}

void Metrics::setKvCache(std::string_view name, const PagedKvCacheStatistics &statistics) {
  const std::lock_guard lock(mutex_);
  const auto found = caches_.find(name);
  if (found != caches_.end())
    found->second = statistics;
  else
    caches_.emplace(name, statistics);
}

MetricsSnapshot Metrics::snapshot() const {
  const std::lock_guard lock(mutex_);
  MetricsSnapshot snapshot;
  for (const auto &[pattern, runs] : runs_)
    snapshot.runs.emplace(pattern, runs->totals());
  snapshot.compile = compile_;
  snapshot.requests = requests_;
  snapshot.caches.insert(caches_.begin(), caches_.end());
  return snapshot;
}

} // namespace skim
