/* The runtime from C (C99) and from whatever calls C: load compiled patterns, plan and run them. It
 * mirrors the C++ headers beside it (Kernel.h, Operands.h, Parameters.h), which describe shapes and
 * units at length. skim_serving.h has pages, metrics and the quality probe, skim_compiler.h the
 * compiler.
 *
 * Conventions. Every function that can fail returns a code; skim_last_message() then says why,
 * naming the argument, what was expected and what was got. Results are written only on success. A
 * handle belongs to the caller until it is given to its own `_free`, which takes NULL too. Handles
 * are immutable and threads may share them, unless their functions say otherwise. Nothing aborts on
 * bad values; pointers must point to what they say. Functions that only read a handle and return no
 * code take no NULL.
 *
 * Structures that may grow start with `struct_size`, which the caller sets to sizeof of the
 * structure, also where the function fills them: fields that an older caller does not know are as
 * if zero, or left out. A structure that is zero otherwise asks for the defaults. */
#ifndef SKIM_SKIM_H
#define SKIM_SKIM_H

#include <skim/abi.h>

#include <stddef.h>
#include <stdint.h>

/* In C++ an enumeration of a fixed type may hold any number, also one that a caller made up. */
#ifdef __cplusplus
#define SKIM_ENUM_TYPE : int32_t
#else
#define SKIM_ENUM_TYPE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a function or a field is added; nothing is ever taken away or changed in place. */
#define SKIM_API_VERSION 2u

/* The version of the library that is linked, at least that of the header. */
uint32_t skim_api_version(void);

typedef enum skim_status_code SKIM_ENUM_TYPE {
  SKIM_OK = 0,
  SKIM_INVALID_ARGUMENT = 1, /* a wrong shape, type, stride, name or value; nothing was run */
  SKIM_INVALID_PATTERN = 2,  /* the text of a pattern is wrong; the message has its diagnostics */
  SKIM_WORKSPACE_TOO_SMALL = 3, /* smaller or less aligned than the plan asks for */
  SKIM_CORRUPT = 4,             /* a file is damaged or of another version */
  SKIM_UNSUPPORTED = 5,         /* well formed, but not for this kernel or machine */
  SKIM_DATA_OUT_OF_RANGE = 6,   /* the run finished, leaving out values out of range in an input */
  SKIM_EXHAUSTED = 7,           /* a cache has no page left; nothing was changed */
  SKIM_ENVIRONMENT = 8          /* the machine refused something: files, threads, memory */
} skim_status_code;

/* The message of the last failure on this thread, valid until the thread's next call; "" where
 * there was none. */
const char *skim_last_message(void);

/* Text that a function has given away; NULL too. */
void skim_string_free(char *text);
/* Bytes that a function has given away; NULL too. */
void skim_bytes_free(void *bytes);

/* ---- arrays ---- */

typedef enum skim_dtype SKIM_ENUM_TYPE {
  SKIM_F32 = 0,
  SKIM_F16 = 1,
  SKIM_BF16 = 2,
  SKIM_U8 = 3, /* also a bool: 0 or not 0 */
  SKIM_I32 = 4,
  SKIM_I64 = 5,
  SKIM_F8E4M3 = 6 /* 8 bits without infinity, largest 448: KV caches alone */
} skim_dtype;

#define SKIM_MAX_RANK 6

/* An array that the caller owns. Element (i0, i1, ...) lies at data + (i0 * strides[0] + ...)
 * elements. An absent array is a NULL pointer to the structure. */
typedef struct skim_tensor {
  void *data;
  skim_dtype dtype;
  int32_t rank; /* 0 to SKIM_MAX_RANK */
  int64_t shape[SKIM_MAX_RANK];
  int64_t strides[SKIM_MAX_RANK]; /* in elements */
} skim_tensor;

/* A dense array, the last axis fastest. A rank past SKIM_MAX_RANK is refused where the array is
 * used. */
skim_tensor skim_dense_tensor(void *data, skim_dtype dtype, int32_t rank, const int64_t *shape);

/* ---- kernels ---- */

typedef struct skim_kernel skim_kernel;

/* The value of a `constexpr` parameter; a bool is 0 or 1. */
typedef struct skim_constant {
  const char *name;
  double value;
} skim_constant;

/* Which kernel of a bundle to load: see LoadOptions.h. Counts of 0 and NULL ask for nothing. */
typedef struct skim_load_options {
  size_t struct_size;
  const char *pattern;
  const char *target;
  int64_t query_heads;
  int64_t kv_heads;
  int64_t head_dim;
  int64_t value_dim;
  const skim_dtype *dtype;     /* of q, k and v; NULL: any */
  const skim_dtype *out_dtype; /* NULL: any */
  const int64_t *page_size;    /* 0: contiguous; NULL: any */
  const skim_constant *constants;
  size_t constant_count;
} skim_load_options;

/* A kernel of the bundle at `path`. `options` may be NULL. SKIM_ENVIRONMENT where the file cannot
 * be read, SKIM_CORRUPT where it is damaged, foreign or of another format, SKIM_UNSUPPORTED where
 * it has no code for this machine, SKIM_INVALID_ARGUMENT where `options` fit no kernel or several.
 */
