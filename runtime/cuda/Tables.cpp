#include "runtime/cuda/Tables.h"

#include "runtime/InputBinding.h"
#include "runtime/ParameterBinding.h"

#include <algorithm>
#include <cstring>

namespace skim::cuda {

namespace {

template <typename T> T *at(std::byte *start, int64_t offset) {
  return reinterpret_cast<T *>(start + offset);
}

} // namespace

Tables::Tables(const WorkspaceLayout &layout)
    : layout_(layout), size_(static_cast<size_t>(layout.tableBytes)) {
  if (size_ > sizeof(small_))
    large_ = std::make_unique<std::byte[]>(size_);
  std::memset(memory(), 0, size_);
}

Status Tables::fill(const LaunchPlan &plan, const Operands &operands, const Parameters &parameters,
                    const LengthBounds &bounds, std::byte *workspace, int32_t *status,
                    skim_kernel_args args) {
  std::byte *const host = memory();
  auto *parameterSlots = at<skim_parameter>(host, layout_.parameters);
  auto *scalars = at<skim_scalar>(host, layout_.scalars);
  if (Status bound = bindParameters(plan, parameters, parameterSlots, scalars); !bound)
    return bound;
  for (size_t i = 0; i < plan.parameters.size(); ++i)
    parameterSlots[i].values =
        at<skim_scalar>(workspace, layout_.scalars) + (parameterSlots[i].values - scalars);

  auto *inputSlots = at<skim_buffer>(host, layout_.inputs);
  auto *capacities = at<int32_t>(host, layout_.capacities);
  if (Status bound = bindInputs(plan, operands.inputs, bounds, inputSlots, capacities); !bound)
    return bound;
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    if (inputSlots[i].data == &capacities[i])
      inputSlots[i].data = at<int32_t>(workspace, layout_.capacities) + i;
  inputs_ = {inputSlots, plan.inputs.size()};

  auto *bufferSlots = at<skim_buffer>(host, layout_.buffers);
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const BufferPlacement &placement = layout_.placements[i];
    bufferSlots[i].data = workspace + placement.offset;
    std::copy(placement.extents.begin(), placement.extents.end(), bufferSlots[i].extents);
    std::copy(placement.strides.begin(), placement.strides.end(), bufferSlots[i].strides);
  }

  args.parameters = at<skim_parameter>(workspace, layout_.parameters);
  args.inputs = at<skim_buffer>(workspace, layout_.inputs);
  args.buffers = at<skim_buffer>(workspace, layout_.buffers);
  args.status = status;
  std::memcpy(host + layout_.arguments, &args, sizeof(args));
  return Status::ok();
}

} // namespace skim::cuda
