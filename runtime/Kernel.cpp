#include <skim/Kernel.h>

#include "runtime/InputBinding.h"
#include "runtime/LaunchPlan.h"
#include "runtime/OperandBinding.h"
#include "runtime/OutOfRange.h"
#include "runtime/ParameterBinding.h"
#include "runtime/RunChecks.h"
#include "runtime/TensorCheck.h"
#include "runtime/WorkItems.h"
#include "runtime/WorkspaceLayout.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>

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

/// Writes the time of its life to an entry of `seconds`, where there is one.
class Stopwatch {
public:
  Stopwatch(std::span<double> seconds, size_t entry)
      : seconds_(seconds.empty() ? seconds : seconds.subspan(entry, 1)),
        start_(std::chrono::steady_clock::now()) {}
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;
  ~Stopwatch() {
    if (!seconds_.empty())
      seconds_[0] =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

private:
  std::span<double> seconds_;
  std::chrono::steady_clock::time_point start_;
};

void add(skim_statistics &sum, const skim_statistics &item) {
  sum.tiles_visited += item.tiles_visited;
  sum.tiles_masked += item.tiles_masked;
  sum.pairs_kept += item.pairs_kept;
  sum.rest_entries += item.rest_entries;
}

/// The workspace of one run, region by region.
struct Workspace {
  std::byte *start;
  const WorkspaceLayout &layout;

  template <typename T> T *at(int64_t offset) const {
    return reinterpret_cast<T *>(start + offset);
  }
};

void bindBuffers(const LaunchPlan &plan, const Workspace &workspace, skim_buffer *slots) {
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const BufferPlacement &placement = workspace.layout.placements[i];
    slots[i].data = workspace.start + placement.offset;
    std::copy(placement.extents.begin(), placement.extents.end(), slots[i].extents);
    std::copy(placement.strides.begin(), placement.strides.end(), slots[i].strides);
    if (plan.buffers[i].zeroed)
      std::memset(slots[i].data, 0, static_cast<size_t>(placement.bytes));
  }
}

void clearKept(const TensorView &kept, int64_t tokens) {
  for (int64_t head = 0; head < kept.shape[0]; ++head)
    for (int64_t token = 0; token < tokens; ++token)
      std::memset(static_cast<uint8_t *>(kept.data) + head * kept.strides[0] +
                      token * kept.strides[1],
                  0, static_cast<size_t>(kept.shape[2]));
}

/// What requests without rows are left with, and what follows the last position of the others.
void clearCompact(const TensorView &positions, const TensorView &counts) {
  const TensorView &shape = positions.isPresent() ? positions : counts;
  if (!shape.isPresent())
    return;
  for (int64_t request = 0; request < shape.shape[0]; ++request)
    for (int64_t head = 0; head < shape.shape[1]; ++head) {
      const auto at = [&](const TensorView &view) {
        return static_cast<int32_t *>(view.data) + request * view.strides[0] +
               head * view.strides[1];
      };
      if (positions.isPresent() && !positions.isEmpty())
        std::fill_n(at(positions), positions.shape[2], -1);
      if (counts.isPresent())
        *at(counts) = 0;
    }
}