skim_status_code skim_kernel_load(const char *path, const skim_load_options *options,
                                  skim_kernel **kernel);
/* The same from memory, which may go afterwards. */
skim_status_code skim_kernel_load_memory(const void *bundle, size_t bytes,
                                         const skim_load_options *options, skim_kernel **kernel);
/* A kernel on a CUDA device: `image` is PTX text, a cubin or a fat binary with the kernels of
 * `launch_plan`, JSON as `skim compile --target sm_90a --emit plan` prints it. `device` counts from
 * 0; -1 takes the calling thread's current context and, where there is none, device 0. Bundles are
 * simpler: skim_kernel_load with the target "sm_90a" takes both from one file. SKIM_ENVIRONMENT
 * where there is no driver or device, or it refuses the code. */
skim_status_code skim_kernel_create_cuda(const char *launch_plan, const void *image, size_t bytes,
                                         int32_t device, skim_kernel **kernel);
void skim_kernel_free(skim_kernel *kernel);

/* 1 where the kernel runs on a CUDA device, else 0. */
int32_t skim_kernel_is_on_cuda(const skim_kernel *kernel);

/* What the kernel was compiled for. */
typedef struct skim_signature {
  int64_t query_heads;
  int64_t kv_heads;
  int64_t head_dim;
  int64_t value_dim;
  skim_dtype dtype;     /* of q, k and v */
  skim_dtype out_dtype; /* of the output */
  int64_t page_size;    /* 0: contiguous; -1: every layout */
} skim_signature;
skim_signature skim_kernel_signature(const skim_kernel *kernel);

/* The name of the pattern; lives as long as the kernel. */
const char *skim_kernel_pattern(const skim_kernel *kernel);
/* The launch plan as JSON: parameters with types and defaults, inputs, buffers, kernels. Lives as
 * long as the kernel. */
const char *skim_kernel_launch_plan(const skim_kernel *kernel);

/* ---- plans ---- */

typedef struct skim_plan skim_plan;

/* Upper bounds; a plan serves every batch within them. 0 and up, in 31 bits. */
typedef struct skim_batch_shape {
  int64_t requests;
  int64_t total_query_tokens;
  int64_t max_query_length;
  int64_t max_kv_length;
} skim_batch_shape;

/* The smallest shape that admits these lengths: cu_seqlens_q i32[requests + 1], kv_lens
 * i32[requests]. */
skim_status_code skim_batch_shape_of(const skim_tensor *cu_seqlens_q, const skim_tensor *kv_lens,
                                     skim_batch_shape *shape);

/* Sizes the workspace for batches within `shape` on up to `workers` threads, 0: as many as the
 * process's pool has. The plan may outlive the kernel. */
skim_status_code skim_kernel_plan(const skim_kernel *kernel, const skim_batch_shape *shape,
                                  int64_t workers, skim_plan **plan);
void skim_plan_free(skim_plan *plan);

/* Bytes of workspace that each run needs, at an address that is a multiple of
 * SKIM_WORKSPACE_ALIGNMENT. */
#define SKIM_WORKSPACE_ALIGNMENT 64
int64_t skim_plan_workspace_bytes(const skim_plan *plan);

/* ---- threads ---- */

typedef struct skim_thread_pool skim_thread_pool;

/* Threads that runs take, the calling one included: 1 to 4096, 0 for one a core. Callers may share
 * a pool: their runs then follow one another. SKIM_ENVIRONMENT where the machine gives no threads.
 */
skim_status_code skim_thread_pool_create(int64_t threads, skim_thread_pool **pool);
/* While no run uses it. */
void skim_thread_pool_free(skim_thread_pool *pool);
int64_t skim_thread_pool_threads(const skim_thread_pool *pool);

/* ---- runs ---- */

typedef enum skim_kv_layout SKIM_ENUM_TYPE {
  SKIM_CONTIGUOUS = 0, /* [kv tokens, kv_heads, dim], requests by cu_seqlens_kv */
  SKIM_PAGED_NHD = 1,  /* [pages, page_size, kv_heads, dim] */
  SKIM_PAGED_HND = 2   /* [pages, kv_heads, page_size, dim] */
} skim_kv_layout;

/* An input of the pattern by its name: see Operands.h. */
typedef struct skim_named_tensor {
  const char *name;
  skim_tensor tensor;
} skim_named_tensor;

