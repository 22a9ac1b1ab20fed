// The C interface to kernels and plans.
#include "runtime/LaunchPlan.h"
#include "runtime/c/Handles.h"

#include <skim/Batch.h>

#include <cstdlib>

using namespace skim;
using namespace skim::c;

// The two enumerations of codes are one.
static_assert(SKIM_ENVIRONMENT == static_cast<int>(StatusCode::Environment) &&
              SKIM_EXHAUSTED == static_cast<int>(StatusCode::Exhausted));

namespace {

thread_local std::string lastMessage;

constexpr std::pair<skim_dtype, DType> kDTypes[] = {
    {SKIM_F32, DType::F32},      {SKIM_F16, DType::F16}, {SKIM_BF16, DType::BF16},
    {SKIM_U8, DType::U8},        {SKIM_I32, DType::I32}, {SKIM_I64, DType::I64},
    {SKIM_F8E4M3, DType::F8E4M3}};

/// 0 asks for nothing.
std::optional<int64_t> countOf(int64_t count) {
  return count == 0 ? std::nullopt : std::optional(count);
}

skim_status_code load(const skim_load_options *given, skim_kernel **kernel, auto source) {
  const Versioned<skim_load_options> options(given);
  if (!options.isValid())
    return options.refusal("options");
  if (!kernel)
    return refuse("kernel: expected where to write the handle but got null");
  LoadOptions load;
  load.pattern = textOf(options->pattern);
  load.target = textOf(options->target);
  load.queryHeads = countOf(options->query_heads);
  load.kvHeads = countOf(options->kv_heads);
  load.headDim = countOf(options->head_dim);
  load.valueDim = countOf(options->value_dim);
  for (const auto &[dtype, into] :
       {std::pair(options->dtype, &load.dtype), std::pair(options->out_dtype, &load.outDtype)}) {
    if (!dtype)
      continue;
    if (!isDtype(*dtype))
      return refuse("options.dtype: expected one of skim_dtype but got " +
                    std::to_string(static_cast<int>(*dtype)));
    *into = dtypeOf(*dtype);
  }
  if (options->page_size)
    load.pageSize = *options->page_size;
  for (size_t i = 0; i < options->constant_count; ++i)
    load.constants[textOf(options->constants[i].name)] = options->constants[i].value;
  return answer(source(load), kernel);
}

} // namespace

skim_status_code skim::c::answer(const Status &status) {
  lastMessage = status.message();
  return static_cast<skim_status_code>(status.code());
}

skim_status_code skim::c::refuse(const std::string &message) {
  return answer(Status(StatusCode::InvalidArgument, message));
}

skim_status_code skim::c::answer(Expected<Kernel> result, skim_kernel **kernel) {
  if (!result)
    return answer(result.status());
  std::string plan = toJson(result->launchPlan());
  *kernel = new skim_kernel{*std::move(result), std::move(plan)};
  return answer(Status::ok());
}

bool skim::c::isDtype(skim_dtype dtype) {
  return std::ranges::any_of(kDTypes, [&](const auto &each) { return each.first == dtype; });
}

DType skim::c::dtypeOf(skim_dtype dtype) {
  return std::ranges::find(kDTypes, dtype, &std::pair<skim_dtype, DType>::first)->second;
}

skim_dtype skim::c::dtypeOf(DType dtype) {
  return std::ranges::find(kDTypes, dtype, &std::pair<skim_dtype, DType>::second)->first;
}

uint32_t skim_api_version(void) { return SKIM_API_VERSION; }

char *skim::c::copyOf(const std::string &text) {
  char *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (copy)
    std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

void skim_string_free(char *text) { std::free(text); }

void skim_bytes_free(void *bytes) { std::free(bytes); }

const char *skim_last_message(void) { return lastMessage.c_str(); }

skim_status_code skim_kernel_load(const char *path, const skim_load_options *options,
                                  skim_kernel **kernel) {
  return load(options, kernel,
              [&](const LoadOptions &load) { return Kernel::load(textOf(path), load); });
}

skim_status_code skim_kernel_load_memory(const void *bundle, size_t bytes,
                                         const skim_load_options *options, skim_kernel **kernel) {
  if (!bundle && bytes > 0)
    return refuse("bundle: expected " + std::to_string(bytes) + " bytes but got null");
  return load(options, kernel, [&](const LoadOptions &load) {
    return Kernel::load(std::span(static_cast<const std::byte *>(bundle), bytes), load);
  });
}

skim_status_code skim_kernel_create_cuda(const char *launch_plan, const void *image, size_t bytes,
                                         int32_t device, skim_kernel **kernel) {
  if (!launch_plan || (!image && bytes > 0) || !kernel)
    return refuse("expected a launch plan, code and where to write the kernel but got null");
  Expected<LaunchPlan> plan = launchPlanFromJson(launch_plan);
  if (!plan)
    return answer(plan.status());
  return answer(
      Kernel::createCuda(*std::move(plan), {static_cast<const char *>(image), bytes}, device),
      kernel);
}

void skim_kernel_free(skim_kernel *kernel) { delete kernel; }

int32_t skim_kernel_is_on_cuda(const skim_kernel *kernel) { return kernel->kernel.isOnCuda(); }

skim_signature skim_kernel_signature(const skim_kernel *kernel) {
  const Signature &signature = kernel->kernel.launchPlan().signature;
  return {signature.queryHeads,
          signature.kvHeads,
          signature.headDim,
          signature.valueDim,
          dtypeOf(signature.operand),
          dtypeOf(signature.output),
          signature.pageSize.value_or(-1)};
}

const char *skim_kernel_pattern(const skim_kernel *kernel) {
  return kernel->kernel.launchPlan().pattern.c_str();
}

const char *skim_kernel_launch_plan(const skim_kernel *kernel) {
  return kernel->launchPlan.c_str();
}

skim_status_code skim_kernel_plan(const skim_kernel *kernel, const skim_batch_shape *shape,
                                  int64_t workers, skim_plan **plan) {
  if (!kernel || !shape || !plan)
    return refuse("expected a kernel, a shape and where to write the plan but got null");
  Expected<Plan> planned = kernel->kernel.plan(
      {shape->requests, shape->total_query_tokens, shape->max_query_length, shape->max_kv_length},
      workers);
  if (!planned)
    return answer(planned.status());
  *plan = new skim_plan{*std::move(planned)};
  return answer(Status::ok());
}

void skim_plan_free(skim_plan *plan) { delete plan; }

int64_t skim_plan_workspace_bytes(const skim_plan *plan) { return plan->plan.workspaceBytes(); }

skim_status_code skim_kernel_status(const skim_kernel *kernel, void *stream) {
  if (!kernel)
    return refuse("kernel: expected a kernel but got null");
  return answer(kernel->kernel.status(stream));
}
