#include "runtime/BoundRun.h"

#include "runtime/InputBinding.h"
#include "runtime/OperandBinding.h"
#include "runtime/OutOfRange.h"
#include "runtime/ParameterBinding.h"
#include "runtime/RunChecks.h"
#include "runtime/TensorCheck.h"

#include <algorithm>
#include <cstring>

namespace skim {

namespace {

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

} // namespace

Status bindRun(const LaunchPlan &plan, const BatchShape &shape, const WorkspaceLayout &layout,
               const Operands &operands, const Parameters &parameters,
               std::span<std::byte> workspaceMemory, const RunOptions &options, BoundRun &bound) {
  if (options.threads < 0)
    return expectedButGot({"", "threads"}, "at least 0", std::to_string(options.threads));
  if (!options.kernelSeconds.empty() && options.kernelSeconds.size() != plan.kernels.size())
    return expectedButGot({"", "kernel_seconds"},
                          "one entry for each of the " + std::to_string(plan.kernels.size()) +
                              " kernels",
                          std::to_string(options.kernelSeconds.size()));
  if (!options.headStatistics.empty() &&
      std::ssize(options.headStatistics) != plan.signature.queryHeads)
    return expectedButGot({"", "head_statistics"},
                          "one entry for each of the " + std::to_string(plan.signature.queryHeads) +
                              " query heads",
                          std::to_string(options.headStatistics.size()));
  if (Status status = checkLayer(plan, operands.layer); !status)
    return status;
  const Expected<BatchLengths> lengths = bindLengths(operands, shape);
  if (!lengths)
    return lengths.status();

  const LengthBounds bounds = boundsOf(*lengths);
  skim_kernel_args &args = bound.args;
  args = {};
  args.abi_version = SKIM_ABI_VERSION;
  if (Status status = bindOperands(plan.signature, operands, options.kept, bounds, args); !status)
    return status;
  const std::span<std::byte> used = workspaceMemory.first(static_cast<size_t>(layout.bytes));
  if (Status status = checkAliasing(operands, options, used); !status)
    return status;

  const Workspace workspace{used.data(), layout};
  auto *parameterSlots = workspace.at<skim_parameter>(layout.parameters);
  if (Status status = bindParameters(plan, parameters, parameterSlots,
                                     workspace.at<skim_scalar>(layout.scalars));
      !status)
    return status;
  auto *inputSlots = workspace.at<skim_buffer>(layout.inputs);
  if (Status status = bindInputs(plan, operands.inputs, bounds, inputSlots,
                                 workspace.at<int32_t>(layout.capacities));
      !status)
    return status;
  bound.pool = options.pool;
  if (!bound.pool && options.threads != 1) {
    const Expected<const ThreadPool *> shared = ThreadPool::shared();
    if (!shared)
      return shared.status();
    bound.pool = *shared;
  }

  bound.threads = options.threads;
  if (layout.workers > 0)
    bound.threads =
        options.threads > 0 ? std::min(options.threads, layout.workers) : layout.workers;

  // Every argument is accepted: from here on the run completes.
  auto *bufferSlots = workspace.at<skim_buffer>(layout.buffers);
  bindBuffers(plan, workspace, bufferSlots);
  if (options.kept.isPresent())
    clearKept(options.kept, lengths->cuSeqlensQ[lengths->requests]);
  clearCompact(operands.compactPositions, operands.compactCounts);
  args.parameters = parameterSlots;
  args.inputs = inputSlots;
  args.buffers = bufferSlots;
  args.status = workspace.at<int32_t>(layout.status);
  *args.status = 0;
  const bool counts = options.statistics || options.metrics || !options.headStatistics.empty();
  args.statistics = counts ? workspace.at<skim_statistics>(layout.statistics) : nullptr;

  bound.lengths = *lengths;
  auto *order = workspace.at<int32_t>(layout.requestOrder);
  bound.order = {order, static_cast<size_t>(orderRequests(*lengths, order))};
  bound.items = workspace.at<skim_work_item>(layout.workItems);
  return Status::ok();
}

Status stickyStatus(const LaunchPlan &plan, const BoundRun &bound) {
  const int32_t bits = *bound.args.status;
  if (bits == 0)
    return Status::ok();
  const std::string index = bits & SKIM_STATUS_INDEX_OUT_OF_RANGE
                                ? describeOutOfRange(plan, bound.lengths, bound.args.inputs)
                                : std::string();
  return {StatusCode::DataOutOfRange, describeStatusBits(bits, index)};
}

} // namespace skim
