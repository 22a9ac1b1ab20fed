#include <skim/Metrics.h>

#include "runtime/TensorCheck.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

namespace skim {

namespace {

/// The labels of the metrics below, and those that the format itself has.
constexpr std::string_view kUsedLabels[] = {"pattern", "result", "cache",
                                            "state",   "le",     "quantile"};

bool isLabelName(std::string_view name) {
  const auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && isLetter(name.front()) && !name.starts_with("__") &&
         std::ranges::all_of(name, [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"')
      text += '\\';
    text += c;
  }
  return text;
}

template <typename T> std::string number(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value))
      return "NaN";
    if (std::isinf(value))
      return value > 0 ? "+Inf" : "-Inf";
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

/// `name="value",` for each, as they stand between braces.
std::string labelText(std::string_view name, std::string_view value) {
  return std::string(name) + "=\"" + escaped(value) + "\",";
}

class Writer {
public:
  explicit Writer(std::string constantLabels) : constant_(std::move(constantLabels)) {}

  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += "# HELP " + name_ + " ";
    text_ += help;
    text_ += "\n# TYPE " + name_ + " ";
    text_ += type;
    text_ += '\n';
  }
  /// A sample of the last family. `labels` come from `labelText`.
  template <typename T>
  void sample(const std::string &labels, T value, std::string_view suffix = "") {
    std::string all = constant_ + labels;
    text_ += name_;
    text_ += suffix;
    if (!all.empty()) {
      all.back() = '}'; // in place of the last comma
      text_ += "{" + all;
    }
    text_ += " " + number(value) + "\n";
  }
  void sample(const std::string &labels, const Histogram &histogram) {
    int64_t below = 0;
    for (size_t i = 0; i < histogram.counts().size(); ++i) {
      below += histogram.counts()[i];
      const bool last = i == histogram.bounds().size();
      sample(labels + labelText("le", last ? "+Inf" : number(histogram.bounds()[i])), below,
             "_bucket");
    }
    sample(labels, histogram.sum(), "_sum");
    sample(labels, below, "_count");
  }
  std::string take() { return std::move(text_); }

private:
  std::string constant_;
  std::string name_;
  std::string text_;
};

template <typename T, typename Totals> struct Family {
  const char *name;
  const char *type;
  const char *help;
  T Totals::*member;
};

using RunCount = Family<int64_t, RunTotals>;
constexpr RunCount kRunCounts[] = {
    {"skim_runs_total", "counter", "Runs that were not refused.", &RunTotals::runs},
    {"skim_runs_out_of_range_total", "counter",
     "Runs that met values out of range in an input of the pattern.", &RunTotals::runsOutOfRange},
    {"skim_run_requests_total", "counter", "Requests with query tokens, over all runs.",
     &RunTotals::requests},
    {"skim_run_query_tokens_total", "counter", "Query tokens, over all runs.",
     &RunTotals::queryTokens},
    {"skim_run_key_tokens_total", "counter", "Key tokens of requests with query tokens.",
     &RunTotals::keyTokens},
    {"skim_run_visible_pairs_total", "counter",
     "Pairs of query and key that causality and length admit, over all query heads.",
     &RunTotals::visiblePairs},
    {"skim_run_kept_pairs_total", "counter", "Pairs of query and key that were attended.",
     &RunTotals::keptPairs},
    {"skim_run_tiles_visited_total", "counter",
     "Key tiles whose product with a query tile was computed.", &RunTotals::tilesVisited},
    {"skim_run_tiles_masked_total", "counter", "Visited key tiles that needed a mask.",
     &RunTotals::tilesMasked},
    {"skim_run_kv_pages_visited_total", "counter",
     "Pages of the KV cache that visited key tiles read, once a visit.", &RunTotals::pagesVisited},
    {"skim_run_rest_entries_total", "counter", "Pooled blocks that entered by their mean.",
     &RunTotals::restEntries},
    {"skim_probe_rows_not_finite_total", "counter",
     "Probed rows with infinities or NaN, which no histogram has.", &RunTotals::rowsNotFinite},
};

using RunNumber = Family<double, RunTotals>;
constexpr RunNumber kRunNumbers[] = {
    {"skim_run_density_ratio", "gauge", "Kept over visible pairs of the last run.",
     &RunTotals::lastDensity},
    {"skim_probe_seconds_total", "counter", "Time spent on probing quality.",
     &RunTotals::probeSeconds},
};

using RunHistogram = Family<Histogram, RunTotals>;
constexpr RunHistogram kRunHistograms[] = {
    {"skim_run_selection_seconds", "histogram", "Time of a run before its attention kernel.",
     &RunTotals::selectionSeconds},
    {"skim_run_attention_seconds", "histogram", "Time of the attention kernel of a run.",
     &RunTotals::attentionSeconds},
    {"skim_probe_kept_mass_ratio", "histogram",
     "Share of dense attention that a probed row of a head kept.", &RunTotals::keptMass},
    {"skim_probe_output_error_ratio", "histogram",
     "Largest deviation from dense attention in a probed row of a head over its largest element.",
     &RunTotals::outputError},
};

using CacheCount = Family<int64_t, PagedKvCacheStatistics>;
constexpr CacheCount kCacheCounts[] = {
    {"skim_kv_cache_shared_pages", "gauge", "Pages that more than one sequence holds.",
     &PagedKvCacheStatistics::pagesShared},
    {"skim_kv_cache_sequences", "gauge", "Sequences of the cache.",
     &PagedKvCacheStatistics::sequences},
    {"skim_kv_cache_tokens", "gauge", "Tokens of all sequences, shared ones once for each.",
     &PagedKvCacheStatistics::tokens},
    {"skim_kv_cache_page_copies_total", "counter", "Pages copied on write.",
     &PagedKvCacheStatistics::pageCopies},
    {"skim_kv_cache_exhausted_total", "counter", "Calls that found too few free pages.",
     &PagedKvCacheStatistics::exhausted},
    {"skim_kv_cache_saturated_elements_total", "counter",
     "Elements that lay beyond the range of FP8.", &PagedKvCacheStatistics::saturated},
};

/// One family for each entry of `families`, with a sample for each of the entries of `all`.
template <typename Families, typename All>
void writeFamilies(Writer &writer, const Families &families, std::string_view label,
                   const All &all) {
  for (const auto &family : families) {
    writer.family(family.name, family.type, family.help);
    for (const auto &[name, totals] : all)
      writer.sample(labelText(label, name), totals.*family.member);
  }
}

} // namespace

