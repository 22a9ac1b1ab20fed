/* The binary contract between generated kernels and the runtime. Every target
 * reads this one structure; a change of layout raises SKIM_ABI_VERSION. */
#ifndef SKIM_ABI_H
#define SKIM_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SKIM_ABI_VERSION 3u

/* Rows of one operand: element (token, head, i) lies at
 * data + (token * token_stride + head * head_stride + i) elements. */
typedef struct skim_rows {
  void *data;
  int64_t token_stride;
  int64_t head_stride;
} skim_rows;

/* Keys or values. Paged: token t of a request lies in page
 * block_table[request][t / page_size] at slot t % page_size. Contiguous
 * (block_table is null): at slot cu_seqlens_kv[request] + t of page 0.
 * Element (page, slot, head, i) lies at data + (page * page_stride +
 * slot * token_stride + head * head_stride + i) elements. */
typedef struct skim_pages {
  void *data;
  int64_t page_stride;
  int64_t token_stride;
  int64_t head_stride;
} skim_pages;

/* A launch-time parameter: one value, or one a query head when `per_head` is set
 * in the launch plan (then `values` has query_heads entries). */
typedef union skim_scalar {
  int64_t index;
  double f32; /* the value of an f32 parameter, already rounded to f32 */
  int64_t boolean;
} skim_scalar;
typedef struct skim_parameter {
  const skim_scalar *values;
} skim_parameter;

/* An input of the pattern, or a buffer of the workspace. Axes are always
 * (request, head, query-like, key-like); an absent axis has extent 1 and stride 0.
 * Strides count elements; a cell of several elements holds them side by side. The query-like axis
 * of an input starts at the block of the call's first row, the key-like axis at key 0. */
typedef struct skim_buffer {
  void *data;
  int64_t extents[4];
  int64_t strides[4];
} skim_buffer;

/* One unit of work. `tile` counts absolute tiles of the kernel's item axis: query
 * tile t holds positions [t * rows, (t + 1) * rows), key block b holds keys
 * [b * keys, (b + 1) * keys). It can be negative where q_len exceeds kv_len. */
typedef struct skim_work_item {
  int32_t request;
  int32_t head; /* a query head or a KV head, as the launch plan says */
  int32_t tile;
  int32_t visits; /* key tiles that it visits, where a kernel of the plan has counted them */
} skim_work_item;

/* What one work item did; summed by the runtime. */
typedef struct skim_statistics {
  int64_t tiles_visited; /* key tiles whose product was computed */
  int64_t tiles_masked;  /* those among them that needed a mask */
  int64_t pairs_kept;    /* (query, key) pairs attended, rest entries not counted */
  int64_t rest_entries;  /* pooled blocks that entered as rest */
} skim_statistics;

/* Bits of the sticky status word (`status` below). */
enum {
  SKIM_STATUS_INDEX_OUT_OF_RANGE = 1, /* an index of an input lay outside its axis */
  SKIM_STATUS_UNLISTED_LABEL = 2,     /* a `match` without `_` met an unlisted value */
  SKIM_STATUS_LENGTH_OUT_OF_RANGE =
      4,                            /* lengths of a request contradict the plan or the operands */
  SKIM_STATUS_PAGE_OUT_OF_RANGE = 8 /* a page of the block table is not in the cache */
};

typedef struct skim_kernel_args {
  uint32_t abi_version;
  uint32_t reserved;

  int64_t requests;
  int64_t query_heads;
  int64_t kv_heads;
  int64_t layer;

  const int32_t *cu_seqlens_q;  /* [requests + 1] */
  const int32_t *kv_lens;       /* [requests] */
  const int32_t *cu_seqlens_kv; /* [requests + 1], null when paged */
  const int32_t *block_table;   /* [requests][block_table_stride], null when contiguous */
  int64_t block_table_stride;
  int64_t page_size;

  skim_rows query;
  skim_pages key;
  skim_pages value;
  skim_rows out;

  float *lse; /* natural logarithm, [query_heads][tokens] by the strides below; may be null */
  int64_t lse_token_stride;
  int64_t lse_head_stride;

  double softmax_scale;

  const skim_parameter *parameters; /* by slot */
  const skim_buffer *inputs;        /* by slot */
  const skim_buffer *buffers;       /* workspace, by slot */

  int32_t *status;             /* OR of SKIM_STATUS_* bits, set atomically */
  skim_statistics *statistics; /* one entry a work item, or null */

  /* Debugging: where not null, the kept relation as bytes,
   * [query_heads][tokens][kept_row_stride], zeroed by the caller. */
  uint8_t *kept;
  int64_t kept_row_stride;
  int64_t kept_head_stride;

  /* Positions of the keys that the pattern gathers, [requests][heads][keys] with keys side by side,
   * and how many there are, [requests][heads]; the heads are those of the launch plan. Either may
   * be null. The caller has filled the positions with -1 and the counts with 0. */
  int32_t *compact_positions;
  int64_t compact_positions_request_stride;
  int64_t compact_positions_head_stride;
  int32_t *compact_counts;
  int64_t compact_counts_request_stride;
  int64_t compact_counts_head_stride;
} skim_kernel_args;

/* A kernel on the CPU: runs items[first] to items[first + count - 1]. The statistics of
 * items[i] go to args->statistics[i]. Safe to call from many threads on disjoint items, each
 * with a `worker` of its own: slice `worker` of the first axis of the launch plan's buffers of
 * workers is the call's scratch. */
typedef void (*skim_cpu_kernel)(const skim_kernel_args *args, const skim_work_item *items,
                                int64_t first, int64_t count, int64_t worker);

#ifdef __cplusplus
}
#endif

#endif /* SKIM_ABI_H */
