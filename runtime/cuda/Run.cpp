// The members of `Kernel` that belong to CUDA devices.
#include <skim/Kernel.h>

#include "runtime/OutOfRange.h"
#include "runtime/RunChecks.h"
#include "runtime/TensorCheck.h"
#include "runtime/WorkspaceLayout.h"
#include "runtime/cuda/Launch.h"
#include "runtime/cuda/Program.h"

#include <algorithm>
#include <string>

namespace skim {

namespace {

using namespace skim::cuda;

constexpr const char *kOnCuda = "nothing (a run on a CUDA device is not waited for)";

Status checkOptions(const RunOptions &options) {
  if (options.threads != 0)
    return expectedButGot({"", "threads"}, "0 (a CUDA device has no threads of the host)",
                          std::to_string(options.threads));
  if (options.statistics || !options.headStatistics.empty())
    return {StatusCode::Unsupported, std::string("statistics: expected ") + kOnCuda};
  if (options.metrics)
    return {StatusCode::Unsupported, std::string("metrics: expected ") + kOnCuda};
  if (!options.kernelSeconds.empty())
    return {StatusCode::Unsupported, std::string("kernel_seconds: expected ") + kOnCuda};
  return Status::ok();
}

/// Refuses memory that the driver does not know, which a kernel would fault on.
Status checkMemory(const Device &device, std::string_view name, const void *data) {
  constexpr int kMemoryType = 2;
  if (!data || device.readsPageableMemory())
    return Status::ok();
  unsigned type = 0;
  if (device.api().pointerGetAttribute(&type, kMemoryType, data) == 0)
    return Status::ok();
  return expectedButGot({"", name}, "memory of the CUDA device",
                        "an address that the driver does not know");
}

Status checkMemories(const Device &device, const Operands &operands, const TensorView &kept,
                     const std::byte *workspace) {
  const std::pair<std::string_view, const TensorView &> views[] = {
      {"q", operands.q},
      {"k", operands.k},
      {"v", operands.v},
      {"cu_seqlens_q", operands.cuSeqlensQ},
      {"kv_lens", operands.kvLens},
      {"cu_seqlens_kv", operands.cuSeqlensKv},
      {"block_table", operands.blockTable},
      {"out", operands.out},
      {"lse", operands.lse},
      {"compact_positions", operands.compactPositions},
      {"compact_counts", operands.compactCounts},
      {"kept", kept}};
  for (const auto &[name, view] : views)
    if (view.isPresent() && !view.isEmpty())
      if (Status status = checkMemory(device, name, view.data); !status)
        return status;
  for (const NamedTensor &input : operands.inputs)
    if (!input.tensor.isEmpty())
      if (Status status = checkMemory(device, input.name, input.tensor.data); !status)
        return status;
  return checkMemory(device, "workspace", workspace);
}

Status statusOf(int32_t bits) {
  if (bits == 0)
    return Status::ok();
  return {StatusCode::DataOutOfRange, "on the device: " + describeStatusBits(bits)};
}

} // namespace

Expected<Kernel> Kernel::createCuda(LaunchPlan plan, std::string_view image, int device) {
  if (Status status = verify(plan); !status)
    return status;
  if (image.empty())
    return Status(StatusCode::InvalidArgument, "image: expected code but got nothing");
  Expected<std::shared_ptr<const Program>> program = Program::load(plan, image, device);
  if (!program)
    return program.status();
  Kernel kernel;
  kernel.plan_ = std::make_shared<const LaunchPlan>(std::move(plan));
  kernel.cuda_ = *std::move(program);
  return kernel;
}

Expected<Plan> Kernel::planOnCuda(const BatchShape &shape) const {
  if (shape.requests > cuda_->mostRequests())
    return expectedButGot({"", "requests"},
                          "at most " + std::to_string(cuda_->mostRequests()) + " on " +
                              cuda_->device().name(),
                          std::to_string(shape.requests));
  int64_t blocks = 1;
  for (const KernelDescription &kernel : plan_->kernels)
    blocks = std::max(blocks, cuda_->residentBlocks(*kernel.cuda));
  Expected<WorkspaceLayout> layout = layOutDeviceWorkspace(*plan_, shape, blocks);
  if (!layout)
    return layout.status();
  Plan plan;
  plan.shape_ = shape;
  plan.launchPlan_ = plan_;
  plan.layout_ = std::make_shared<const WorkspaceLayout>(*std::move(layout));
  return plan;
}

Status Kernel::runOnCuda(const Plan &plan, const Operands &operands, const Parameters &parameters,
                         std::span<std::byte> workspace, const RunOptions &options) const {
  const Device &device = cuda_->device();
  if (Status status = checkOptions(options); !status)
    return status;
  if (Status status = checkLayer(*plan_, operands.layer); !status)
    return status;
  const Expected<LengthBounds> bounds = bindDeviceLengths(operands, plan.shape_);
  if (!bounds)
    return bounds.status();
  skim_kernel_args args = {};
  args.abi_version = SKIM_ABI_VERSION;
  if (Status status = bindOperands(plan_->signature, operands, options.kept, *bounds, args);
      !status)
    return status;
  const std::span<std::byte> used = workspace.first(static_cast<size_t>(plan.workspaceBytes()));
  if (Status status = checkAliasing(operands, options, used); !status)
    return status;
  Tables tables(*plan.layout_);
  if (Status status = tables.fill(*plan_, operands, parameters, *bounds, used.data(),
                                  cuda_->status().onDevice(), args);
      !status)
    return status;

  const CurrentContext current(device.api(), device.context());
  if (!current.status())
    return current.status();
  if (Status status = checkMemories(device, operands, options.kept, used.data()); !status)
    return status;
  std::vector<TensorMaps> maps(plan_->kernels.size());
  for (size_t i = 0; i < maps.size(); ++i) {
    const KernelDescription &kernel = plan_->kernels[i];
    const CudaLaunch &launch = *kernel.cuda;
    if (!launch.tensorMaps)
      continue;
    const Signature &signature = plan_->signature;
    const int64_t headsPerTile =
        kernel.head == HeadAxis::KvHead ? signature.queryHeads / signature.kvHeads : 1;
    if (Status status = checkStores(operands.out); !status)
      return status;
    const Expected<TensorMaps> encoded =
        encodeTensorMaps(device.api(), launch, operands, headsPerTile, used.data());
    if (!encoded)
      return encoded.status();
    maps[i] = *encoded;
  }

  // Every argument is accepted: from here on only the device can refuse. What it has told of
  // earlier runs is read first, since this one may be at work before it is enqueued whole.
  const int32_t seen = cuda_->status().seen();
  const Launch launch{*cuda_,
                      *plan_,
                      *plan.layout_,
                      plan.shape_,
                      operands,
                      options.kept,
                      args,
                      tables,
                      maps,
                      used.data(),
                      static_cast<Stream>(options.stream)};
  if (Status status = launch.enqueueSetup(); !status)
    return status;
  if (Status status = launch.enqueueClears(); !status)
    return status;
  if (Status status = launch.enqueueKernels(); !status)
    return status;
  return statusOf(seen);
}

Status Kernel::status(void *stream) const {
  if (!cuda_)
    return Status::ok();
  const CurrentContext current(cuda_->device().api(), cuda_->device().context());
  if (!current.status())
    return current.status();
  const Expected<int32_t> bits = cuda_->status().take(static_cast<Stream>(stream));
  return bits ? statusOf(*bits) : bits.status();
}

} // namespace skim
