/* What the kernel of key norms is given by value. Host and device include this file. */
#ifndef SKIM_RUNTIME_CUDA_DEVICE_KEYNORMARGUMENTS_H
#define SKIM_RUNTIME_CUDA_DEVICE_KEYNORMARGUMENTS_H

#include <skim/abi.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SKIM_NORM_THREADS = 256,
  /* Keys that a block looks at before it takes its next share. */
  SKIM_NORM_KEYS = 512
};

typedef struct skim_norm_arguments {
  skim_pages key;               /* of bf16, rows at multiples of 16 bytes */
  const int32_t *kv_lens;       /* [requests] */
  const int32_t *cu_seqlens_kv; /* [requests + 1], null when paged */
  const int32_t *block_table;   /* [requests][block_table_stride], null when contiguous */
  int64_t block_table_stride;
  /* [requests][kv_heads] the largest sum of squares of a key, cleared before. Not a number where
   * some element of a key is none. */
  uint32_t *norms;
  int32_t head_dim; /* a multiple of 8, at most 256 */
  int32_t page_size;

  /* What lengths and pages must stay within; of a request beyond them nothing is read. */
  int32_t max_kv_length;
  int32_t kv_tokens;
  int32_t pages;
  int32_t reserved;
} skim_norm_arguments;

#ifdef __cplusplus
}
#endif

#endif /* SKIM_RUNTIME_CUDA_DEVICE_KEYNORMARGUMENTS_H */