Status stickyStatus(const LaunchPlan &plan, const BatchLengths &lengths,
                    const skim_kernel_args &args) {
  const int32_t bits = *args.status;
  if (bits == 0)
    return Status::ok();
  const std::string index = bits & SKIM_STATUS_INDEX_OUT_OF_RANGE
                                ? describeOutOfRange(plan, lengths, args.inputs)
                                : std::string();
  return {StatusCode::DataOutOfRange, describeStatusBits(bits, index)};
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
  if (options.threads < 0)
    return expectedButGot({"", "threads"}, "at least 0", std::to_string(options.threads));
  if (!options.kernelSeconds.empty() && options.kernelSeconds.size() != functions_.size())
    return expectedButGot({"", "kernel_seconds"},
                          "one entry for each of the " + std::to_string(functions_.size()) +
                              " kernels",
                          std::to_string(options.kernelSeconds.size()));
  if (!options.headStatistics.empty() &&
      std::ssize(options.headStatistics) != plan_->signature.queryHeads)
    return expectedButGot({"", "head_statistics"},
                          "one entry for each of the " +
                              std::to_string(plan_->signature.queryHeads) + " query heads",
                          std::to_string(options.headStatistics.size()));
  if (Status status = checkLayer(*plan_, operands.layer); !status)
    return status;
  const Expected<BatchLengths> lengths = bindLengths(operands, plan.shape_);
  if (!lengths)
    return lengths.status();

  const LengthBounds bounds = boundsOf(*lengths);
  skim_kernel_args args = {};
  args.abi_version = SKIM_ABI_VERSION;
  if (Status status = bindOperands(plan_->signature, operands, options.kept, bounds, args); !status)
    return status;
  const std::span<std::byte> used =
      workspaceMemory.first(static_cast<size_t>(plan.workspaceBytes()));
  if (Status status = checkAliasing(operands, options, used); !status)
    return status;

  const Workspace workspace{used.data(), *plan.layout_};
  const WorkspaceLayout &layout = *plan.layout_;
  auto *parameterSlots = workspace.at<skim_parameter>(layout.parameters);
  if (Status status = bindParameters(*plan_, parameters, parameterSlots,
                                     workspace.at<skim_scalar>(layout.scalars));
      !status)
    return status;
  auto *inputSlots = workspace.at<skim_buffer>(layout.inputs);
  if (Status status = bindInputs(*plan_, operands.inputs, bounds, inputSlots,
                                 workspace.at<int32_t>(layout.capacities));
      !status)
    return status;
  const ThreadPool *pool = options.pool;
  if (!pool && options.threads != 1) {
    const Expected<const ThreadPool *> shared = ThreadPool::shared();
    if (!shared)
      return shared.status();
    pool = *shared;
  }

  int64_t threads = options.threads;
  if (layout.workers > 0)
    threads = threads > 0 ? std::min(threads, layout.workers) : layout.workers;

  // Every argument is accepted: from here on the run completes.
  auto *bufferSlots = workspace.at<skim_buffer>(layout.buffers);
  bindBuffers(*plan_, workspace, bufferSlots);
  if (options.kept.isPresent())
    clearKept(options.kept, lengths->cuSeqlensQ[lengths->requests]);
  clearCompact(operands.compactPositions, operands.compactCounts);
  args.parameters = parameterSlots;
  args.inputs = inputSlots;
  args.buffers = bufferSlots;
  args.status = workspace.at<int32_t>(layout.status);
  *args.status = 0;
  const bool counts = options.statistics || !options.headStatistics.empty();
  args.statistics = counts ? workspace.at<skim_statistics>(layout.statistics) : nullptr;

  auto *order = workspace.at<int32_t>(layout.requestOrder);
  const std::span<const int32_t> ordered(order,
                                         static_cast<size_t>(orderRequests(*lengths, order)));
  auto *items = workspace.at<skim_work_item>(layout.workItems);
  skim_statistics sum = {};
  std::fill(options.headStatistics.begin(), options.headStatistics.end(), skim_statistics{});
  for (size_t i = 0; i < functions_.size(); ++i) {
    const Stopwatch stopwatch(options.kernelSeconds, i);
    const int64_t count =
        enumerateWorkItems(plan_->kernels[i], plan_->signature, *lengths, ordered, items);
    if (count == 0)
      continue;
    if (args.statistics)
      std::fill_n(args.statistics, count, skim_statistics{});
    Launch launch{functions_[i], &args, items};
    if (pool)
      pool->forEachChunk(count, threads, runChunk, &launch);
    else
      runChunk(&launch, /*worker=*/0, 0, count);
    const bool ofOneHead =
        plan_->kernels[i].head == HeadAxis::QueryHead && !options.headStatistics.empty();
    for (int64_t item = 0; counts && item < count; ++item) {
      add(sum, args.statistics[item]);
      if (ofOneHead)
        add(options.headStatistics[items[item].head], args.statistics[item]);
    }
  }
  if (options.statistics)
    *options.statistics = sum;
  return stickyStatus(*plan_, *lengths, args);
}

} // namespace skim
