// `skim run`: runs a pattern over real queries, keys and values and says what it cost.
#include "tools/skim/Comparison.h"
#include "tools/skim/Failure.h"
#include "tools/skim/Job.h"
#include "tools/skim/OutputFile.h"
#include "tools/skim/Subcommands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <numeric>

namespace skim::tool {
namespace {

struct Report {
  const Job &job;
  const Outcome &outcome;
  /// Empty with --no-dense.
  std::optional<Comparison> comparison;

  int64_t visible() const { return visiblePairs(job.batch, job.source.isCausal()); }
  /// Kept over visible pairs; 1 where nothing is visible. Empty where the device does not count.
  std::optional<double> density() const {
    if (!outcome.counted)
      return std::nullopt;
    return visible() == 0 ? 1 : double(outcome.keptPairs) / double(visible());
  }
  /// Gathered tokens of each query head, summed over the requests; empty without `compact`.
  std::optional<std::vector<int64_t>> gatheredOfHeads() const {
    if (!outcome.gathered)
      return std::nullopt;
    std::vector<int64_t> heads(job.batch.queryHeads);
    for (size_t i = 0; i < outcome.gathered->counts.size(); ++i)
      heads[i % heads.size()] += outcome.gathered->counts[i];
    return heads;
  }
  llvm::StringRef device() const { return deviceName(job.device); }
};

llvm::json::Value orNull(const std::optional<double> &value) {
  return value && std::isfinite(*value) ? llvm::json::Value(*value) : llvm::json::Value(nullptr);
}

void printJson(const Report &report) {
  const HostBatch &batch = report.job.batch;
  const Outcome &outcome = report.outcome;
  llvm::json::Value mass = nullptr;
  llvm::json::Value masses = nullptr;
  llvm::json::Value error = nullptr;
  llvm::json::Value errors = nullptr;
  if (report.comparison) {
    const std::vector<HeadComparison> &heads = report.comparison->heads;
    mass = orNull(report.comparison->keptMass);
    masses = llvm::json::Array(
        llvm::map_range(heads, [](const HeadComparison &head) { return orNull(head.keptMass); }));
    error = orNull(report.comparison->error);
    errors = llvm::json::Array(
        llvm::map_range(heads, [](const HeadComparison &head) { return orNull(head.error); }));
  }
  llvm::json::Value gathered = nullptr;
  if (std::optional<std::vector<int64_t>> heads = report.gatheredOfHeads())
    gathered = llvm::json::Array(*heads);
  llvm::json::OStream json(llvm::outs(), /*IndentSize=*/2);
  json.object([&] {
    json.attribute("pattern", report.job.source.entry().name);
    json.attribute("call", callText(report.job.source.entry(), report.job.settings));
    json.attribute("device", report.device());
    json.attribute("requests", batch.requests());
    json.attribute("query_tokens", batch.queryTokens());
    json.attribute("key_tokens", batch.keyTokens());
    json.attribute("query_heads", batch.queryHeads);
    json.attribute("kv_heads", batch.kvHeads);
    json.attribute("head_dim", batch.headDim);
    json.attribute("value_dim", batch.valueDim);
    json.attribute("dtype", dtypeName(batch.dtype));
    json.attribute("page_size", batch.pageSize);
    json.attribute("visible_pairs", report.visible());
    json.attribute("kept_pairs", outcome.counted ? llvm::json::Value(outcome.keptPairs) : nullptr);
    json.attribute("density", orNull(report.density()));
    json.attribute("rest_entries", outcome.restEntries);
    json.attribute("gathered_tokens_per_head", gathered);
    json.attribute("kept_mass", mass);
    json.attribute("kept_mass_per_head", masses);
    json.attribute("error", error);
    json.attribute("error_per_head", errors);
    json.attribute("tiles_visited",
                   outcome.tiles ? llvm::json::Value(outcome.tiles->visited) : nullptr);
    json.attribute("tiles_masked",
                   outcome.tiles ? llvm::json::Value(outcome.tiles->masked) : nullptr);
    json.attribute("compile_seconds", outcome.compileSeconds);
    json.attribute("selection_seconds", outcome.selectionSeconds);
    json.attribute("attention_seconds", outcome.attentionSeconds);
  });
  llvm::outs() << '\n';
}

constexpr llvm::StringLiteral notANumber = "not a number";

std::string percent(const std::optional<double> &share) {
  if (share && !std::isfinite(*share))
    return notANumber.str();
  return share ? llvm::formatv("{0:F1} %", *share * 100).str() : "-";
}
std::string scientific(const std::optional<double> &value) {
  if (value && !std::isfinite(*value))
    return notANumber.str();
  std::string text = "-";
  if (value) {
    text.clear();
    llvm::raw_string_ostream(text) << llvm::format("%.1e", *value);
  }
  return text;
}
std::string milliseconds(double seconds) { return llvm::formatv("{0:F1} ms", seconds * 1e3); }

void printTable(const Report &report) {
  const HostBatch &batch = report.job.batch;
  const Outcome &outcome = report.outcome;
  llvm::raw_ostream &os = llvm::outs();
  auto row = [&](llvm::StringRef name, const std::string &value, llvm::StringRef meaning = "") {
    os << llvm::left_justify(name, 11);
    if (meaning.empty())
      os << value << '\n';
    else
      os << llvm::left_justify(value, 9) << ' ' << meaning << '\n';
  };
  row("pattern", callText(report.job.source.entry(), report.job.settings));
  row("batch",
      llvm::formatv("{0} request{1}, {2} query and {3} key tokens; {4} query and {5} KV heads of "
                    "dimension {6}, {7}",
                    batch.requests(), batch.requests() == 1 ? "" : "s", batch.queryTokens(),
                    batch.keyTokens(), batch.queryHeads, batch.kvHeads, batch.headDim,
                    dtypeName(batch.dtype)));
  row("device", report.device().str());
  row("density", percent(report.density()), "kept pairs of the visible ones");
  if (report.comparison) {
    row("kept mass", percent(report.comparison->keptMass),
        "share of dense attention on kept keys, mean over the heads");
    row("error", scientific(report.comparison->error),
        "max |out - dense| / max |dense|, worst head");
  }
  if (outcome.restEntries > 0)
    row("rest", std::to_string(outcome.restEntries), "pooled blocks that entered by their mean");
  if (std::optional<std::vector<int64_t>> heads = report.gatheredOfHeads()) {
    auto total = std::accumulate(heads->begin(), heads->end(), int64_t(0));
    row("compact", llvm::formatv("{0:F1} of {1} key tokens gathered, mean over the heads",
                                 double(total) / double(heads->size()), batch.keyTokens()));
  }
  if (outcome.tiles)
    row("tiles", llvm::formatv("{0} visited, {1} of them masked", outcome.tiles->visited,
                               outcome.tiles->masked));
  row("time", llvm::formatv(
                  "compile {0}, selection {1}, attention {2}", milliseconds(outcome.compileSeconds),
                  milliseconds(outcome.selectionSeconds), milliseconds(outcome.attentionSeconds)));
  if (!report.comparison)
    return;
  os << "\nhead  kept mass    error\n";
  for (size_t head = 0; head < report.comparison->heads.size(); ++head)
    os << llvm::format("%4zu ", head)
       << llvm::right_justify(percent(report.comparison->heads[head].keptMass), 10) << ' '
       << llvm::right_justify(scientific(report.comparison->heads[head].error), 8) << '\n';
}

llvm::Error writeResults(llvm::StringRef path, const HostBatch &batch, const Outcome &outcome,
                         bool wantKept) {
  auto tensor = [](const char *name, ElementType type, std::vector<int64_t> shape,
                   const auto &values) {
    return Tensor{name, type, std::move(shape), reinterpret_cast<const char *>(values.data()),
                  static_cast<int64_t>(values.size() * sizeof(values[0]))};
  };
  std::vector<Tensor> tensors = {
      tensor("out", ElementType::F32, {batch.queryTokens(), batch.queryHeads, batch.valueDim},
             outcome.out),
      tensor("lse", ElementType::F32, {batch.queryHeads, batch.queryTokens()}, outcome.lse)};
  if (wantKept)
    tensors.push_back(tensor("kept", ElementType::U8,
                             {batch.queryHeads, batch.queryTokens(), batch.longestKv()},
                             outcome.kept));
  if (outcome.gathered) {
    tensors.push_back(tensor("compact_positions", ElementType::I32,
                             {batch.requests(), batch.queryHeads, batch.longestKv()},
                             outcome.gathered->positions));
    tensors.push_back(tensor("compact_counts", ElementType::I32,
                             {batch.requests(), batch.queryHeads}, outcome.gathered->counts));
  }
  return writeSafetensors(path, tensors);
}

/// The rate of --probe.
llvm::Expected<double> probeRate(const Options &options) {
  if (!options.has(OPT_probe))
    return 0;
  if (!options.has(OPT_metrics))
    return wrongUsage("--probe adds to the file of --metrics; expected --metrics FILE");
  double rate = 0;
  if (options.text(OPT_probe).getAsDouble(rate) || !(rate >= 0 && rate <= 1))
    return wrongUsage("--probe: expected a number from 0 to 1 but got '" + options.text(OPT_probe) +
                      "'");
  return rate;
}

llvm::Error writeMetrics(llvm::StringRef path, const Metrics &metrics) {
  Expected<std::string> text = prometheusText(metrics.snapshot());
  if (!text)
    return failureOf(text.status());
  return writeOutput(path, [&](llvm::raw_ostream &stream) { stream << *text; });
}

} // namespace

llvm::Error runPattern(const Options &options) {
  if (!options.has(OPT_qkv))
    return wrongUsage("expected --qkv FILE, the queries, keys and values to run on");
  if (options.has(OPT_save_kept) && !options.has(OPT_out))
    return wrongUsage("--save-kept adds to the file of --out; expected --out FILE");
  for (OptionId input : {OPT_qkv, OPT_inputs})
    if (options.has(OPT_out) && options.has(input) &&
        llvm::sys::fs::equivalent(options.text(OPT_out), options.text(input)))
      return wrongUsage("--out: expected a file other than the input '" + options.text(input) +
                        "', which would be lost");
  llvm::Expected<int64_t> threads = options.number(OPT_threads, 0, 1, 4096);
  if (!threads)
    return threads.takeError();
  llvm::Expected<int64_t> repeat = options.number(OPT_repeat, 1, 1, 1'000'000);
  if (!repeat)
    return repeat.takeError();
  llvm::Expected<int64_t> tokens = options.number(OPT_tokens, 0, 1, INT32_MAX);
  if (!tokens)
    return tokens.takeError();
  llvm::Expected<double> rate = probeRate(options);
  if (!rate)
    return rate.takeError();
  llvm::Expected<Prepared> prepared = prepare(options);
  if (!prepared)
    return prepared.takeError();
  if (options.has(OPT_bundle) && prepared->device == Device::Reference)
    return wrongUsage(
        "--bundle: expected the device cpu or cuda, as bundles hold compiled kernels");
  if (options.has(OPT_metrics) && prepared->device != Device::Cpu)
    return wrongUsage("--metrics: expected the device cpu, which alone is counted");
  llvm::Expected<HostBatch> batch =
      HostBatch::read(options.text(OPT_qkv), options.text(OPT_inputs), *tokens);
  if (!batch)
    return batch.takeError();

  Metrics metrics;
  Job job{*prepared->source,
          *batch,
          prepared->settings,
          prepared->device,
          prepared->layer,
          *threads,
          *repeat,
          options.has(OPT_save_kept),
          /*wantGathered=*/true,
          options.text(OPT_bundle).str(),
          options.has(OPT_metrics) ? &metrics.runs(prepared->source->entry().name) : nullptr,
          &metrics,
          *rate};
  llvm::Expected<Outcome> outcome = run(job, Variant::Asked);
  if (!outcome)
    return outcome.takeError();
  if (options.has(OPT_metrics))
    if (llvm::Error error = writeMetrics(options.text(OPT_metrics), metrics))
      return error;
  if (options.has(OPT_out))
    if (llvm::Error error = writeResults(options.text(OPT_out), *batch, *outcome, job.wantKept))
      return error;
  Report report{job, *outcome, std::nullopt};
  if (!options.has(OPT_no_dense)) {
    llvm::Expected<Comparison> comparison = compareWithDense(job, *outcome);
    if (!comparison)
      return comparison.takeError();
    report.comparison = std::move(*comparison);
  }
  if (options.has(OPT_json))
    printJson(report);
  else
    printTable(report);
  return outcome->problem.empty() ? llvm::Error::success() : wrongInput(outcome->problem);
}

} // namespace skim::tool
