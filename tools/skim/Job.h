// One run of a pattern over a batch, on any device, and what came of it.
#ifndef SKIM_TOOLS_SKIM_JOB_H
#define SKIM_TOOLS_SKIM_JOB_H

#include "tools/skim/HostBatch.h"
#include "tools/skim/PatternSource.h"
#include "tools/skim/Settings.h"

#include <skim/Kernel.h>
#include <skim/Metrics.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skim::tool {

enum class Device { Cpu, Reference, Cuda };
/// As `--device` names it.
llvm::StringRef deviceName(Device device);

/// What `skim run` and `skim show` have in common: what to run, and where.
struct Prepared {
  std::unique_ptr<PatternSource> source;
  std::map<std::string, ParameterSetting> settings;
  Device device = Device::Cpu;
  int64_t layer = 0;
};

/// The device asked for. Fails with EnvironmentFailed for one that is not here.
llvm::Expected<Device> deviceOf(const Options &options);
/// Fails as `deviceOf` does, among others.
llvm::Expected<Prepared> prepare(const Options &options);

struct Job {
  const PatternSource &source;
  HostBatch &batch;
  const std::map<std::string, ParameterSetting> &settings;
  Device device = Device::Cpu;
  int64_t layer = 0;
  int64_t threads = 0; ///< 0: one for each core.
  int64_t repeat = 1;
  bool wantKept = false;
  bool wantGathered = false;
  /// Where not empty, the file that the kernel of the pattern as asked for is taken from.
  std::string bundle = {};
  /// Where not null, counts the runs on the CPU.
  RunMetrics *metrics = nullptr;
  /// Where not null, counts what is compiled and what the cache of kernels does.
  Metrics *compileMetrics = nullptr;
  /// With `metrics`: the share of rows that is run dense beside each run.
  double probeRate = 0;
};

/// What the pattern of a job is compiled for.
CompileOptions compileOptions(const Job &job);

/// An input that neither file holds.
llvm::Error missingInput(llvm::StringRef name);

/// The upper one of an even number of values, of which there is at least one.
double median(std::vector<double> values);

struct TileCounts {
  int64_t visited = 0; ///< Key tiles whose product was computed.
  int64_t masked = 0;  ///< Those among them that needed a mask.
};

/// What the pattern's `compact` gathers.
struct GatheredTokens {
  std::vector<int32_t> positions; ///< [requests, query heads, longest kv_len], padded with -1
  std::vector<int32_t> counts;    ///< [requests, query heads]
};

struct Outcome {
  std::vector<float> out; ///< [query tokens, query heads, value dim]
  std::vector<float> lse; ///< [query heads, query tokens]
  /// [query heads, query tokens, longest kv_len] bytes, where the job wants it.
  std::vector<uint8_t> kept;
  /// Where the job wants it and the pattern has `compact`.
  std::optional<GatheredTokens> gathered;
  /// Whether the device counted what follows: pairs and rest entries.
  bool counted = true;
  int64_t keptPairs = 0;
  std::vector<int64_t> keptPairsOfHeads;
  int64_t restEntries = 0;
  /// Of a device that walks tiles.
  std::optional<TileCounts> tiles;
  double compileSeconds = 0;
  double selectionSeconds = 0; ///< Median over the repeats, as the next.
  double attentionSeconds = 0;
  /// Not empty when the run finished but met values out of range.
  std::string problem;
};

/// Of a job's pattern, for those who watch: its name, or `dense attention`.
llvm::StringRef workName(const Job &job, Variant variant);
llvm::Expected<Outcome> run(const Job &job, Variant variant);
llvm::Expected<Outcome> runOnCpu(const Job &job, Variant variant);

/// A variant of a job's pattern, compiled for the heads and the element type of its batch.
struct CpuKernel {
  Kernel kernel;
  double compileSeconds;
};
llvm::Expected<CpuKernel> compileForCpu(const Job &job, Variant variant);
/// For many runs of one kernel, over batches with the heads and the element type of the first.
llvm::Expected<Outcome> runOnCpu(const Job &job, const CpuKernel &compiled);

llvm::Expected<Outcome> runOnCuda(const Job &job, Variant variant);

llvm::Expected<Outcome> runOnReference(const Job &job, Variant variant);

/// Bytes of a kept relation; fails where they are more than the tool will hold.
llvm::Expected<int64_t> keptBytes(int64_t queryHeads, int64_t queryTokens, int64_t longestKv);
llvm::Expected<int64_t> keptBytes(const HostBatch &batch);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_JOB_H
