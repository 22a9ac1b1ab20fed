// Compiles a job for the CPU and runs it there.
#include "tools/skim/Failure.h"
#include "tools/skim/Job.h"
#include "tools/skim/LaunchArguments.h"
#include "tools/skim/Progress.h"

#include "runtime/LaunchPlan.h"
#include <skim/Compiler.h>

#include <skim/Kernel.h>
#include <skim/QualityProbe.h>
#include <skim/WorkspaceMemory.h>

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <numeric>

namespace skim::tool {
namespace {

/// Compiles what a job is probed against; none where it is not probed.
llvm::Expected<std::optional<QualityProbe>> probeFor(const Job &job) {
  if (job.probeRate == 0)
    return std::nullopt;
  llvm::Expected<CpuKernel> dense = compileForCpu(job, Variant::Dense);
  if (!dense)
    return dense.takeError();
  Expected<QualityProbe> probe =
      QualityProbe::create(std::move(dense->kernel), {.rate = job.probeRate});
  if (!probe)
    return failureOf(probe.status());
  return *std::move(probe);
}

/// The positions that a run gathers, one row for each of the heads of the launch plan.
class GatheredRows {
public:
  GatheredRows(const HostBatch &batch, HeadAxis axis)
      : batch(batch), heads(axis == HeadAxis::None     ? 1
                            : axis == HeadAxis::KvHead ? batch.kvHeads
                                                       : batch.queryHeads),
        rows{std::vector<int32_t>(batch.requests() * heads * batch.longestKv()),
             std::vector<int32_t>(batch.requests() * heads)} {}

  void addTo(Operands &operands) {
    operands.compactPositions = TensorView::contiguous(
        rows.positions.data(), DType::I32, {batch.requests(), heads, batch.longestKv()});
    operands.compactCounts =
        TensorView::contiguous(rows.counts.data(), DType::I32, {batch.requests(), heads});
  }

  /// The same for each query head.
  GatheredTokens forQueryHeads() const {
    GatheredTokens gathered;
    for (int64_t request = 0; request < batch.requests(); ++request)
      for (int64_t head = 0; head < batch.queryHeads; ++head) {
        int64_t row = request * heads + head * heads / batch.queryHeads;
        auto first = rows.positions.begin() + row * batch.longestKv();
        gathered.positions.insert(gathered.positions.end(), first, first + batch.longestKv());
        gathered.counts.push_back(rows.counts[row]);
      }
    return gathered;
  }

private:
  const HostBatch &batch;
  int64_t heads;
  GatheredTokens rows;
};

} // namespace

llvm::Expected<CpuKernel> compileForCpu(const Job &job, Variant variant) {
  auto start = std::chrono::steady_clock::now();
  std::string warnings;
  Progress progress("compiling " + workName(job, variant));
  Expected<Kernel> kernel = variant == Variant::Asked && !job.bundle.empty()
                                ? loadFromBundle(job, /*target=*/"")
                                : Compiler({.metrics = job.compileMetrics})
                                      .compile(job.source.variant(variant), compileOptions(job),
                                               variant == Variant::Asked ? &warnings : nullptr);
  if (!kernel)
    return failureOf(kernel.status());
  messages() << warnings;
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return CpuKernel{std::move(*kernel), seconds.count()};
}

llvm::Expected<Outcome> runOnCpu(const Job &job, Variant variant) {
  llvm::Expected<CpuKernel> compiled = compileForCpu(job, variant);
  if (!compiled)
    return compiled.takeError();
  return runOnCpu(job, *compiled);
}

llvm::Expected<Outcome> runOnCpu(const Job &job, const CpuKernel &compiled) {
  const Kernel &kernel = compiled.kernel;
  HostBatch &batch = job.batch;
  Outcome outcome;
  outcome.compileSeconds = compiled.compileSeconds;

  Operands operands = batch.operands();
  operands.layer = job.layer;
  if (llvm::Error error = addInputs(kernel.launchPlan(), batch, operands))
    return error;
  outcome.out.resize(batch.queryTokens() * batch.queryHeads * batch.valueDim);
  outcome.lse.resize(batch.queryHeads * batch.queryTokens());
  operands.out = TensorView::contiguous(outcome.out.data(), DType::F32,
                                        {batch.queryTokens(), batch.queryHeads, batch.valueDim});
  operands.lse = TensorView::contiguous(outcome.lse.data(), DType::F32,
                                        {batch.queryHeads, batch.queryTokens()});
  RunOptions options;
  options.threads = job.threads;
  if (job.wantKept) {
    llvm::Expected<int64_t> bytes = keptBytes(batch);
    if (!bytes)
      return bytes.takeError();
    outcome.kept.resize(*bytes);
    options.kept = TensorView::contiguous(
        outcome.kept.data(), DType::U8, {batch.queryHeads, batch.queryTokens(), batch.longestKv()});
  }

  std::optional<GatheredRows> gathered;
  if (std::optional<HeadAxis> heads = kernel.launchPlan().signature.compactHeads;
      heads && job.wantGathered)
    gathered.emplace(batch, *heads).addTo(operands);

  Expected<BatchShape> shape = BatchShape::of(operands.cuSeqlensQ, operands.kvLens);
  if (!shape)
    return failureOf(shape.status());
  Expected<Plan> plan = kernel.plan(*shape);
  if (!plan)
    return failureOf(plan.status());
  WorkspaceMemory workspace(plan->workspaceBytes());
  Parameters parameters = parametersFor(kernel.launchPlan(), job);
  std::vector<double> kernelSeconds(kernel.launchPlan().kernels.size());
  options.kernelSeconds = kernelSeconds;
  std::vector<skim_statistics> heads(batch.queryHeads);
  options.headStatistics = heads;
  options.metrics = job.metrics;
  llvm::Expected<std::optional<QualityProbe>> probe = probeFor(job);
  if (!probe)
    return probe.takeError();
  std::vector<double> selection;
  std::vector<double> attention;
  Progress progress("running " + kernel.launchPlan().pattern);
  for (int64_t i = 0; i < job.repeat; ++i) {
    progress.show("running " + llvm::Twine(kernel.launchPlan().pattern) + ", " +
                  llvm::Twine(i + 1) + " of " + llvm::Twine(job.repeat));
    skim_statistics statistics = {};
    options.statistics = &statistics;
    Status status = kernel.run(*plan, operands, parameters, workspace.span(), options);
    if (!status && status.code() != StatusCode::DataOutOfRange)
      return failureOf(status);
    outcome.problem = status.message();
    if (*probe) {
      Expected<QualitySample> sample = (*probe)->measure(
          operands, parameters,
          {.seed = static_cast<uint64_t>(i), .threads = job.threads, .metrics = job.metrics});
      if (!sample)
        return failureOf(sample.status());
    }
    outcome.keptPairs = statistics.pairs_kept;
    outcome.restEntries = statistics.rest_entries;
    outcome.tiles = {statistics.tiles_visited, statistics.tiles_masked};
    // The attention is the last kernel; what comes before decides what it visits or what is
    // gathered.
    attention.push_back(kernelSeconds.back());
    selection.push_back(std::accumulate(kernelSeconds.begin(), kernelSeconds.end() - 1, 0.0));
  }
  for (const skim_statistics &head : heads)
    outcome.keptPairsOfHeads.push_back(head.pairs_kept);
  if (gathered)
    outcome.gathered = gathered->forQueryHeads();
  outcome.selectionSeconds = median(selection);
  outcome.attentionSeconds = median(attention);
  return outcome;
}

} // namespace skim::tool
