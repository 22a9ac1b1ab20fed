/* What the kernels of the runtime itself are given by value. Host and device include this file. */
#ifndef SKIM_RUNTIME_CUDA_DEVICE_SETUPARGUMENTS_H
#define SKIM_RUNTIME_CUDA_DEVICE_SETUPARGUMENTS_H

#include <skim/abi.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SKIM_SETUP_THREADS = 256,
  /* The most tiles that a block of skim_setup places at a time, each by THREADS / TILES lanes or
   * more, up to a warp. */
  SKIM_SETUP_TILES = 64,
  SKIM_SETUP_MOST_LANES = 32,
  /* Kernels and query blocks of inputs that one launch serves. */
  SKIM_SETUP_KERNELS = 16,
  SKIM_SETUP_QUERY_BLOCKS = 16,
  /* The tables of a run travel in launches of so many bytes; parameters of a kernel end at 4096. */
  SKIM_SETUP_TABLE_BYTES = 2688,
  SKIM_UPLOAD_BYTES = 4032,
  /* Blocks that share the pages of one request, each with a byte of its own for what it found. */
  SKIM_PAGE_CHECKS = 8
};

/* The work items of one KV head of one request, side by side. */
typedef struct skim_item_group {
  int32_t first;
  int32_t count;
  int32_t longest; /* the most visits of an item */
} skim_item_group;

/* The work items of one kernel. */
typedef struct skim_setup_kernel {
  skim_work_item *items;
  int32_t *count;
  int32_t *next;
  int32_t axis; /* of tiles: 0 none, 1 queries, 2 keys */
  int32_t tile_size;
  int32_t groups; /* KV heads, or 1 for all heads */
  int32_t heads_per_group;
  /* [groups][requests]: receives where they lie, and has the items of a KV head stand request by
   * request; null: the tiles of all requests that see most keys come first. */
  skim_item_group *item_groups;
} skim_setup_kernel;

/* An input whose query-like axis has `blocks` blocks of `size` rows. */
typedef struct skim_setup_query_block {
  int32_t size;
  int32_t blocks;
} skim_setup_query_block;

typedef struct skim_setup_arguments {
  const int32_t *cu_seqlens_q;  /* [requests + 1] */
  const int32_t *kv_lens;       /* [requests] */
  const int32_t *cu_seqlens_kv; /* [requests + 1], null when paged */
  const uint8_t *page_checks;   /* [requests][SKIM_PAGE_CHECKS], null when contiguous */
  int32_t *status;              /* bits are added */
  int32_t *reported;            /* of the host: receives the bits so far */

  int32_t requests;
  int32_t kernels;
  int32_t query_blocks;
  int32_t noncausal;
  int32_t lanes_per_tile; /* a power of two */
  int32_t reserved;

  /* What the lengths must stay within. */
  int32_t query_tokens;
  int32_t max_query_length;
  int32_t max_kv_length;
  int32_t kv_tokens;

  skim_setup_query_block query_block[SKIM_SETUP_QUERY_BLOCKS];
  skim_setup_kernel kernel[SKIM_SETUP_KERNELS];

  /* Bytes for the workspace, whole 16-byte words at addresses of 16 bytes. */
  uint8_t *tables;
  int64_t table_bytes;
  uint64_t table[SKIM_SETUP_TABLE_BYTES / 8];
} skim_setup_arguments;

/* More bytes for the workspace. */
typedef struct skim_upload_arguments {
  uint8_t *destination;
  int64_t bytes;
  uint64_t data[SKIM_UPLOAD_BYTES / 8];
} skim_upload_arguments;

typedef struct skim_page_arguments {
  const int32_t *kv_lens;
  const int32_t *block_table; /* [requests][stride], `columns` of each row are there */
  int64_t stride;
  int32_t columns;
  int32_t page_size;
  int32_t pages;
  int32_t reserved;
  uint8_t *checks; /* [requests][SKIM_PAGE_CHECKS] */
} skim_page_arguments;

/* A result that starts at one value: `extents` elements of 1 or 4 bytes by strides in elements. */
typedef struct skim_fill_arguments {
  void *data;
  int64_t extents[3];
  int64_t strides[3];
  int32_t value;
  int32_t element_size;
} skim_fill_arguments;

#ifdef __cplusplus
}
#endif

#endif /* SKIM_RUNTIME_CUDA_DEVICE_SETUPARGUMENTS_H */