Expected<std::string> prometheusText(const MetricsSnapshot &snapshot,
                                     std::span<const MetricLabel> labels) {
  std::string constant;
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::string &name = labels[i].name;
    const bool repeated = std::any_of(labels.begin(), labels.begin() + static_cast<int64_t>(i),
                                      [&](const MetricLabel &other) { return other.name == name; });
    if (!isLabelName(name) || repeated ||
        std::ranges::find(kUsedLabels, name) != std::end(kUsedLabels))
      return expectedButGot({"", "labels"},
                            "names of letters, digits and underscores that no metric uses",
                            "'" + name + "'");
    constant += labelText(name, labels[i].value);
  }
  Writer writer(constant);
  if (!snapshot.runs.empty()) {
    writeFamilies(writer, kRunCounts, "pattern", snapshot.runs);
    writeFamilies(writer, kRunNumbers, "pattern", snapshot.runs);
    writeFamilies(writer, kRunHistograms, "pattern", snapshot.runs);
  }
  writer.family("skim_compile_seconds", "histogram",
                "Time to compile a pattern that no cache held.");
  writer.sample("", snapshot.compile.seconds);
  writer.family("skim_kernel_cache_lookups_total", "counter",
                "Kernels looked up in the cache of compiled kernels.");
  writer.sample(labelText("result", "hit"), snapshot.compile.cacheHits);
  writer.sample(labelText("result", "miss"), snapshot.compile.cacheMisses);
  writer.family("skim_kernel_cache_evictions_total", "counter",
                "Entries removed from the cache of compiled kernels to bound its size.");
  writer.sample("", snapshot.compile.cacheEvictions);
  writer.family("skim_request_queue_seconds", "histogram",
                "Time from the arrival of a request to its first run.");
  writer.sample("", snapshot.requests.queueSeconds);
  writer.family("skim_request_time_to_first_token_seconds", "histogram",
                "Time from the arrival of a request to its first token.");
  writer.sample("", snapshot.requests.timeToFirstToken);
  if (!snapshot.caches.empty()) {
    writer.family("skim_kv_cache_pages", "gauge", "Pages of the cache.");
    for (const auto &[name, cache] : snapshot.caches) {
      const std::string label = labelText("cache", name);
      writer.sample(label + labelText("state", "free"), cache.pagesFree);
      writer.sample(label + labelText("state", "used"), cache.pages - cache.pagesFree);
    }
    writeFamilies(writer, kCacheCounts, "cache", snapshot.caches);
  }
  return writer.take();
}

} // namespace skim
