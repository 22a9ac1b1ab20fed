// A few C functions over the runtime, for Python's ctypes: kernels run on the tensors and streams
// of PyTorch, in its process. A function that fails returns null or 1 and keeps its message.
#include "runtime/LaunchPlan.h"

#include <skim/Kernel.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

using namespace skim;

#define SKIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int64_t kMaxRank = TensorView::kMaxRank;

/// As bench/gpu/kernels.py declares it: a part of `Operands`, or an input by its name.
struct ExportedTensor {
  const char *name;
  void *data;
  int64_t dtype; ///< of `DType`
  int64_t rank;
  int64_t shape[kMaxRank];
  int64_t strides[kMaxRank]; ///< in elements
};

struct ExportedParameter {
  const char *name;
  int64_t isIndex;
  double value;
};

struct ExportedRun {
  const ExportedTensor *tensors;
  int64_t tensorCount;
  const ExportedParameter *parameters;
  int64_t parameterCount;
  int64_t kvLayout; ///< of `KvLayout`
  std::byte *workspace;
  int64_t workspaceBytes;
  void *stream;
};

thread_local std::string message;

int failed(const Status &status) {
  message = status.message();
  return status ? 0 : 1;
}

TensorView viewOf(const ExportedTensor &tensor) {
  TensorView view;
  view.data = tensor.data;
  view.dtype = static_cast<DType>(tensor.dtype);
  view.rank = tensor.rank;
  std::copy_n(tensor.shape, kMaxRank, view.shape.begin());
  std::copy_n(tensor.strides, kMaxRank, view.strides.begin());
  return view;
}

void add(Operands &operands, const ExportedTensor &tensor) {
  const std::pair<std::string_view, TensorView &> fields[] = {
      {"q", operands.q},
      {"k", operands.k},
      {"v", operands.v},
      {"out", operands.out},
      {"lse", operands.lse},
      {"cu_seqlens_q", operands.cuSeqlensQ},
      {"kv_lens", operands.kvLens},
      {"cu_seqlens_kv", operands.cuSeqlensKv},
      {"block_table", operands.blockTable}};
  for (const auto &[name, field] : fields)
    if (name == tensor.name) {
      field = viewOf(tensor);
      return;
    }
  operands.inputs.push_back({tensor.name, viewOf(tensor)});
}

} // namespace

SKIM_EXPORT const char *skim_bench_message() { return message.c_str(); }

/// A kernel from a launch plan as JSON and its code, on the current device.
SKIM_EXPORT Kernel *skim_bench_load(const char *plan, const char *image, int64_t imageBytes) {
  Expected<LaunchPlan> read = launchPlanFromJson(plan);
  if (!read) {
    failed(read.status());
    return nullptr;
  }
  Expected<Kernel> kernel =
      Kernel::createCuda(*std::move(read), {image, static_cast<size_t>(imageBytes)});
  if (!kernel) {
    failed(kernel.status());
    return nullptr;
  }
  return std::make_unique<Kernel>(*std::move(kernel)).release();
}

SKIM_EXPORT void skim_bench_unload(Kernel *kernel) { std::unique_ptr<Kernel>{kernel}.reset(); }

/// A plan for requests, query tokens, the longest query and the most keys.
SKIM_EXPORT Plan *skim_bench_plan(const Kernel *kernel, const int64_t *shape) {
  Expected<Plan> plan = kernel->plan({shape[0], shape[1], shape[2], shape[3]});
  if (!plan) {
    failed(plan.status());
    return nullptr;
  }
  return std::make_unique<Plan>(*std::move(plan)).release();
}

SKIM_EXPORT int64_t skim_bench_workspace_bytes(const Plan *plan) { return plan->workspaceBytes(); }

SKIM_EXPORT void skim_bench_forget(Plan *plan) { std::unique_ptr<Plan>{plan}.reset(); }

SKIM_EXPORT int skim_bench_run(const Kernel *kernel, const Plan *plan, const ExportedRun *run) {
  Operands operands;
  operands.kvLayout = static_cast<KvLayout>(run->kvLayout);
  for (int64_t i = 0; i < run->tensorCount; ++i)
    add(operands, run->tensors[i]);
  Parameters parameters;
  for (int64_t i = 0; i < run->parameterCount; ++i) {
    const ExportedParameter &given = run->parameters[i];
    parameters.push_back({given.name, given.isIndex
                                          ? ParameterValue(static_cast<int64_t>(given.value))
                                          : ParameterValue(given.value)});
  }
  RunOptions options;
  options.stream = run->stream;
  return failed(kernel->run(*plan, operands, parameters,
                            {run->workspace, static_cast<size_t>(run->workspaceBytes)}, options));
}

SKIM_EXPORT int skim_bench_status(const Kernel *kernel, void *stream) {
  return failed(kernel->status(stream));
}
