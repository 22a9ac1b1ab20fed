// The C interface to runs.
#include "runtime/c/Handles.h"

#include <skim/Batch.h>
#include <skim/Operands.h>
#include <skim/Parameters.h>

using namespace skim;
using namespace skim::c;

namespace {

/// Of arrays that C gives: the first that is none is kept as the reason to refuse.
class Arrays {
public:
  TensorView view(const char *name, const skim_tensor *tensor) {
    if (!tensor)
      return {};
    if (!isDtype(tensor->dtype))
      refusal_ = std::string(name) + ": expected an element type of skim_dtype but got " +
                 std::to_string(static_cast<int>(tensor->dtype));
    else if (tensor->rank < 0 || tensor->rank > SKIM_MAX_RANK)
      refusal_ = std::string(name) + ": expected a rank from 0 to " +
                 std::to_string(SKIM_MAX_RANK) + " but got " + std::to_string(tensor->rank);
    if (isRefused())
      return {};
    TensorView view;
    view.data = tensor->data;
    view.dtype = dtypeOf(tensor->dtype);
    view.rank = tensor->rank;
    std::copy_n(tensor->shape, SKIM_MAX_RANK, view.shape.begin());
    std::copy_n(tensor->strides, SKIM_MAX_RANK, view.strides.begin());
    return view;
  }

  bool isRefused() const { return !refusal_.empty(); }
  const std::string &refusal() const { return refusal_; }

private:
  std::string refusal_;
};

static_assert(SKIM_MAX_RANK == TensorView::kMaxRank);

Expected<ParameterValue> valueOf(const skim_value &value) {
  const auto failed = [&](const std::string &message) {
    return Status(StatusCode::InvalidArgument,
                  "parameter '" + textOf(value.name) + "': " + message);
  };
  const void *values = value.type == SKIM_INDEX   ? static_cast<const void *>(value.indices)
                       : value.type == SKIM_FLOAT ? static_cast<const void *>(value.floats)
                       : value.type == SKIM_BOOL  ? static_cast<const void *>(value.bools)
                                                  : nullptr;
  if (value.count == 0 || !values)
    return failed("expected values of its type but got none");
  const auto list = [&](const auto *first) {
    using Element = std::remove_cvref_t<decltype(*first)>;
    return std::vector<Element>(first, first + value.count);
  };
  switch (value.type) {
  case SKIM_INDEX:
    return value.count == 1 ? ParameterValue(*value.indices) : ParameterValue(list(value.indices));
  case SKIM_FLOAT:
    return value.count == 1 ? ParameterValue(*value.floats) : ParameterValue(list(value.floats));
  case SKIM_BOOL:
    break;
  }
  if (value.count == 1)
    return ParameterValue(*value.bools != 0);
  std::vector<bool> bools;
  for (size_t i = 0; i < value.count; ++i)
    bools.push_back(value.bools[i] != 0);
  return ParameterValue(bools);
}

} // namespace

skim_tensor skim_dense_tensor(void *data, skim_dtype dtype, int32_t rank, const int64_t *shape) {
  skim_tensor tensor = {data, dtype, rank, {}, {}};
  int64_t stride = 1;
  for (int32_t axis = std::min(rank, SKIM_MAX_RANK) - 1; axis >= 0; --axis) {
    tensor.shape[axis] = shape[axis];
    tensor.strides[axis] = stride;
    // Extents that overflow are refused where the array is used.
    if (__builtin_mul_overflow(stride, std::max(int64_t(1), shape[axis]), &stride))
      stride = 0;
  }
  return tensor;
}

skim_status_code skim_batch_shape_of(const skim_tensor *cu_seqlens_q, const skim_tensor *kv_lens,
                                     skim_batch_shape *shape) {
  if (!shape)
    return refuse("shape: expected where to write it but got null");
  Arrays arrays;
  const TensorView starts = arrays.view("cu_seqlens_q", cu_seqlens_q);
  const TensorView lengths = arrays.view("kv_lens", kv_lens);
  if (arrays.isRefused())
    return refuse(arrays.refusal());
  const Expected<BatchShape> found = BatchShape::of(starts, lengths);
  if (!found)
    return answer(found.status());
  *shape = {found->requests, found->totalQueryTokens, found->maxQueryLength, found->maxKvLength};
  return answer(Status::ok());
}

skim_status_code skim_kernel_run(const skim_kernel *kernel, const skim_plan *plan,
                                 const skim_operands *given, const skim_value *parameters,
                                 size_t parameter_count, void *workspace, size_t workspace_bytes,
                                 const skim_run_options *givenOptions) {
  const Versioned<skim_operands> operands(given);
  const Versioned<skim_run_options> options(givenOptions);
  if (!kernel || !plan || !given)
    return refuse("expected a kernel, a plan and operands but got null");
  if (!operands.isValid())
    return operands.refusal("operands");
  if (!options.isValid())
    return options.refusal("options");
  if (operands->kv_layout < SKIM_CONTIGUOUS || operands->kv_layout > SKIM_PAGED_HND)
    return refuse("operands.kv_layout: expected one of skim_kv_layout but got " +
                  std::to_string(static_cast<int>(operands->kv_layout)));
  Arrays arrays;
  Operands run;
  run.q = arrays.view("q", operands->q);
  run.k = arrays.view("k", operands->k);
  run.v = arrays.view("v", operands->v);
  run.kvLayout = static_cast<KvLayout>(operands->kv_layout);
  run.cuSeqlensQ = arrays.view("cu_seqlens_q", operands->cu_seqlens_q);
  run.kvLens = arrays.view("kv_lens", operands->kv_lens);
  run.cuSeqlensKv = arrays.view("cu_seqlens_kv", operands->cu_seqlens_kv);
  run.blockTable = arrays.view("block_table", operands->block_table);
  run.out = arrays.view("out", operands->out);
  run.lse = arrays.view("lse", operands->lse);
  run.compactPositions = arrays.view("compact_positions", operands->compact_positions);
  run.compactCounts = arrays.view("compact_counts", operands->compact_counts);
  for (size_t i = 0; i < operands->input_count; ++i) {
    const skim_named_tensor &input = operands->inputs[i];
    const std::string name = textOf(input.name);
    run.inputs.push_back({name, arrays.view(name.c_str(), &input.tensor)});
  }
  if (operands->softmax_scale != 0)
    run.softmaxScale = operands->softmax_scale;
  run.layer = operands->layer;
  if (arrays.isRefused())
    return refuse(arrays.refusal());

  Parameters values;
  for (size_t i = 0; i < parameter_count; ++i) {
    Expected<ParameterValue> value = valueOf(parameters[i]);
    if (!value)
      return answer(value.status());
    values.push_back({textOf(parameters[i].name), *std::move(value)});
  }
  RunOptions runOptions;
  runOptions.threads = options->threads;
  runOptions.statistics = options->statistics;
  runOptions.stream = options->stream;
  return answer(kernel->kernel.run(
      plan->plan, run, values, {static_cast<std::byte *>(workspace), workspace_bytes}, runOptions));
}