/* The arrays of a run: see Operands.h. The last axis of q, k, v and out has stride 1. */
typedef struct skim_operands {
  size_t struct_size;
  const skim_tensor *q; /* [tokens, query_heads, head_dim] */
  const skim_tensor *k; /* see kv_layout */
  const skim_tensor *v;
  skim_kv_layout kv_layout;
  const skim_tensor *cu_seqlens_q;      /* i32[requests + 1] */
  const skim_tensor *kv_lens;           /* i32[requests] */
  const skim_tensor *cu_seqlens_kv;     /* i32[requests + 1], contiguous layout only */
  const skim_tensor *block_table;       /* i32[requests, max_pages], paged layouts only */
  const skim_tensor *out;               /* result: [tokens, query_heads, value_dim] */
  const skim_tensor *lse;               /* result, optional: f32[query_heads, tokens] */
  const skim_tensor *compact_positions; /* result, optional: i32[requests, heads, capacity] */
  const skim_tensor *compact_counts;    /* result, optional: i32[requests, heads] */
  const skim_named_tensor *inputs;
  size_t input_count;
  double softmax_scale; /* 0: 1 / sqrt(head_dim) */
  int64_t layer;        /* the value of `layer` in the pattern */
  /* f32[requests, kv_heads], optional: what the elements of an FP8 cache are multiplied by. */
  const skim_tensor *k_scales;
  const skim_tensor *v_scales;
} skim_operands;

typedef enum skim_value_type SKIM_ENUM_TYPE {
  SKIM_INDEX = 0,
  SKIM_FLOAT = 1,
  SKIM_BOOL = 2
} skim_value_type;

/* The launch-time value of a parameter: `count` values, 1 or one a query head. */
typedef struct skim_value {
  const char *name;
  skim_value_type type;
  size_t count;
  const int64_t *indices; /* SKIM_INDEX */
  const double *floats;   /* SKIM_FLOAT */
  const uint8_t *bools;   /* SKIM_BOOL: 0 or not 0 */
} skim_value;

/* Counts the runs of one pattern: see skim_serving.h. */
typedef struct skim_run_metrics skim_run_metrics;

/* On a CUDA device only `stream` and `kept` are for a run: the others must be zero. */
typedef struct skim_run_options {
  size_t struct_size;
  int64_t threads;              /* at most so many, the caller included; 0: all of the pool */
  skim_statistics *statistics;  /* optional: receives the sums over all work items */
  void *stream;                 /* of a kernel on a CUDA device: a CUstream or cudaStream_t */
  const skim_thread_pool *pool; /* NULL: the process's own, one thread a core */
  /* Optional: one entry a query head, the sums over the work items of that head. */
  skim_statistics *head_statistics;
  size_t head_statistics_count;
  /* Optional: one entry a kernel of the launch plan, its wall time in seconds. */
  double *kernel_seconds;
  size_t kernel_seconds_count;
  skim_run_metrics *metrics; /* optional: counts the run */
  /* Result, optional: u8[query_heads, tokens, keys], 1 for each kept pair; only for kernels that
   * were compiled with `writes_kept`. */
  const skim_tensor *kept;
} skim_run_options;

/* Checks all arguments, then computes `out` and the other results that are given; nothing is
 * written when an argument is refused. SKIM_DATA_OUT_OF_RANGE comes after a finished run. Threads
 * may run one kernel at once with distinct workspaces and results. `options` may be NULL.
 * On a CUDA device all arrays and the workspace are memory of the device, and the run is put on
 * `stream`: it waits for nothing and may be captured in a graph. */
skim_status_code skim_kernel_run(const skim_kernel *kernel, const skim_plan *plan,
                                 const skim_operands *operands, const skim_value *parameters,
                                 size_t parameter_count, void *workspace, size_t workspace_bytes,
                                 const skim_run_options *options);

/* What the runs of a kernel on a CUDA device have met out of range since the last call, after the
 * work on `stream`; SKIM_OK on the CPU, where the run itself reports. */
skim_status_code skim_kernel_status(const skim_kernel *kernel, void *stream);

/* ---- what comes after runs ---- */

/* The result of attention over some of the keys. */
typedef struct skim_attention_state {
  const skim_tensor *out; /* [tokens, heads, dim], f32, f16 or bf16 */
  const skim_tensor *lse; /* f32[heads, tokens] */
} skim_attention_state;

/* Attention over the union of disjoint sets of keys, from the results over each: see MergeStates.h.
 * `merged` may be one of the parts but must not overlap one otherwise. */
skim_status_code skim_merge_states(const skim_attention_state *parts, size_t count,
                                   const skim_attention_state *merged);

/* What skim_gather_tokens reads and writes: see GatherTokens.h. */
typedef struct skim_token_gather {
  size_t struct_size;
  const skim_tensor *tokens;     /* [tokens, ...], any type */
  const skim_tensor *cu_seqlens; /* i32[requests + 1] */
  const skim_tensor *kv_lens;    /* i32[requests], optional: the tokens are a request's last ones */
  const skim_tensor *positions;  /* i32[requests, heads, capacity]: compact_positions of a run */
  const skim_tensor *counts;     /* i32[requests, heads]: compact_counts of a run */
  int64_t head;                  /* whose positions */
  const skim_tensor *gathered;   /* result: [gathered, ...], the tokens of all requests */
  const skim_tensor *gathered_cu_seqlens; /* result: i32[requests + 1] */
  const skim_tensor *gathered_positions;  /* result, optional: i32[gathered] */
} skim_token_gather;

/* Packs the tokens that a pattern's `compact` chose. Nothing is written when an argument or a
 * position is refused. */
skim_status_code skim_gather_tokens(const skim_token_gather *gather);

#ifdef __cplusplus
}
#endif

#endif /* SKIM_SKIM_H */
