#include "runtime/WorkspaceLayout.h"

#include "runtime/CheckedMath.h"
#include "runtime/WorkItems.h"
#include "runtime/cuda/device/SetupArguments.h"

#include <skim/Kernel.h>
#include <skim/abi.h>

#include <algorithm>
#include <limits>

namespace skim {

namespace {

/// Hands out regions one after another.
class Allocator {
public:
  /// Offset of a new region; meaningless once `bytes()` is invalid.
  int64_t allocate(CheckedSize count, int64_t elementSize) {
    constexpr int64_t alignment = Plan::kWorkspaceAlignment;
    CheckedSize start = bytes_ + (alignment - 1);
    if (start.isValid())
      start = start.value() / alignment * alignment;
    bytes_ = start + count * elementSize;
    return start.value();
  }
  CheckedSize bytes() const { return bytes_; }

private:
  CheckedSize bytes_ = 0;
};

ShapeValues shapeValues(const Signature &signature, const BatchShape &shape) {
  ShapeValues values{};
  const auto set = [&](ShapeSymbol symbol, int64_t value) {
    values[static_cast<size_t>(symbol)] = value;
  };
  set(ShapeSymbol::Requests, shape.requests);
  set(ShapeSymbol::MaxQueryLength, shape.maxQueryLength);
  set(ShapeSymbol::MaxKvLength, shape.maxKvLength);
  set(ShapeSymbol::QueryHeads, signature.queryHeads);
  set(ShapeSymbol::KvHeads, signature.kvHeads);
  return values;
}

Status bufferError(const BufferDescription &buffer, const std::string &what) {
  return {StatusCode::InvalidArgument, "buffer '" + buffer.name + "': " + what};
}

Expected<BufferPlacement> placeBuffer(const BufferDescription &buffer, const ShapeValues &values,
                                      int64_t workers, Allocator &allocator) {
  BufferPlacement placement;
  CheckedSize elements = buffer.cellElements;
  for (int64_t axis = 3; axis >= 0; --axis) {
    const bool ofWorkers = buffer.perWorker && axis == 0;
    const Expected<int64_t> extent =
        evaluate(ofWorkers ? ShapeExpr(workers) : buffer.extents[axis], values);
    if (!extent)
      return bufferError(buffer, extent.status().message());
    if (*extent < 0)
      return bufferError(buffer, "expected extents of at least 0 but got " +
                                     std::to_string(*extent) + " on axis " + std::to_string(axis));
    placement.extents[axis] = *extent;
    placement.strides[axis] = *extent == 1 ? 0 : elements.value();
    elements = elements * *extent;
  }
  const CheckedSize bytes = elements * dtypeSize(buffer.element);
  placement.offset = allocator.allocate(elements, dtypeSize(buffer.element));
  if (!allocator.bytes().isValid())
    return bufferError(buffer, "its size overflows 64 bits");
  placement.bytes = bytes.value();
  return placement;
}

Expected<int64_t> countItems(const KernelDescription &kernel, const Signature &signature,
                             const BatchShape &shape) {
  const CheckedSize count = maxWorkItems(kernel, signature, shape);
  if (!count.isValid())
    return Status(StatusCode::InvalidArgument,
                  "kernel '" + kernel.symbol + "': the number of its work items overflows 64 bits");
  return count.value();
}

/// Whether another kernel takes its items in the order of this one's counts.
bool countsVisits(const LaunchPlan &plan, size_t kernel) {
  return std::ranges::any_of(plan.kernels, [&](const KernelDescription &other) {
    return other.cuda && other.cuda->orderedBy == static_cast<int64_t>(kernel);
  });
}

/// The tables of slots and the values that they point at.
void placeTables(const LaunchPlan &plan, WorkspaceLayout &layout, Allocator &allocator) {
  CheckedSize scalars = 0;
  for (const ParameterDescription &parameter : plan.parameters)
    scalars = scalars + scalarCount(parameter, plan.signature);
  const auto count = [](const auto &list) { return static_cast<int64_t>(list.size()); };
  layout.parameters = allocator.allocate(count(plan.parameters), sizeof(skim_parameter));
  layout.scalars = allocator.allocate(scalars, sizeof(skim_scalar));
  layout.inputs = allocator.allocate(count(plan.inputs), sizeof(skim_buffer));
  layout.capacities = allocator.allocate(count(plan.inputs), sizeof(int32_t));
  layout.buffers = allocator.allocate(count(plan.buffers), sizeof(skim_buffer));
}

/// The buffers of the plan, the last of the workspace.
Status placeBuffers(const LaunchPlan &plan, const BatchShape &shape, int64_t workers,
                    WorkspaceLayout &layout, Allocator &allocator) {
  const ShapeValues values = shapeValues(plan.signature, shape);
  for (const BufferDescription &buffer : plan.buffers) {
    Expected<BufferPlacement> placement = placeBuffer(buffer, values, workers, allocator);
    if (buffer.perWorker)
      layout.workers = workers;
    if (!placement)
      return placement.status();
    layout.placements.push_back(*placement);
  }
  if (!allocator.bytes().isValid())
    return {StatusCode::InvalidArgument, "the size of the workspace overflows 64 bits"};
  layout.bytes = allocator.bytes().value();
  return Status::ok();
}

} // namespace

int64_t scalarCount(const ParameterDescription &parameter, const Signature &signature) {
  return parameter.perHead ? signature.queryHeads : 1;
}

Expected<WorkspaceLayout> layOutWorkspace(const LaunchPlan &plan, const BatchShape &shape,
                                          int64_t workers) {
  WorkspaceLayout layout;
  Allocator allocator;
  int64_t items = 0;
  for (const KernelDescription &kernel : plan.kernels) {
    const Expected<int64_t> count = countItems(kernel, plan.signature, shape);
    if (!count)
      return count.status();
    items = std::max(items, *count);
  }
  layout.status = allocator.allocate(1, sizeof(int32_t));
  placeTables(plan, layout, allocator);
  layout.requestOrder = allocator.allocate(shape.requests, sizeof(int32_t));
  layout.workItems = allocator.allocate(items, sizeof(skim_work_item));
  layout.statistics = allocator.allocate(items, sizeof(skim_statistics));
  if (Status status = placeBuffers(plan, shape, workers, layout, allocator); !status)
    return status;
  return layout;
}

Expected<WorkspaceLayout> layOutDeviceWorkspace(const LaunchPlan &plan, const BatchShape &shape,
                                                int64_t workers) {
  WorkspaceLayout layout;
  Allocator allocator;
  layout.arguments = allocator.allocate(1, sizeof(skim_kernel_args));
  placeTables(plan, layout, allocator);
  layout.pageChecks = allocator.allocate(shape.requests, SKIM_PAGE_CHECKS);
  layout.tableBytes = layout.pageChecks; // the next region's start: whole words
  for (const KernelDescription &kernel : plan.kernels) {
    const Expected<int64_t> count = countItems(kernel, plan.signature, shape);
    if (!count)
      return count.status();
    if (*count > std::numeric_limits<int32_t>::max())
      return Status(StatusCode::Unsupported,
                    "kernel '" + kernel.symbol +
                        "': expected at most 2^31 - 1 work items on a device but got " +
                        std::to_string(*count) + " for this shape");
    KernelRegion region;
    region.mostItems = *count;
    region.itemCount = allocator.allocate(1, sizeof(int32_t));
    region.nextItem = allocator.allocate(1, sizeof(int32_t));
    region.items = allocator.allocate(*count, sizeof(skim_work_item));
    if (countsVisits(plan, layout.kernels.size())) {
      region.mostGroups =
          shape.requests * (kernel.head == HeadAxis::None ? 1 : plan.signature.kvHeads);
      region.groups = allocator.allocate(region.mostGroups, sizeof(skim_item_group));
    }
    layout.kernels.push_back(region);
  }
  if (Status status = placeBuffers(plan, shape, workers, layout, allocator); !status)
    return status;
  return layout;
}

} // namespace skim
