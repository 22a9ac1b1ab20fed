/* The compiler from C (C99) and from whatever calls C: pattern text in, a kernel of the runtime
 * out. It mirrors Compiler.h and follows the conventions of skim/skim.h. */
#ifndef SKIM_SKIM_COMPILER_H
#define SKIM_SKIM_COMPILER_H

#include <skim/skim_serving.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct skim_compiler skim_compiler;

typedef struct skim_compiler_options {
  size_t struct_size;
  /* The folder in which compiled kernels are kept; NULL: as Compiler.h says; "": nowhere. */
  const char *cache_directory;
  int64_t cache_bytes; /* how large the folder may become; 0: as Compiler.h says */
  /* Optional: counts compilations and what the cache does. Must outlive the compiler. */
  skim_metrics *metrics;
} skim_compiler_options;

/* `options` may be NULL. Touches no file. */
skim_status_code skim_compiler_create(const skim_compiler_options *options,
                                      skim_compiler **compiler);
void skim_compiler_free(skim_compiler *compiler);

/* The shape of an input of vectors or of a weight of `linear`. */
typedef struct skim_input_shape {
  const char *name;
  int32_t rank;
  const int64_t *extents;
} skim_input_shape;

/* What a pattern is compiled for: see CompileOptions in Compiler.h. Counts of 0 take the defaults.
 */
typedef struct skim_compile_options {
  size_t struct_size;
  const char *target;          /* NULL: cpu, this machine */
  const char *pattern;         /* NULL: the last of the file */
  int64_t query_heads;         /* 1 */
  int64_t kv_heads;            /* 1; divides query_heads */
  int64_t head_dim;            /* 128 */
  int64_t value_dim;           /* as head_dim */
  const skim_dtype *dtype;     /* of q, k and v; NULL: bf16 */
  const skim_dtype *out_dtype; /* NULL: f32 */
  const int64_t *page_size;    /* 0: contiguous; NULL: see CompileOptions */
  const skim_constant *constants;
  size_t constant_count;
  const skim_input_shape *input_shapes;
  size_t input_shape_count;
  int32_t writes_kept; /* not 0: runs can write the relation they kept */
} skim_compile_options;

/* Compiles the text of a pattern, which diagnostics cite as `name` (NULL: "pattern.skim") and
 * beside which imports are looked up, or takes it from the cache. SKIM_INVALID_PATTERN where the
 * text is wrong: the message has its diagnostics, each with its line and caret. `warnings`, where
 * not NULL, receives those of a pattern that compiles, "" where there are none, to be freed by
 * skim_string_free. Threads may share a compiler. */
skim_status_code skim_compiler_compile(const skim_compiler *compiler, const char *text,
                                       const char *name, const skim_compile_options *options,
                                       skim_kernel **kernel, char **warnings);
/* The same of a file. SKIM_INVALID_ARGUMENT where it cannot be read. */
skim_status_code skim_compiler_compile_file(const skim_compiler *compiler, const char *path,
                                            const skim_compile_options *options,
                                            skim_kernel **kernel, char **warnings);

/* One kernel of a bundle. */
typedef struct skim_bundle_request {
  size_t struct_size;
  const char *text;                    /* of a pattern; NULL: of the file `name` */
  const char *name;                    /* as in skim_compiler_compile, or a file's path */
  const skim_compile_options *options; /* NULL: the defaults */
} skim_bundle_request;

/* A bundle with a kernel for each request, which skim_kernel_load reads without a compiler: bytes
 * to be freed by skim_bytes_free. Requests must differ in pattern, target, configuration or
 * constants. `warnings` as for skim_compiler_compile. */
skim_status_code skim_compiler_bundle(const skim_compiler *compiler,
                                      const skim_bundle_request *requests, size_t count,
                                      void **bundle, size_t *bytes, char **warnings);

/* Intermediate forms: see Stage in Compiler.h. */
typedef enum skim_stage SKIM_ENUM_TYPE {
  SKIM_STAGE_SKIM = 0,
  SKIM_STAGE_TILE = 1,
  SKIM_STAGE_PLAN = 2, /* the launch plan as JSON */
  SKIM_STAGE_LLVM = 3,
  SKIM_STAGE_ASSEMBLY = 4, /* of CPUs, as the next */
  SKIM_STAGE_OBJECT = 5,
  SKIM_STAGE_PTX = 6, /* of sm_90a, as the next */
  SKIM_STAGE_CUBIN = 7
} skim_stage;

/* The pattern at `stage`: `bytes` bytes and a zero, to be freed by skim_bytes_free. `text`, `name`,
 * `options` and `warnings` as for skim_compiler_compile. */
skim_status_code skim_compiler_emit(const skim_compiler *compiler, const char *text,
                                    const char *name, const skim_compile_options *options,
                                    skim_stage stage, void **code, size_t *bytes, char **warnings);

#ifdef __cplusplus
}
#endif

#endif /* SKIM_SKIM_COMPILER_H */
