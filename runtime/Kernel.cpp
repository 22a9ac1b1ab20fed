#include <skim/Kernel.h>

#include "runtime/BoundRun.h"
#include "runtime/CheckedMath.h"
#include "runtime/LaunchPlan.h"
#include "runtime/RunChecks.h"
#include "runtime/TensorCheck.h"
#include "runtime/WorkItems.h"
#include "runtime/WorkspaceLayout.h"

#include <skim/Metrics.h>

#include <algorithm>
#include <chrono>

namespace skim {

namespace {

/// One kernel at work, as the threads of the pool see it.
struct Launch {
  skim_cpu_kernel function;
  const skim_kernel_args *args;
  const skim_work_item *items;
};

void runChunk(void *context, int64_t worker, int64_t first, int64_t count) {
  const auto &launch = *static_cast<const Launch *>(context);
  launch.function(launch.args, launch.items, first, count, worker);
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void add(skim_statistics &sum, const skim_statistics &item) {
  sum.tiles_visited += item.tiles_visited;
  sum.tiles_masked += item.tiles_masked;
  sum.pairs_kept += item.pairs_kept;
  sum.rest_entries += item.rest_entries;
}

/// Runs all work items of one kernel. Returns the sum of their statistics, where they count.
skim_statistics runKernel(skim_cpu_kernel function, const KernelDescription &kernel,
                          const Signature &signature, const BoundRun &bound,
                          const RunOptions &options) {
  const skim_kernel_args &args = bound.args;
  skim_statistics sum = {};
  const int64_t count =
      enumerateWorkItems(kernel, signature, bound.lengths, bound.order, bound.items);
  if (count == 0)
    return sum;
  if (args.statistics)
    std::fill_n(args.statistics, count, skim_statistics{});
  Launch launch{function, &args, bound.items};
  if (bound.pool)
    bound.pool->forEachChunk(count, bound.threads, runChunk, &launch);
  else
    runChunk(&launch, /*worker=*/0, 0, count);
  const bool ofOneHead = kernel.head == HeadAxis::QueryHead && !options.headStatistics.empty();
  for (int64_t item = 0; args.statistics && item < count; ++item) {
    add(sum, args.statistics[item]);
    if (ofOneHead)
      add(options.headStatistics[bound.items[item].head], args.statistics[item]);
  }
  return sum;
}

/// Pages that hold the keys of one tile, at most; 0 where keys are not paged.
int64_t pagesOfTile(int64_t keyTile, const skim_kernel_args &args) {
  return args.page_size > 0 ? ceilDiv(keyTile, args.page_size) : 0;
}

void addLengths(RunRecord &record, const Signature &signature, const BoundRun &bound) {
  for (const int32_t request : bound.order) {
    const int64_t rows = bound.lengths.queryLength(request);
    const int64_t keys = bound.lengths.kvLength(request);
    ++record.requests;
    record.queryTokens += rows;
    record.keyTokens += keys;
    // Causal row i sees keys - rows + i + 1 keys; with more rows than keys the first see none.
    const int64_t seeing = std::min(rows, keys);
    record.visiblePairs +=
        signature.queryHeads *
        (signature.noncausal ? rows * keys : seeing * keys - seeing * (seeing - 1) / 2);
  }
}

/// Threads of the process's pool, or one where it cannot start.
int64_t sharedThreads() {
  const Expected<const ThreadPool *> shared = ThreadPool::shared();
  return shared ? (*shared)->threads() : 1;
}

} // namespace

int64_t Plan::workspaceBytes() const { return layout_->bytes; }

Expected<Kernel> Kernel::create(LaunchPlan plan, std::vector<skim_cpu_kernel> functions,
                                std::shared_ptr<void> keepAlive) {
  if (Status status = verify(plan); !status)
    return status;
  if (functions.size() != plan.kernels.size())
    return expectedButGot({"", "functions"},
                          std::to_string(plan.kernels.size()) + " entry points, one a kernel",
                          std::to_string(functions.size()));
  for (size_t i = 0; i < functions.size(); ++i)
    if (!functions[i])
      return expectedButGot({"", "functions"},
                            "the entry point of kernel '" + plan.kernels[i].symbol + "'",
                            "a null pointer");
  Kernel kernel;
  kernel.plan_ = std::make_shared<const LaunchPlan>(std::move(plan));
  kernel.functions_ = std::move(functions);
  kernel.keepAlive_ = std::move(keepAlive);
  return kernel;
}

Expected<Plan> Kernel::plan(const BatchShape &shape, int64_t workers) const {
  if (workers < 0 || workers > ThreadPool::kMaxThreads)
    return expectedButGot({"", "workers"}, "0 to " + std::to_string(ThreadPool::kMaxThreads),
                          std::to_string(workers));
  if (Status status = checkShape(shape); !status)
    return status;
  if (cuda_)
    return planOnCuda(shape);

  const bool limited = std::any_of(plan_->buffers.begin(), plan_->buffers.end(),
                                   [](const auto &buffer) { return buffer.perWorker; });
  if (limited && workers == 0)
    workers = sharedThreads();
  Expected<WorkspaceLayout> layout = layOutWorkspace(*plan_, shape, workers);
  if (!layout)
    return layout.status();
  Plan plan;
  plan.shape_ = shape;
  plan.launchPlan_ = plan_;
  plan.layout_ = std::make_shared<const WorkspaceLayout>(*std::move(layout));
  return plan;
}

Status Kernel::run(const Plan &plan, const Operands &operands, const Parameters &parameters,
                   std::span<std::byte> workspaceMemory, const RunOptions &options) const {
  if (plan.launchPlan_ != plan_)
    return expectedButGot({"", "plan"}, "a plan of this kernel", "one of another kernel");
  if (Status status = checkWorkspace(workspaceMemory, plan.workspaceBytes()); !status)
    return status;
  if (cuda_)
    return runOnCuda(plan, operands, parameters, workspaceMemory, options);
  BoundRun bound;
  if (Status status = bindRun(*plan_, plan.shape_, *plan.layout_, operands, parameters,
                              workspaceMemory, options, bound);
      !status)
    return status;
  skim_statistics sum = {};
  RunRecord record;
  std::fill(options.headStatistics.begin(), options.headStatistics.end(), skim_statistics{});
  for (size_t i = 0; i < functions_.size(); ++i) {
    const auto start = std::chrono::steady_clock::now();
    const skim_statistics ofKernel =
        runKernel(functions_[i], plan_->kernels[i], plan_->signature, bound, options);
    add(sum, ofKernel);
    record.pagesVisited +=
        ofKernel.tiles_visited * pagesOfTile(plan_->kernels[i].keyTile, bound.args);
    const double seconds = secondsSince(start);
    if (!options.kernelSeconds.empty())
      options.kernelSeconds[i] = seconds;
    // The attention is the last kernel; what comes before decides what it visits.
    (i + 1 == functions_.size() ? record.attentionSeconds : record.selectionSeconds) += seconds;
  }
  if (options.statistics)
    *options.statistics = sum;
  if (options.metrics) {
    addLengths(record, plan_->signature, bound);
    record.keptPairs = sum.pairs_kept;
    record.tilesVisited = sum.tiles_visited;
    record.tilesMasked = sum.tiles_masked;
    record.restEntries = sum.rest_entries;
    record.outOfRange = *bound.args.status != 0;
    options.metrics->record(record);
  }
  return stickyStatus(*plan_, bound);
}

} // namespace skim
