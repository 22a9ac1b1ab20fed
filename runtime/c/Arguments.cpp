#include "runtime/c/Arguments.h"

#include "runtime/c/Handles.h"

namespace skim::c {

static_assert(SKIM_MAX_RANK == TensorView::kMaxRank);

namespace {

Status invalid(std::string message) { return {StatusCode::InvalidArgument, std::move(message)}; }

/// More heads than any kernel has.
constexpr size_t kMostHeads = size_t{1} << 20;

Expected<ParameterValue> valueOf(const skim_value &value) {
  const void *values = value.type == SKIM_INDEX   ? static_cast<const void *>(value.indices)
                       : value.type == SKIM_FLOAT ? static_cast<const void *>(value.floats)
                       : value.type == SKIM_BOOL  ? static_cast<const void *>(value.bools)
                                                  : nullptr;
  if (value.count == 0 || !values)
    return invalid("parameter '" + textOf(value.name) +
                   "': expected values of its type but got none");
  // How many heads there are is checked later; copying must not fail for want of memory before.
  if (value.count > kMostHeads)
    return invalid("parameter '" + textOf(value.name) + "': expected at most " +
                   std::to_string(kMostHeads) + " values but got " + std::to_string(value.count));
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
  bools.reserve(value.count);
  for (size_t i = 0; i < value.count; ++i)
    bools.push_back(value.bools[i] != 0);
  return ParameterValue(bools);
}

} // namespace

TensorView Arrays::view(const char *name, const skim_tensor *tensor) {
  if (!tensor || isRefused())
    return {};
  if (!isDtype(tensor->dtype))
    refusal_ = std::string(name) + ": expected an element type of skim_dtype but got " +
               std::to_string(static_cast<int>(tensor->dtype));
  else if (tensor->rank < 0 || tensor->rank > SKIM_MAX_RANK)
    refusal_ = std::string(name) + ": expected a rank from 0 to " + std::to_string(SKIM_MAX_RANK) +
               " but got " + std::to_string(tensor->rank);
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

skim_tensor tensorOf(const TensorView &view) {
  skim_tensor tensor = {view.data, dtypeOf(view.dtype), static_cast<int32_t>(view.rank), {}, {}};
  std::ranges::copy(view.shape, tensor.shape);
  std::ranges::copy(view.strides, tensor.strides);
  return tensor;
}

Expected<Operands> operandsOf(const skim_operands *given) {
  if (!given)
    return invalid("operands: expected operands but got null");
  const Versioned<skim_operands> operands(given);
  if (!operands.isValid())
    return operands.failure("operands");
  if (operands->kv_layout < SKIM_CONTIGUOUS || operands->kv_layout > SKIM_PAGED_HND)
    return invalid("operands.kv_layout: expected one of skim_kv_layout but got " +
                   std::to_string(static_cast<int>(operands->kv_layout)));
  if (!operands->inputs && operands->input_count > 0)
    return invalid("operands.inputs: expected " + std::to_string(operands->input_count) +
                   " inputs but got null");
  Arrays arrays;
  Operands run;
  run.kvLayout = static_cast<KvLayout>(operands->kv_layout);
  for (const auto &[name, tensor, into] :
       {std::tuple("q", operands->q, &run.q), std::tuple("k", operands->k, &run.k),
        std::tuple("v", operands->v, &run.v),
        std::tuple("cu_seqlens_q", operands->cu_seqlens_q, &run.cuSeqlensQ),
        std::tuple("kv_lens", operands->kv_lens, &run.kvLens),
        std::tuple("cu_seqlens_kv", operands->cu_seqlens_kv, &run.cuSeqlensKv),
        std::tuple("block_table", operands->block_table, &run.blockTable),
        std::tuple("k_scales", operands->k_scales, &run.kScales),
        std::tuple("v_scales", operands->v_scales, &run.vScales),
        std::tuple("out", operands->out, &run.out), std::tuple("lse", operands->lse, &run.lse),
        std::tuple("compact_positions", operands->compact_positions, &run.compactPositions),
        std::tuple("compact_counts", operands->compact_counts, &run.compactCounts)})
    *into = arrays.view(name, tensor);
  for (size_t i = 0; i < operands->input_count; ++i) {
    const skim_named_tensor &input = operands->inputs[i];
    const std::string name = textOf(input.name);
    run.inputs.push_back({name, arrays.view(name.c_str(), &input.tensor)});
  }
  if (operands->softmax_scale != 0)
    run.softmaxScale = operands->softmax_scale;
  run.layer = operands->layer;
  if (arrays.isRefused())
    return arrays.status();
  return run;
}

Expected<Parameters> parametersOf(const skim_value *values, size_t count) {
  if (!values && count > 0)
    return invalid("parameters: expected " + std::to_string(count) + " values but got null");
  Parameters parameters;
  for (size_t i = 0; i < count; ++i) {
    Expected<ParameterValue> value = valueOf(values[i]);
    if (!value)
      return value.status();
    parameters.push_back({textOf(values[i].name), *std::move(value)});
  }
  return parameters;
}

} // namespace skim::c
