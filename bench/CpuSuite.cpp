#include "bench/CpuSuite.h"

#include "bench/Embedded.h"
#include "bench/Peer.h"
#include "bench/TimedPattern.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>

namespace skim::bench {
namespace {

constexpr int64_t kBlock = 64;
/// Tokens over which every compiled pattern is compared with the reference first.
constexpr int64_t kCheckedTokens = 320;
constexpr double kPeerSpeedBar = 0.7, kListsBar = 0.13, kFlashPrefillBar = 0.12, kPeakBar = 0.25;

constexpr const char *kTenthOfTheBlocks = "pattern block_lists {\n"
                                          "  input blocks: list[head, q / 64, k / 64]\n"
                                          "  keep blocks\n"
                                          "}\n";

/// For each head and block of rows its own block of keys and random earlier ones, a tenth of the
/// causal blocks in all.
IndexInput tenthOfTheBlocks(const Geometry &geometry) {
  int64_t rows = (geometry.tokens + kBlock - 1) / kBlock;
  IndexInput lists{{geometry.queryHeads, rows, rows}, {}};
  lists.data.assign(geometry.queryHeads * rows * rows, -1);
  std::mt19937_64 random(1);
  for (int64_t head = 0; head < geometry.queryHeads; ++head) {
    int64_t causal = 0, chosen = 0;
    for (int64_t row = 0; row < rows; ++row) {
      causal += row + 1;
      int32_t *list = &lists.data[(head * rows + row) * rows];
      int64_t count = std::clamp<int64_t>((causal + 9) / 10 - chosen, 1, row + 1);
      chosen += count;
      std::vector<int32_t> earlier(row);
      for (int64_t i = 0; i < row; ++i)
        earlier[i] = static_cast<int32_t>(i);
      list[0] = static_cast<int32_t>(row);
      std::sample(earlier.begin(), earlier.end(), list + 1, count - 1, random);
    }
  }
  return lists;
}

/// The times of one contestant.
struct Samples {
  std::vector<double> seconds;

  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    size_t middle = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
  double fastest() const { return *std::min_element(seconds.begin(), seconds.end()); }
};

struct Contestant {
  TimedPattern pattern;
  Row row;
  bool isSelection = false; ///< Its time is that of the kernels before the attention.
  Samples samples = {}, selection = {};
};

Status wrongResult(const Row &row, const char *expected, double bound, double error) {
  return {StatusCode::Environment,
          llvm::formatv("{0}, {1}: expected an error of at most {2:e1} against {3} but got {4:e1}",
                        row.name, dtypeName(row.dtype), bound, expected, error)
              .str()};
}

/// The rows of one operand type.
class Round {
public:
  Round(const CpuSuiteOptions &options, DType dtype, const ThreadPool &pool, Peer *peer)
      : options(options), pool(pool), peer(peer), workload(options.geometry, dtype) {}

  Expected<std::vector<Row>> run();

private:
  Status add(std::string name, PatternRun what, std::optional<Bar> bar, bool isSelection = false);
  Status check();
  Status measure();
  std::vector<Row> rows();
  void say(const std::string &what) const {
    if (options.progress)
      options.progress(std::string(dtypeName(workload.dtype())) + ": " + what);
  }

