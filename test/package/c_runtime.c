/* The runtime's C interface from a C99 program: c_runtime F.skimb */
#include <skim/skim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, skim_last_message());             \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

enum { TOKENS = 90, QUERY_HEADS = 8, KV_HEADS = 2, DIM = 64 };

static float q[TOKENS * QUERY_HEADS * DIM], k[TOKENS * KV_HEADS * DIM], v[TOKENS * KV_HEADS * DIM];
static float out[TOKENS * QUERY_HEADS * DIM], lse[QUERY_HEADS * TOKENS];

static void fill(float *values, size_t count) {
  static unsigned state = 1;
  size_t i;
  for (i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
  }
}

/* The log-sum-exp of one row under a window, without sinks. */
static double plain_lse(int row, int head, int window) {
  double sum = 0;
  int key, i;
  for (key = row - window + 1 > 0 ? row - window + 1 : 0; key <= row; ++key) {
    double score = 0;
    for (i = 0; i < DIM; ++i)
      score += (double)q[(row * QUERY_HEADS + head) * DIM + i] *
               k[(key * KV_HEADS + head / (QUERY_HEADS / KV_HEADS)) * DIM + i];
    sum += exp(score / 8);
  }
  return log(sum);
}

int main(int argc, char **argv) {
  const int32_t starts[2] = {0, TOKENS}, lengths[1] = {TOKENS};
  const int64_t queries[3] = {TOKENS, QUERY_HEADS, DIM}, keys[3] = {TOKENS, KV_HEADS, DIM};
  const int64_t of_lse[2] = {QUERY_HEADS, TOKENS}, two[1] = {2}, one[1] = {1};
  const int64_t sink = 0, window = 20;
  const double wrong = 1.5;
  skim_kernel *kernel = NULL;
  skim_plan *plan = NULL;
  skim_batch_shape shape;
  skim_signature signature;
  skim_statistics statistics;
  skim_load_options load;
  skim_operands operands;
  skim_run_options options;
  skim_value values[2];
  void *memory, *workspace;
  size_t bytes;
  int row;

  CHECK(argc == 2);
  CHECK(skim_api_version() >= SKIM_API_VERSION);
  CHECK(skim_kernel_load("nowhere.skimb", NULL, &kernel) == SKIM_ENVIRONMENT && !kernel);
  CHECK(strstr(skim_last_message(), "nowhere.skimb: cannot open") != NULL);
  CHECK(skim_kernel_load_memory("no bundle", 9, NULL, &kernel) == SKIM_CORRUPT && !kernel);
  CHECK(skim_kernel_load_memory(NULL, 9, NULL, &kernel) == SKIM_INVALID_ARGUMENT && !kernel);
  CHECK(strstr(skim_last_message(), "bundle: expected 9 bytes but got null") != NULL);
  memset(&load, 0, sizeof(load));
  CHECK(skim_kernel_load(argv[1], &load, &kernel) == SKIM_INVALID_ARGUMENT);
  CHECK(strstr(skim_last_message(), "options.struct_size") != NULL);
  load.struct_size = sizeof(load);
  load.pattern = "causal";
  CHECK(skim_kernel_load(argv[1], &load, &kernel) == SKIM_INVALID_ARGUMENT);
  load.pattern = "streaming";
  load.head_dim = DIM;
  CHECK(skim_kernel_load(argv[1], &load, &kernel) == SKIM_OK && kernel);
  CHECK(strcmp(skim_last_message(), "") == 0);
  CHECK(strcmp(skim_kernel_pattern(kernel), "streaming") == 0);
  CHECK(strstr(skim_kernel_launch_plan(kernel), "\"window\"") != NULL);
  signature = skim_kernel_signature(kernel);
  CHECK(signature.query_heads == QUERY_HEADS && signature.kv_heads == KV_HEADS &&
        signature.head_dim == DIM && signature.dtype == SKIM_F32 && signature.page_size == 0);

  fill(q, sizeof(q) / sizeof(*q));
  fill(k, sizeof(k) / sizeof(*k));
  fill(v, sizeof(v) / sizeof(*v));
  {
    const skim_tensor q_view = skim_dense_tensor(q, SKIM_F32, 3, queries);
    const skim_tensor k_view = skim_dense_tensor(k, SKIM_F32, 3, keys);
    const skim_tensor v_view = skim_dense_tensor(v, SKIM_F32, 3, keys);
    const skim_tensor out_view = skim_dense_tensor(out, SKIM_F32, 3, queries);
    const skim_tensor lse_view = skim_dense_tensor(lse, SKIM_F32, 2, of_lse);
    const skim_tensor starts_view = skim_dense_tensor((void *)starts, SKIM_I32, 1, two);
    const skim_tensor lengths_view = skim_dense_tensor((void *)lengths, SKIM_I32, 1, one);
    skim_tensor foreign = q_view;

    CHECK(skim_batch_shape_of(&starts_view, &lengths_view, &shape) == SKIM_OK);
    CHECK(shape.requests == 1 && shape.max_query_length == TOKENS && shape.max_kv_length == TOKENS);
    CHECK(skim_kernel_plan(kernel, &shape, 0, &plan) == SKIM_OK);
    bytes = (size_t)skim_plan_workspace_bytes(plan);
    memory = malloc(bytes + SKIM_WORKSPACE_ALIGNMENT);
    CHECK(memory != NULL);
    workspace =
        (char *)memory + (SKIM_WORKSPACE_ALIGNMENT - (uintptr_t)memory % SKIM_WORKSPACE_ALIGNMENT);

    memset(&operands, 0, sizeof(operands));
    operands.struct_size = sizeof(operands);
    operands.q = &q_view;
    operands.k = &k_view;
    operands.v = &v_view;
    operands.cu_seqlens_q = &starts_view;
    operands.cu_seqlens_kv = &starts_view;
    operands.kv_lens = &lengths_view;
    operands.out = &out_view;
    operands.lse = &lse_view;
    memset(values, 0, sizeof(values));
    values[0].name = "sink";
    values[0].type = SKIM_INDEX;
    values[0].count = 1;
    values[0].indices = &sink;
    values[1] = values[0];
    values[1].name = "window";
    values[1].indices = &window;
    memset(&options, 0, sizeof(options));
    options.struct_size = sizeof(options);
    options.threads = 1;
    options.statistics = &statistics;

    CHECK(skim_kernel_run(kernel, plan, &operands, values, 2, workspace, bytes - 1, &options) ==
          SKIM_WORKSPACE_TOO_SMALL);
    CHECK(skim_kernel_run(kernel, plan, &operands, values, 2, NULL, bytes, &options) ==
          SKIM_WORKSPACE_TOO_SMALL);
    CHECK(skim_kernel_run(kernel, plan, &operands, NULL, 2, workspace, bytes, &options) ==
          SKIM_INVALID_ARGUMENT);
    CHECK(strstr(skim_last_message(), "parameters: expected 2 values but got null") != NULL);
    size_t count = values[0].count;
    values[0].count = (size_t)1 << 60;
    CHECK(skim_kernel_run(kernel, plan, &operands, values, 2, workspace, bytes, &options) ==
          SKIM_INVALID_ARGUMENT);
    CHECK(strstr(skim_last_message(), "expected at most 1048576 values") != NULL);
    values[0].count = count;
    operands.input_count = 1;
    CHECK(skim_kernel_run(kernel, plan, &operands, values, 2, workspace, bytes, &options) ==
          SKIM_INVALID_ARGUMENT);
    CHECK(strstr(skim_last_message(), "operands.inputs: expected 1 inputs but got null") != NULL);
    operands.input_count = 0;
    foreign.dtype = (skim_dtype)77;
    operands.q = &foreign;
    CHECK(skim_kernel_run(kernel, plan, &operands, values, 2, workspace, bytes, &options) ==
          SKIM_INVALID_ARGUMENT);
    CHECK(strstr(skim_last_message(), "q: expected an element type") != NULL);
    operands.q = &q_view;
    values[1].type = SKIM_FLOAT;
    values[1].floats = &wrong;
    CHECK(skim_kernel_run(kernel, plan, &operands, values, 2, workspace, bytes, &options) ==
          SKIM_INVALID_ARGUMENT);
    values[1].type = SKIM_INDEX;
    CHECK(skim_kernel_run(kernel, plan, &operands, values, 2, workspace, bytes, &options) ==
          SKIM_OK);
    CHECK(skim_kernel_status(kernel, NULL) == SKIM_OK);
  }
  /* 20 keys a row, fewer in the first rows. */
  CHECK(statistics.pairs_kept == QUERY_HEADS * (TOKENS * 20 - 190));
  for (row = 0; row < TOKENS; ++row)
    CHECK(fabs(lse[5 * TOKENS + row] - plain_lse(row, 5, 20)) < 1e-4);
  free(memory);
  skim_plan_free(plan);
  skim_kernel_free(kernel);
  skim_kernel_free(NULL);
  printf("fine\n");
  return 0;
}
