// The C interface to threads and runs.
#include "runtime/c/Arguments.h"
#include "runtime/c/Handles.h"

#include <skim/Batch.h>
#include <skim/Metrics.h>

using namespace skim;
using namespace skim::c;

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

skim_status_code skim_thread_pool_create(int64_t threads, skim_thread_pool **pool) {
  if (!pool)
    return refuse("pool: expected where to write the handle but got null");
  Expected<ThreadPool> created = ThreadPool::create(threads);
  if (!created)
    return answer(created.status());
  *pool = new skim_thread_pool{*std::move(created)};
  return answer(Status::ok());
}

void skim_thread_pool_free(skim_thread_pool *pool) { delete pool; }

int64_t skim_thread_pool_threads(const skim_thread_pool *pool) { return pool->pool.threads(); }

skim_status_code skim_kernel_run(const skim_kernel *kernel, const skim_plan *plan,
                                 const skim_operands *given, const skim_value *parameters,
                                 size_t parameter_count, void *workspace, size_t workspace_bytes,
                                 const skim_run_options *givenOptions) {
  const Versioned<skim_run_options> options(givenOptions);
  if (!kernel || !plan)
    return refuse("expected a kernel and a plan but got null");
  if (!options.isValid())
    return options.refusal("options");
  const Expected<Operands> operands = operandsOf(given);
  if (!operands)
    return answer(operands.status());
  const Expected<Parameters> values = parametersOf(parameters, parameter_count);
  if (!values)
    return answer(values.status());
  Arrays arrays;
  RunOptions run;
  run.stream = options->stream;
  run.threads = options->threads;
  run.pool = options->pool ? &options->pool->pool : nullptr;
  run.statistics = options->statistics;
  run.headStatistics = {options->head_statistics, options->head_statistics_count};
  run.kernelSeconds = {options->kernel_seconds, options->kernel_seconds_count};
  run.metrics = metricsOf(options->metrics);
  run.kept = arrays.view("kept", options->kept);
  if (arrays.isRefused())
    return refuse(arrays.refusal());
  return answer(kernel->kernel.run(plan->plan, *operands, *values,
                                   {static_cast<std::byte *>(workspace), workspace_bytes}, run));
}
