// Compiles a job for a CUDA device and runs it there: operands are copied over and results back.
#include "runtime/LaunchPlan.h"
#include "runtime/cuda/DeviceMemory.h"
#include "tools/skim/Failure.h"
#include "tools/skim/Job.h"
#include "tools/skim/LaunchArguments.h"
#include "tools/skim/Progress.h"

#include <skim/Compiler.h>
#include <skim/Kernel.h>

#include "llvm/Support/raw_ostream.h"

#include <chrono>

namespace skim::tool {
namespace {

Expected<Kernel> compileForCuda(const Job &job, Variant variant, double &seconds) {
  auto start = std::chrono::steady_clock::now();
  CompileOptions options = compileOptions(job);
  options.target = "sm_90a";
  std::string warnings;
  Progress progress("compiling " + workName(job, variant));
  Expected<Kernel> kernel =
      variant == Variant::Asked && !job.bundle.empty()
          ? loadFromBundle(job, options.target)
          : Compiler().compile(job.source.variant(variant), options,
                               variant == Variant::Asked ? &warnings : nullptr);
  messages() << warnings;
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return kernel;
}

/// Replaces each operand by a copy on the device.
Status copyOperands(cuda::DeviceArena &arena, Operands &operands) {
  std::vector<TensorView *> views = {&operands.q,          &operands.k,      &operands.v,
                                     &operands.cuSeqlensQ, &operands.kvLens, &operands.cuSeqlensKv,
                                     &operands.blockTable};
  for (NamedTensor &input : operands.inputs)
    views.push_back(&input.tensor);
  for (TensorView *view : views) {
    Expected<TensorView> copied = arena.copyIn(*view);
    if (!copied)
      return copied.status();
    *view = *copied;
  }
  return Status::ok();
}

template <typename T> std::span<std::byte> bytesOf(std::vector<T> &values) {
  return std::as_writable_bytes(std::span(values));
}

/// Runs as often as the job says. `out` and `lse` are results on the host.
Status runRepeatedly(const std::shared_ptr<const cuda::Device> &device, const Kernel &kernel,
                     const Job &job, const BatchShape &shape, Operands operands, Outcome &outcome) {
  Expected<std::unique_ptr<cuda::DeviceArena>> created = cuda::DeviceArena::create(device);
  if (!created)
    return created.status();
  cuda::DeviceArena &arena = **created;
  if (Status status = copyOperands(arena, operands); !status)
    return status;
  for (TensorView *result : {&operands.out, &operands.lse}) {
    Expected<TensorView> onDevice = arena.like(*result);
    if (!onDevice)
      return onDevice.status();
    *result = *onDevice;
  }
  Expected<Plan> plan = kernel.plan(shape);
  if (!plan)
    return plan.status();
  Expected<std::span<std::byte>> workspace =
      arena.allocate(static_cast<size_t>(plan->workspaceBytes()));
  if (!workspace)
    return workspace.status();

  Parameters parameters = parametersFor(kernel.launchPlan(), job);
  RunOptions options;
  options.stream = arena.stream();
  std::vector<double> seconds;
  for (int64_t i = 0; i < job.repeat; ++i) {
    Expected<double> time = arena.time([&] {
      Status status = kernel.run(*plan, operands, parameters, *workspace, options);
      return status.code() == StatusCode::DataOutOfRange ? Status::ok() : status;
    });
    if (!time)
      return time.status();
    seconds.push_back(*time);
  }
  outcome.attentionSeconds = median(seconds);
  Status met = kernel.status(arena.stream());
  if (!met && met.code() != StatusCode::DataOutOfRange)
    return met;
  outcome.problem = met.message();
  if (Status status = arena.copyOut(operands.out, bytesOf(outcome.out)); !status)
    return status;
  return arena.copyOut(operands.lse, bytesOf(outcome.lse));
}

} // namespace

llvm::Expected<Outcome> runOnCuda(const Job &job, Variant variant) {
  if (job.wantKept)
    return wrongInput("--device cuda: kernels of a CUDA device do not write the kept relation; "
                      "expected --device cpu");
  HostBatch &batch = job.batch;
  Outcome outcome;
  outcome.counted = false;
  // Opened first: what the driver needs to start is no part of compiling.
  Expected<std::shared_ptr<const cuda::Device>> device = cuda::Device::open();
  if (!device)
    return failureOf(device.status());
  Expected<Kernel> kernel = compileForCuda(job, variant, outcome.compileSeconds);
  if (!kernel)
    return failureOf(kernel.status());
  Operands operands = batch.operands();
  operands.layer = job.layer;
  if (llvm::Error error = addInputs(kernel->launchPlan(), batch, operands))
    return error;
  outcome.out.resize(batch.queryTokens() * batch.queryHeads * batch.valueDim);
  outcome.lse.resize(batch.queryHeads * batch.queryTokens());
  operands.out = TensorView::contiguous(outcome.out.data(), DType::F32,
                                        {batch.queryTokens(), batch.queryHeads, batch.valueDim});
  operands.lse = TensorView::contiguous(outcome.lse.data(), DType::F32,
                                        {batch.queryHeads, batch.queryTokens()});
  Expected<BatchShape> shape = BatchShape::of(operands.cuSeqlensQ, operands.kvLens);
  if (!shape)
    return failureOf(shape.status());
  if (Status status = runRepeatedly(*device, *kernel, job, *shape, operands, outcome); !status)
    return failureOf(status);
  return outcome;
}

} // namespace skim::tool
