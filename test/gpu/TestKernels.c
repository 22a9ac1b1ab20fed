/* Kernels that obey the contract of generated ones, plain and slow: what the runtime hands to a
 * kernel is right when they give the right answers. Freestanding C for clang's NVPTX target. */
#include <skim/abi.h>

#define KERNEL __attribute__((nvptx_kernel))
#define SHARED static __attribute__((address_space(3), loader_uninitialized))

/* Dimensions and rows of a tile that the tests compile for. */
enum { DIM = 8, ROWS = 16, LARGEST_DIM = 8 };

typedef struct tensor_map {
  _Alignas(64) uint64_t words[16];
} tensor_map;

#define ENTRY                                                                                      \
  const skim_kernel_args *args, const skim_work_item *items, const int32_t *item_count,            \
      int32_t *next_item, const tensor_map query, const tensor_map key, const tensor_map value

/* e^x in f64: 2^n by its bits times a Taylor series around 0. */
static double exponential(double x) {
  if (x < -700)
    return 0;
  const int64_t n = (int64_t)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
  const double r = x - (double)n * 0.6931471805599453;
  double sum = 1;
  for (int32_t i = 16; i > 0; --i)
    sum = 1 + sum * r / i;
  const union {
    int64_t bits;
    double value;
  } scale = {.bits = (n + 1023) << 52};
  return sum * scale.value;
}

/* Newton's method on e^y = x from the exponent of x. */
static double logarithm(double x) {
  const union {
    double value;
    int64_t bits;
  } split = {.value = x};
  double y = (double)((split.bits >> 52) - 1023) * 0.6931471805599453;
  for (int32_t i = 0; i < 6; ++i)
    y += x * exponential(-y) - 1;
  return y;
}

static const float *row_of(const skim_kernel_args *args, const skim_pages *pages, int32_t request,
                           int64_t token, int64_t head) {
  int64_t page = 0;
  int64_t slot = token;
  if (args->block_table) {
    page = args->block_table[request * args->block_table_stride + token / args->page_size];
    slot = token % args->page_size;
  } else {
    slot += args->cu_seqlens_kv[request];
  }
  return (const float *)pages->data + page * pages->page_stride + slot * pages->token_stride +
         head * pages->head_stride;
}

static void attend_row(const skim_kernel_args *args, skim_work_item item, int64_t position) {
  const int64_t keys = args->kv_lens[item.request];
  const int64_t start = args->cu_seqlens_q[item.request];
  const int64_t base = keys - (args->cu_seqlens_q[item.request + 1] - start);
  if (position < base || position >= keys)
    return;
  const int64_t token = start + position - base;
  const int64_t kv_head = item.head / (args->query_heads / args->kv_heads);
  const float *q = (const float *)args->query.data + token * args->query.token_stride +
                   item.head * args->query.head_stride;
  double total = 0;
  double sum[LARGEST_DIM] = {0};
  for (int64_t k = 0; k <= position; ++k) {
    const float *key = row_of(args, &args->key, item.request, k, kv_head);
    const float *value = row_of(args, &args->value, item.request, k, kv_head);
    double score = 0;
    for (int32_t i = 0; i < DIM; ++i)
      score += (double)q[i] * key[i];
    const double weight = exponential(score * args->softmax_scale);
    total += weight;
    for (int32_t i = 0; i < DIM; ++i)
      sum[i] += weight * value[i];
  }
  float *out =
      (float *)args->out.data + token * args->out.token_stride + item.head * args->out.head_stride;
  for (int32_t i = 0; i < DIM; ++i)
    out[i] = total == 0 ? 0 : (float)(sum[i] / total);
  if (args->lse)
    args->lse[token * args->lse_token_stride + item.head * args->lse_head_stride] =
        total == 0 ? -__builtin_inff() : (float)logarithm(total);
}

/* Causal attention, a row a thread; items are taken as blocks become free. */
KERNEL void attention(ENTRY) {
  SHARED int32_t taken;
  const int32_t thread = (int32_t)__nvvm_read_ptx_sreg_tid_x();
  for (;;) {
    if (thread == 0)
      taken = __atomic_fetch_add(next_item, 1, __ATOMIC_RELAXED);
    __syncthreads();
    const int32_t index = taken;
    __syncthreads();
    if (index >= *item_count)
      return;
    if (thread < ROWS)
      attend_row(args, items[index], (int64_t)items[index].tile * ROWS + thread);
  }
}

/* Says of each item that it visits as many tiles as the test expects. */
KERNEL void count_visits(ENTRY) {
  const int32_t first = (int32_t)__nvvm_read_ptx_sreg_ctaid_x();
  if (__nvvm_read_ptx_sreg_tid_x() == 0)
    for (int32_t i = first; i < *item_count; i += (int32_t)__nvvm_read_ptx_sreg_nctaid_x()) {
      skim_work_item *item = (skim_work_item *)&items[i];
      /* Tiles of rows before the first key have negative numbers. */
      const int32_t sum = item->request * 37 + item->head * 501 + item->tile * 77;
      item->visits = (int32_t)((uint32_t)sum % 1009);
    }
}

KERNEL void idle(ENTRY) {}

/* Writes what the tables hold to the first row of `out`: parameter 0 of every head, then the cells
 * of the four axes of input 0 at index 1, then a cell of a zeroed buffer, which it fills. */
KERNEL void echo(ENTRY) {
  const int32_t first = (int32_t)__nvvm_read_ptx_sreg_ctaid_x();
  for (int32_t i = first; i < *item_count; i += (int32_t)__nvvm_read_ptx_sreg_nctaid_x()) {
    if (__nvvm_read_ptx_sreg_tid_x() != 0)
      continue;
    const skim_work_item item = items[i];
    float *out = (float *)args->out.data +
                 (int64_t)args->cu_seqlens_q[item.request] * args->out.token_stride +
                 item.head * args->out.head_stride;
    const skim_buffer *input = &args->inputs[0];
    const skim_buffer *counts = &args->inputs[2];
    int32_t *buffer = (int32_t *)args->buffers[0].data;
    out[0] = (float)args->parameters[0].values[item.head].f32;
    out[1] = (float)args->parameters[1].values[0].index;
    out[2] = ((const float *)input->data)[item.request * input->strides[0] +
                                          item.head * input->strides[1] + input->strides[3]];
    out[3] = (float)*(const int32_t *)counts->data;
    out[4] = (float)buffer[item.request * args->buffers[0].strides[0] +
                           item.head * args->buffers[0].strides[1]];
    buffer[item.request * args->buffers[0].strides[0] + item.head * args->buffers[0].strides[1]] =
        -7;
    out[5] = (float)args->layer;
    out[6] = (float)args->softmax_scale;
    out[7] = (float)args->abi_version;
    if (args->parameters[1].values[0].index < 0)
      __atomic_fetch_or(args->status, SKIM_STATUS_UNLISTED_LABEL, __ATOMIC_RELAXED);
  }
}
