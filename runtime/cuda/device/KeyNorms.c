/* The largest norm of a request's keys, which bounds its scores. Freestanding C for clang's NVPTX
 * target. */
#include "runtime/cuda/device/KeyNormArguments.h"

#define KERNEL __attribute__((nvptx_kernel))
#define SHARED static __attribute__((address_space(3), loader_uninitialized))

enum { THREADS = SKIM_NORM_THREADS, WARP = 32, ELEMENTS = 8, UNROLLED = 4 };

typedef uint32_t words __attribute__((ext_vector_type(4)));

static int32_t thread(void) { return (int32_t)__nvvm_read_ptx_sreg_tid_x(); }
static float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }
static uint32_t as_bits(float value) { return __builtin_bit_cast(uint32_t, value); }

/* Sums of squares are not negative, so their bits are in their order, and NaN is above all. */
static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* The sum of the squares of eight bf16. */
static float squares(words elements) {
  float sum = 0;
#pragma unroll
  for (int32_t i = 0; i < 4; ++i) {
    const float low = as_float(elements[i] << 16);
    const float high = as_float(elements[i] & 0xFFFF0000U);
    sum += low * low + high * high;
  }
  return sum;
}

/* Where row `key` of the request starts, null where it is nowhere. */
static const uint16_t *row_of(const skim_norm_arguments *norm, int32_t request, int32_t head,
                              int32_t key) {
  int64_t page = 0;
  int64_t slot = 0;
  if (norm->block_table) {
    page = norm->block_table[request * norm->block_table_stride + key / norm->page_size];
    if (page < 0 || page >= norm->pages)
      return 0;
    slot = key % norm->page_size;
  } else {
    slot = (int64_t)norm->cu_seqlens_kv[request] + key;
  }
  return (const uint16_t *)norm->key.data + page * norm->key.page_stride +
         slot * norm->key.token_stride + head * norm->key.head_stride;
}

static int32_t existing_keys(const skim_norm_arguments *norm, int32_t request) {
  const int32_t keys = norm->kv_lens[request];
  if (keys < 0 || keys > norm->max_kv_length)
    return 0;
  if (norm->cu_seqlens_kv) {
    const int64_t first = norm->cu_seqlens_kv[request];
    const int64_t last = norm->cu_seqlens_kv[request + 1];
    if (first < 0 || last > norm->kv_tokens || last - first < keys)
      return 0;
  }
  return keys;
}

SHARED uint32_t block_largest;

/* Block (share, KV head, request). As many lanes as hold a row, rounded up to a power of two, look
 * at a key together. */
KERNEL void skim_key_norms(const skim_norm_arguments norm) {
  const int32_t head = (int32_t)__nvvm_read_ptx_sreg_ctaid_y();
  const int32_t request = (int32_t)__nvvm_read_ptx_sreg_ctaid_z();
  const int32_t heads = (int32_t)__nvvm_read_ptx_sreg_nctaid_y();
  const int32_t shares = (int32_t)__nvvm_read_ptx_sreg_nctaid_x();
  const int32_t keys = existing_keys(&norm, request);
  if (thread() == 0)
    block_largest = 0;
  __syncthreads();

  const int32_t chunks = norm.head_dim / ELEMENTS;
  int32_t lanes = 1;
  while (lanes < chunks)
    lanes *= 2;
  const int32_t lane = thread() % lanes;
  const int32_t together = THREADS / lanes;
  uint32_t largest = 0;
  for (int32_t share = (int32_t)__nvvm_read_ptx_sreg_ctaid_x();
       (int64_t)share * SKIM_NORM_KEYS < keys; share += shares) {
    const int32_t first = share * SKIM_NORM_KEYS;
    for (int32_t step = thread() / lanes; step < SKIM_NORM_KEYS; step += UNROLLED * together) {
      words elements[UNROLLED];
#pragma unroll
      for (int32_t i = 0; i < UNROLLED; ++i) {
        const int32_t within = step + i * together;
        const int32_t key = first + within;
        const words none = {0, 0, 0, 0};
        elements[i] = none;
        if (lane < chunks && within < SKIM_NORM_KEYS && key < keys) {
          const uint16_t *row = row_of(&norm, request, head, key);
          if (row)
            elements[i] = *((const words *)row + lane);
        }
      }
#pragma unroll
      for (int32_t i = 0; i < UNROLLED; ++i) {
        float sum = squares(elements[i]);
        for (int32_t other = 1; other < lanes; other *= 2)
          sum += __nvvm_shfl_sync_bfly_f32(-1, sum, other, 31);
        largest = most(largest, as_bits(sum));
      }
    }
  }
  for (int32_t other = 1; other < WARP; other *= 2)
    largest = most(largest, (uint32_t)__nvvm_shfl_sync_bfly_i32(-1, (int32_t)largest, other, 31));
  if (thread() % WARP == 0 && largest != 0)
    __atomic_fetch_max(&block_largest, largest, __ATOMIC_RELAXED);
  __syncthreads();
  if (thread() == 0 && block_largest != 0)
    __atomic_fetch_max(&norm.norms[(int64_t)request * heads + head], block_largest,
                       __ATOMIC_RELAXED);
}