  const CpuSuiteOptions &options;
  const ThreadPool &pool;
  Peer *peer;
  Workload workload;
  std::vector<Contestant> contestants; ///< The first is dense.
  Samples peerSamples;
};

Status Round::add(std::string name, PatternRun what, std::optional<Bar> bar, bool isSelection) {
  say("compiling " + name);
  Expected<TimedPattern> pattern = TimedPattern::compile(std::move(what), workload, pool);
  if (!pattern)
    return {pattern.status().code(), name + ": " + pattern.status().message()};
  Row row;
  row.name = std::move(name);
  row.dtype = workload.dtype();
  if (options.geometry == Geometry())
    row.bar = bar;
  contestants.push_back({*std::move(pattern), std::move(row), isSelection});
  return Status::ok();
}

Status Round::check() {
  double bound = workload.dtype() == DType::F32 ? 1e-5 : 2e-3;
  // A peer may round its result and its probabilities to the type of the operands.
  double peerBound = workload.dtype() == DType::F32 ? 1e-5 : 2e-2;
  const Geometry &geometry = options.geometry;
  for (Contestant &contestant : contestants) {
    Row &row = contestant.row;
    say("checking " + row.name);
    Expected<double> error =
        contestant.pattern.errorAgainstReference(std::min(geometry.tokens, kCheckedTokens));
    if (!error)
      return {error.status().code(), row.name + ": " + error.status().message()};
    row.referenceError = *error;
    if (!(*error <= bound))
      return wrongResult(row, "the reference", bound, *error);
    // The first run over all tokens also warms up.
    if (Expected<Timing> timing = contestant.pattern.run(geometry.tokens); !timing)
      return timing.status();
    row.tiles = double(contestant.pattern.statistics().tiles_visited) /
                double(contestants.front().pattern.statistics().tiles_visited);
  }
  if (!peer)
    return Status::ok();
  if (Status status = peer->load(workload); !status)
    return status;
  if (Expected<double> seconds = peer->run(); !seconds)
    return seconds.status();
  Expected<std::vector<float>> output = peer->output();
  if (!output)
    return output.status();
  Contestant &dense = contestants.front();
  double error = worstError(dense.pattern.output(), *output, geometry.queryHeads, geometry.headDim);
  dense.row.peerError = error;
  return error <= peerBound ? Status::ok()
                            : wrongResult(dense.row, peer->name().c_str(), peerBound, error);
}

Status Round::measure() {
  size_t count = contestants.size() + (peer ? 1 : 0);
  for (int64_t repeat = 0; repeat < options.repeats; ++repeat) {
    say("repeat " + std::to_string(repeat + 1) + " of " + std::to_string(options.repeats));
    for (size_t turn = 0; turn < count; ++turn) {
      // Each repeat starts with another one, so that nobody always follows the same.
      size_t who = (turn + repeat) % count;
      if (peer && who == contestants.size()) {
        Expected<double> seconds = peer->run();
        if (!seconds)
          return seconds.status();
        peerSamples.seconds.push_back(*seconds);
        continue;
      }
      Contestant &contestant = contestants[who];
      Expected<Timing> timing = contestant.pattern.run(options.geometry.tokens);
      if (!timing)
        return timing.status();
      contestant.samples.seconds.push_back(contestant.isSelection ? timing->selectionSeconds
                                                                  : timing->seconds);
      contestant.selection.seconds.push_back(timing->selectionSeconds);
    }
  }
  return Status::ok();
}

std::vector<Row> Round::rows() {
  std::vector<Row> rows;
  const Samples &dense = contestants.front().samples;
  for (Contestant &contestant : contestants) {
    Row &row = contestant.row;
    row.seconds = contestant.samples.median();
    row.fastestSeconds = contestant.samples.fastest();
    row.selectionSeconds = contestant.selection.median();
    bool isDense = &contestant == &contestants.front();
    if (!isDense || peer) {
      const Samples &beside = isDense ? peerSamples : dense;
      row.beside = isDense ? peer->name() : "dense";
      row.besideSeconds = beside.median();
      row.besideFastestSeconds = beside.fastest();
      row.ratio = isDense ? row.besideSeconds / row.seconds : row.seconds / row.besideSeconds;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Expected<std::vector<Row>> Round::run() {
  struct Entry {
    const char *name;
    PatternRun what;
    Bar bar;
    bool isSelection = false;
  };
  Entry entries[] = {
      {"dense", {kCausal, {}, {}}, {kPeerSpeedBar, true}},
      {"block lists",
       {kTenthOfTheBlocks, {{"blocks", tenthOfTheBlocks(options.geometry)}}, {}},
       {kListsBar, false}},
      {"flash_prefill selection",
       {kFlashPrefill, {}, {{"alpha", 1.0}, {"sink", 0}, {"window", 1}}},
       {kFlashPrefillBar, false},
       true},
      {"peak selection", {kPeak, {}, {{"mass", 0.125}, {"window", 1}}}, {kPeakBar, false}, true}};
  for (Entry &entry : entries)
    if (Status status = add(entry.name, std::move(entry.what), entry.bar, entry.isSelection);
        !status)
      return status;
  if (Status status = check(); !status)
    return status;
  if (Status status = measure(); !status)
    return status;
  return rows();
}

double loadAverage() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

} // namespace

Expected<SuiteResult> runCpuSuite(const CpuSuiteOptions &options) {
  SuiteResult result;
  result.geometry = options.geometry;
  result.repeats = options.repeats;
  result.loadBefore = loadAverage();
  Expected<ThreadPool> pool = ThreadPool::create(options.threads);
  if (!pool)
    return pool.status();
  result.threads = pool->threads();
  std::unique_ptr<Peer> peer;
  if (options.torch) {
    Expected<std::unique_ptr<Peer>> started = Peer::torch(options.python, result.threads);
    if (!started)
      return started.status();
    peer = *std::move(started);
    result.peer = peer->name();
    result.peerVersion = peer->version();
    result.peerKernel = peer->kernel();
  }
  for (DType dtype : {DType::F32, DType::BF16}) {
    Expected<std::vector<Row>> rows = Round(options, dtype, *pool, peer.get()).run();
    if (!rows)
      return rows.status();
    for (Row &row : *rows)
      result.rows.push_back(std::move(row));
  }
  result.loadAfter = loadAverage();
  return result;
}

} // namespace skim::bench
