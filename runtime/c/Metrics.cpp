// The C interface to metrics.
#include "runtime/c/Handles.h"
#include "runtime/c/Statistics.h"

#include <skim/Metrics.h>

using namespace skim;
using namespace skim::c;

struct skim_metrics {
  Metrics metrics;
};

namespace {

constexpr const char *kNoMetrics = "metrics: expected metrics but got null";

skim_status_code record(skim_metrics *metrics, auto call) {
  if (!metrics)
    return refuse(kNoMetrics);
  call(metrics->metrics);
  return answer(Status::ok());
}

constexpr std::pair<int64_t skim_run_record::*, int64_t RunRecord::*> kRecordCounts[] = {
    {&skim_run_record::requests, &RunRecord::requests},
    {&skim_run_record::query_tokens, &RunRecord::queryTokens},
    {&skim_run_record::key_tokens, &RunRecord::keyTokens},
    {&skim_run_record::visible_pairs, &RunRecord::visiblePairs},
    {&skim_run_record::kept_pairs, &RunRecord::keptPairs},
    {&skim_run_record::tiles_visited, &RunRecord::tilesVisited},
    {&skim_run_record::tiles_masked, &RunRecord::tilesMasked},
    {&skim_run_record::pages_visited, &RunRecord::pagesVisited},
    {&skim_run_record::rest_entries, &RunRecord::restEntries}};

constexpr std::pair<int64_t skim_run_totals::*, int64_t RunTotals::*> kTotalCounts[] = {
    {&skim_run_totals::runs, &RunTotals::runs},
    {&skim_run_totals::runs_out_of_range, &RunTotals::runsOutOfRange},
    {&skim_run_totals::requests, &RunTotals::requests},
    {&skim_run_totals::query_tokens, &RunTotals::queryTokens},
    {&skim_run_totals::key_tokens, &RunTotals::keyTokens},
    {&skim_run_totals::visible_pairs, &RunTotals::visiblePairs},
    {&skim_run_totals::kept_pairs, &RunTotals::keptPairs},
    {&skim_run_totals::tiles_visited, &RunTotals::tilesVisited},
    {&skim_run_totals::tiles_masked, &RunTotals::tilesMasked},
    {&skim_run_totals::pages_visited, &RunTotals::pagesVisited},
    {&skim_run_totals::rest_entries, &RunTotals::restEntries},
    {&skim_run_totals::rows_not_finite, &RunTotals::rowsNotFinite}};

skim_histogram histogramOf(const Histogram &histogram) {
  skim_histogram result = {};
  result.bound_count = std::min<size_t>(histogram.bounds().size(), SKIM_HISTOGRAM_BOUNDS);
  std::copy_n(histogram.bounds().begin(), result.bound_count, result.bounds);
  std::copy_n(histogram.counts().begin(), result.bound_count + 1, result.counts);
  result.sum = histogram.sum();
  return result;
}

} // namespace

RunMetrics *skim::c::metricsOf(skim_run_metrics *runs) {
  return reinterpret_cast<RunMetrics *>(runs);
}

Metrics *skim::c::metricsOf(skim_metrics *metrics) { return metrics ? &metrics->metrics : nullptr; }

skim_status_code skim_metrics_create(skim_metrics **metrics) {
  if (!metrics)
    return refuse("metrics: expected where to write the handle but got null");
  *metrics = new skim_metrics;
  return answer(Status::ok());
}

void skim_metrics_free(skim_metrics *metrics) { delete metrics; }

skim_status_code skim_metrics_runs(skim_metrics *metrics, const char *pattern,
                                   skim_run_metrics **runs) {
  if (!metrics || !pattern || !runs)
    return refuse("expected metrics, a pattern and where to write the handle but got null");
  *runs = reinterpret_cast<skim_run_metrics *>(&metrics->metrics.runs(pattern));
  return answer(Status::ok());
}

skim_status_code skim_metrics_record_compile(skim_metrics *metrics, double seconds) {
  return record(metrics, [&](Metrics &into) { into.recordCompile(seconds); });
}

skim_status_code skim_metrics_record_cache_lookup(skim_metrics *metrics, int32_t hit) {
  return record(metrics, [&](Metrics &into) { into.recordCacheLookup(hit != 0); });
}

skim_status_code skim_metrics_record_cache_evictions(skim_metrics *metrics, int64_t entries) {
  return record(metrics, [&](Metrics &into) { into.recordCacheEvictions(entries); });
}

skim_status_code skim_metrics_record_queueing(skim_metrics *metrics, double seconds) {
  return record(metrics, [&](Metrics &into) { into.recordQueueing(seconds); });
}

skim_status_code skim_metrics_record_time_to_first_token(skim_metrics *metrics, double seconds) {
  return record(metrics, [&](Metrics &into) { into.recordTimeToFirstToken(seconds); });
}

skim_status_code skim_metrics_set_kv_cache(skim_metrics *metrics, const char *name,
                                           const skim_kv_cache_statistics *given) {
  if (!metrics || !name || !given)
    return refuse("expected metrics, a name and statistics but got null");
  const Versioned<skim_kv_cache_statistics> statistics(given);
  if (!statistics.isValid())
    return statistics.refusal("statistics");
  PagedKvCacheStatistics counts;
  for (const auto &[theirs, ours] : kKvCacheCounts)
    counts.*ours = statistics.value().*theirs;
  metrics->metrics.setKvCache(name, counts);
  return answer(Status::ok());
}

skim_status_code skim_run_metrics_record(skim_run_metrics *runs, const skim_run_record *given) {
  if (!runs || !given)
    return refuse("expected run metrics and a run but got null");
  const Versioned<skim_run_record> run(given);
  if (!run.isValid())
    return run.refusal("run");
  RunRecord record;
  for (const auto &[theirs, ours] : kRecordCounts)
    record.*ours = run.value().*theirs;
  record.outOfRange = run->out_of_range != 0;
  record.selectionSeconds = run->selection_seconds;
  record.attentionSeconds = run->attention_seconds;
  metricsOf(runs)->record(record);
  return answer(Status::ok());
}

skim_status_code skim_run_metrics_get_totals(const skim_run_metrics *runs,
                                             skim_run_totals *totals) {
  if (!runs || !totals)
    return refuse("expected run metrics and where to write their sums but got null");
  Versioned<skim_run_totals> result(totals);
  if (!result.isValid())
    return result.refusal("totals");
  const RunTotals found = metricsOf(const_cast<skim_run_metrics *>(runs))->totals();
  skim_run_totals &into = result.value();
  for (const auto &[theirs, ours] : kTotalCounts)
    into.*theirs = found.*ours;
  into.last_density = found.lastDensity;
  into.probe_seconds = found.probeSeconds;
  into.selection_seconds = histogramOf(found.selectionSeconds);
  into.attention_seconds = histogramOf(found.attentionSeconds);
  into.kept_mass = histogramOf(found.keptMass);
  into.output_error = histogramOf(found.outputError);
  result.writeTo(totals);
  return answer(Status::ok());
}

skim_status_code skim_metrics_get_totals(const skim_metrics *metrics, skim_metrics_totals *totals) {
  if (!metrics || !totals)
    return refuse("expected metrics and where to write their sums but got null");
  Versioned<skim_metrics_totals> result(totals);
  if (!result.isValid())
    return result.refusal("totals");
  const MetricsSnapshot found = metrics->metrics.snapshot();
  skim_metrics_totals &into = result.value();
  into.cache_hits = found.compile.cacheHits;
  into.cache_misses = found.compile.cacheMisses;
  into.cache_evictions = found.compile.cacheEvictions;
  into.compile_seconds = histogramOf(found.compile.seconds);
  into.queue_seconds = histogramOf(found.requests.queueSeconds);
  into.time_to_first_token = histogramOf(found.requests.timeToFirstToken);
  result.writeTo(totals);
  return answer(Status::ok());
}

skim_status_code skim_metrics_prometheus_text(const skim_metrics *metrics,
                                              const skim_metric_label *labels, size_t label_count,
                                              char **text) {
  if (!metrics || !text || (!labels && label_count > 0))
    return refuse("expected metrics, labels and where to write the text but got null");
  std::vector<MetricLabel> given;
  given.reserve(label_count);
  for (size_t i = 0; i < label_count; ++i)
    given.push_back({textOf(labels[i].name), textOf(labels[i].value)});
  const Expected<std::string> written = prometheusText(metrics->metrics.snapshot(), given);
  if (!written)
    return answer(written.status());
  *text = copyOf(*written);
  return answer(Status::ok());
}
