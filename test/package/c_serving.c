/* Serving from a C99 program: a bundle made in memory, pages, metrics, the probe, threads, merged
 * states and gathered tokens: c_serving */
#include <skim/skim_compiler.h>

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

enum { TOKENS = 40, QUERY_HEADS = 4, KV_HEADS = 2, DIM = 16, PAGE = 8, HALF = TOKENS / 2 };

static float q[TOKENS * QUERY_HEADS * DIM], k[TOKENS * KV_HEADS * DIM], v[TOKENS * KV_HEADS * DIM];
static float back_k[TOKENS * KV_HEADS * DIM], back_v[TOKENS * KV_HEADS * DIM];
static float out[TOKENS * QUERY_HEADS * DIM], lse[QUERY_HEADS * TOKENS];
static float dense_out[TOKENS * QUERY_HEADS * DIM], dense_lse[QUERY_HEADS * TOKENS];
static float far_out[TOKENS * QUERY_HEADS * DIM], far_lse[QUERY_HEADS * TOKENS];
static unsigned char kept[QUERY_HEADS * TOKENS * TOKENS];

static const int64_t kQueries[3] = {TOKENS, QUERY_HEADS, DIM}, kKeys[3] = {TOKENS, KV_HEADS, DIM};
static const int64_t kLse[2] = {QUERY_HEADS, TOKENS};

static void fill(float *values, size_t count, unsigned state) {
  size_t i;
  for (i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
  }
}

/* What every structure starts with. */
#define CLEAR(structure)                                                                           \
  (memset(&(structure), 0, sizeof(structure)), (structure).struct_size = sizeof(structure))

/* A kernel of a bundle in memory: near keys, all keys, and the far keys that near leaves out. */
static int load(const char *pattern, skim_kernel **kernel) {
  static const char *const texts[3] = {
      "pattern near(window: index = 8) { keep q - k < window }\n", "pattern all { keep true }\n",
      "pattern far(window: index = 8) { keep not (q - k < window) }\n"};
  const skim_dtype dtype = SKIM_F32;
  skim_compiler_options compiler_options;
  skim_compile_options options;
  skim_bundle_request requests[3];
  skim_load_options load_options;
  skim_compiler *compiler = NULL;
  void *bundle = NULL;
  size_t bytes = 0;
  int i;

  CLEAR(compiler_options);
  compiler_options.cache_directory = "";
  CHECK(skim_compiler_create(&compiler_options, &compiler) == SKIM_OK);
  CLEAR(options);
  options.query_heads = QUERY_HEADS;
  options.kv_heads = KV_HEADS;
  options.head_dim = DIM;
  options.dtype = &dtype;
  options.writes_kept = 1;
  for (i = 0; i < 3; ++i) {
    CLEAR(requests[i]);
    requests[i].text = texts[i];
    requests[i].options = &options;
  }
  CHECK(skim_compiler_bundle(compiler, requests, 3, &bundle, &bytes, NULL) == SKIM_OK);
  CLEAR(load_options);
  load_options.pattern = pattern;
  CHECK(skim_kernel_load_memory(bundle, bytes, &load_options, kernel) == SKIM_OK);
  CHECK(!skim_kernel_is_on_cuda(*kernel));
  skim_bytes_free(bundle);

  /* Twice the same kernel is refused, and intermediate forms are text. */
  requests[1] = requests[0];
  CHECK(skim_compiler_bundle(compiler, requests, 2, &bundle, &bytes, NULL) ==
        SKIM_INVALID_ARGUMENT);
  CHECK(skim_compiler_emit(compiler, texts[0], NULL, &options, SKIM_STAGE_PLAN, &bundle, &bytes,
                           NULL) == SKIM_OK);
  CHECK(bytes == strlen(bundle) && strstr(bundle, "\"near\"") != NULL);
  skim_bytes_free(bundle);
  CHECK(skim_compiler_emit(compiler, texts[0], NULL, &options, (skim_stage)99, &bundle, &bytes,
                           NULL) == SKIM_INVALID_ARGUMENT);
  skim_compiler_free(compiler);
  return 0;
}

/* Runs over a bound batch with results of its own; the workspace lives as long as the run. */
static int run(const skim_kernel *kernel, const skim_operands *bound, float *result,
               float *result_lse, const skim_run_options *options) {
  const skim_tensor out_view = skim_dense_tensor(result, SKIM_F32, 3, kQueries);
  const skim_tensor lse_view = skim_dense_tensor(result_lse, SKIM_F32, 2, kLse);
  skim_operands operands = *bound;
  skim_batch_shape shape;
  skim_plan *plan = NULL;
  size_t bytes;
  char *memory;

  operands.out = &out_view;
  operands.lse = &lse_view;
  CHECK(skim_batch_shape_of(operands.cu_seqlens_q, operands.kv_lens, &shape) == SKIM_OK);
  CHECK(skim_kernel_plan(kernel, &shape, 2, &plan) == SKIM_OK);
  bytes = (size_t)skim_plan_workspace_bytes(plan);
  memory = malloc(bytes + SKIM_WORKSPACE_ALIGNMENT);
  CHECK(memory != NULL);
  CHECK(skim_kernel_run(
            kernel, plan, &operands, NULL, 0,
            memory + (SKIM_WORKSPACE_ALIGNMENT - (uintptr_t)memory % SKIM_WORKSPACE_ALIGNMENT),
            bytes, options) == SKIM_OK);
  free(memory);
  skim_plan_free(plan);
  return 0;
}

/* Pages: two halves appended, forked, exhausted, read back. Leaves a sequence of all tokens. */
static int use_pages(skim_kv_cache **made, skim_sequence *whole) {
  const skim_dtype dtype = SKIM_F32, wrong = (skim_dtype)55;
  const float scale = 2;
  const int64_t half[3] = {HALF, KV_HEADS, DIM}, some = 12;
  const skim_tensor first_k = skim_dense_tensor(k, SKIM_F32, 3, half);
  const skim_tensor first_v = skim_dense_tensor(v, SKIM_F32, 3, half);
  const skim_tensor second_k = skim_dense_tensor(k + HALF * KV_HEADS * DIM, SKIM_F32, 3, half);
  const skim_tensor second_v = skim_dense_tensor(v + HALF * KV_HEADS * DIM, SKIM_F32, 3, half);
  const skim_tensor all_k = skim_dense_tensor(back_k, SKIM_F32, 3, kKeys);
  const skim_tensor all_v = skim_dense_tensor(back_v, SKIM_F32, 3, kKeys);
  skim_kv_cache_options options;
  skim_kv_cache_statistics statistics;
  skim_kv_cache *cache = NULL;
  skim_sequence sequence, fork;
  int64_t tokens = 0;

  CLEAR(options);
  CHECK(skim_kv_cache_create(&options, &cache) == SKIM_INVALID_ARGUMENT && !cache);
  options.pages = 7;
  options.page_size = PAGE;
  options.kv_heads = KV_HEADS;
  options.head_dim = DIM;
  options.dtype = &wrong;
  CHECK(skim_kv_cache_create(&options, &cache) == SKIM_INVALID_ARGUMENT);
  CHECK(strstr(skim_last_message(), "options.dtype") != NULL);
  options.dtype = &dtype;
  options.layout = SKIM_PAGED_HND;
  CHECK(skim_kv_cache_create(&options, &cache) == SKIM_OK && cache);
  CHECK(skim_kv_cache_allocate(cache, &scale, &scale, 1, &sequence) == SKIM_INVALID_ARGUMENT);
  CHECK(skim_kv_cache_allocate(cache, NULL, NULL, 0, &sequence) == SKIM_OK);
  CHECK(skim_kv_cache_append(cache, sequence, &first_k, &first_v) == SKIM_OK);
  CHECK(skim_kv_cache_fork(cache, sequence, NULL, &fork) == SKIM_OK && fork != sequence);
  CHECK(skim_kv_cache_append(cache, sequence, &second_k, &second_v) == SKIM_OK);
  CHECK(skim_kv_cache_tokens(cache, fork, &tokens) == SKIM_OK && tokens == HALF);
  /* 20 tokens are 3 pages, 40 are 5, of which 2 are shared: one is left, and two are asked for. */
  CHECK(skim_kv_cache_append(cache, fork, &second_k, &second_v) == SKIM_EXHAUSTED);
  CLEAR(statistics);
  CHECK(skim_kv_cache_get_statistics(cache, &statistics) == SKIM_OK);
  CHECK(statistics.pages == 7 && statistics.pages_free == 1 && statistics.pages_shared == 2);
  CHECK(statistics.sequences == 2 && statistics.tokens == TOKENS + HALF);
  CHECK(statistics.page_copies == 1 && statistics.exhausted == 1 && statistics.saturated == 0);
  CHECK(skim_kv_cache_truncate(cache, fork, 3) == SKIM_OK);
  CHECK(skim_kv_cache_end(cache, fork) == SKIM_OK);
  CHECK(skim_kv_cache_end(cache, fork) == SKIM_INVALID_ARGUMENT);
  CHECK(skim_kv_cache_fork(cache, sequence, &some, &fork) == SKIM_OK);
  CHECK(skim_kv_cache_tokens(cache, fork, &tokens) == SKIM_OK && tokens == some);
  CHECK(skim_kv_cache_end(cache, fork) == SKIM_OK);
  CHECK(skim_kv_cache_read(cache, sequence, 0, &all_k, &all_v) == SKIM_OK);
  CHECK(memcmp(back_k, k, sizeof(k)) == 0 && memcmp(back_v, v, sizeof(v)) == 0);
  /* A caller of an older header has no such fields. */
  memset(&statistics, 0x55, sizeof(statistics));
  statistics.struct_size = offsetof(skim_kv_cache_statistics, sequences);
  CHECK(skim_kv_cache_get_statistics(cache, &statistics) == SKIM_OK);
  CHECK(statistics.pages_free == 2 && statistics.sequences == 0x5555555555555555);
  statistics.struct_size = sizeof(statistics) + 8;
  CHECK(skim_kv_cache_get_statistics(cache, &statistics) == SKIM_INVALID_ARGUMENT);
  *made = cache;
  *whole = sequence;
  return 0;
}

static int check_metrics(skim_metrics *metrics, skim_run_metrics *runs, skim_kv_cache *cache,
                         int64_t kept_pairs) {
  const skim_metric_label good = {"host", "a \"b\""}, bad = {"pattern", "x"};
  skim_run_totals totals;
  skim_metrics_totals all;
  skim_run_record record;
  skim_kv_cache_statistics statistics;
  char *text = NULL;

  CLEAR(totals);
  CHECK(skim_run_metrics_get_totals(runs, &totals) == SKIM_OK);
  CHECK(totals.runs == 1 && totals.query_tokens == TOKENS && totals.kept_pairs == kept_pairs);
  CHECK(totals.selection_seconds.bound_count > 10 && totals.attention_seconds.sum > 0);
  CLEAR(record);
  record.requests = 3;
  record.out_of_range = 1;
  record.attention_seconds = 0.5;
  CHECK(skim_run_metrics_record(runs, &record) == SKIM_OK);
  CHECK(skim_run_metrics_get_totals(runs, &totals) == SKIM_OK);
  CHECK(totals.runs == 2 && totals.requests == 4 && totals.runs_out_of_range == 1);

  CHECK(skim_metrics_record_compile(metrics, 0.25) == SKIM_OK);
  CHECK(skim_metrics_record_cache_lookup(metrics, 1) == SKIM_OK);
  CHECK(skim_metrics_record_cache_lookup(metrics, 0) == SKIM_OK);
  CHECK(skim_metrics_record_cache_evictions(metrics, 7) == SKIM_OK);
  CHECK(skim_metrics_record_queueing(metrics, 0.001) == SKIM_OK);
  CHECK(skim_metrics_record_time_to_first_token(metrics, 0.5) == SKIM_OK);
  CHECK(skim_metrics_record_compile(NULL, 1) == SKIM_INVALID_ARGUMENT);
  CLEAR(all);
  CHECK(skim_metrics_get_totals(metrics, &all) == SKIM_OK);
  CHECK(all.cache_hits == 1 && all.cache_misses == 1 && all.cache_evictions == 7);
  CHECK(all.compile_seconds.sum == 0.25 && all.time_to_first_token.sum == 0.5);

  CLEAR(statistics);
  CHECK(skim_kv_cache_get_statistics(cache, &statistics) == SKIM_OK);
  CHECK(skim_metrics_set_kv_cache(metrics, "layer 0", &statistics) == SKIM_OK);
  CHECK(skim_metrics_prometheus_text(metrics, &bad, 1, &text) == SKIM_INVALID_ARGUMENT && !text);
  CHECK(skim_metrics_prometheus_text(metrics, &good, 1, &text) == SKIM_OK);
  CHECK(strstr(text, "skim_runs_total{") != NULL && strstr(text, "host=\"a \\\"b\\\"\"") != NULL);
  CHECK(strstr(text, "skim_kv_cache_sequences{") != NULL);
  skim_string_free(text);
  return 0;
}

/* Near and far keys are all keys: their states merge to dense attention. */
static int check_merge(void) {
  const skim_tensor near_out = skim_dense_tensor(out, SKIM_F32, 3, kQueries);
  const skim_tensor near_lse = skim_dense_tensor(lse, SKIM_F32, 2, kLse);
  const skim_tensor rest_out = skim_dense_tensor(far_out, SKIM_F32, 3, kQueries);
  const skim_tensor rest_lse = skim_dense_tensor(far_lse, SKIM_F32, 2, kLse);
  skim_attention_state parts[2];
  size_t i;

  parts[0].out = &near_out;
  parts[0].lse = &near_lse;
  parts[1].out = &rest_out;
  parts[1].lse = &rest_lse;
  CHECK(skim_merge_states(parts, 2, NULL) == SKIM_INVALID_ARGUMENT);
  CHECK(skim_merge_states(parts, 2, &parts[0]) == SKIM_OK);
  for (i = 0; i < sizeof(out) / sizeof(*out); ++i)
    CHECK(fabs(out[i] - dense_out[i]) < 1e-5);
  for (i = 0; i < sizeof(lse) / sizeof(*lse); ++i)
    CHECK(fabs(lse[i] - dense_lse[i]) < 1e-5);
  return 0;
}

static int check_gather(void) {
  const int32_t starts[3] = {0, 3, 5}, positions[2][3] = {{0, 2, -1}, {1, -1, -1}};
  const int32_t counts[2] = {2, 1};
  const float tokens[5] = {10, 11, 12, 13, 14};
  float gathered[5] = {0};
  int32_t gathered_starts[3], gathered_positions[5];
  const int64_t five[1] = {5}, three[1] = {3}, by_request[3] = {2, 1, 3}, by_head[2] = {2, 1};
  const skim_tensor tokens_view = skim_dense_tensor((void *)tokens, SKIM_F32, 1, five);
  const skim_tensor starts_view = skim_dense_tensor((void *)starts, SKIM_I32, 1, three);
  const skim_tensor positions_view = skim_dense_tensor((void *)positions, SKIM_I32, 3, by_request);
  const skim_tensor counts_view = skim_dense_tensor((void *)counts, SKIM_I32, 2, by_head);
  const skim_tensor gathered_view = skim_dense_tensor(gathered, SKIM_F32, 1, five);
  const skim_tensor new_starts_view = skim_dense_tensor(gathered_starts, SKIM_I32, 1, three);
  const skim_tensor new_positions_view = skim_dense_tensor(gathered_positions, SKIM_I32, 1, five);
  skim_token_gather gather;

  CLEAR(gather);
  CHECK(skim_gather_tokens(&gather) == SKIM_INVALID_ARGUMENT);
  gather.tokens = &tokens_view;
  gather.cu_seqlens = &starts_view;
  gather.positions = &positions_view;
  gather.counts = &counts_view;
  gather.gathered = &gathered_view;
  gather.gathered_cu_seqlens = &new_starts_view;
  gather.gathered_positions = &new_positions_view;
  CHECK(skim_gather_tokens(&gather) == SKIM_OK);
  CHECK(gathered[0] == 10 && gathered[1] == 12 && gathered[2] == 14);
  CHECK(gathered_starts[1] == 2 && gathered_starts[2] == 3 && gathered_positions[1] == 2);
  return 0;
}

/* Near rows beside dense ones: the first rows see less than the window and lose nothing. */
static int check_probe(const skim_kernel *dense, const skim_operands *bound,
                       skim_run_metrics *runs) {
  const skim_tensor out_view = skim_dense_tensor(out, SKIM_F32, 3, kQueries);
  const skim_tensor lse_view = skim_dense_tensor(lse, SKIM_F32, 2, kLse);
  const double every = 1, wrong = 2;
  skim_operands operands = *bound;
  skim_quality_probe *probe = NULL;
  skim_quality_sample *sample = NULL;
  skim_probe_options options;
  skim_run_totals totals;
  const skim_probed_row *rows;
  size_t count = 0, i, whole = 0;

  CHECK(skim_quality_probe_create(dense, &wrong, &probe) == SKIM_INVALID_ARGUMENT && !probe);
  CHECK(skim_quality_probe_create(dense, &every, &probe) == SKIM_OK);
  CHECK(skim_quality_probe_measure(probe, &operands, NULL, 0, NULL, &sample) ==
        SKIM_INVALID_ARGUMENT);
  operands.out = &out_view;
  operands.lse = &lse_view;
  CLEAR(options);
  options.metrics = runs;
  CHECK(skim_quality_probe_measure(probe, &operands, NULL, 0, &options, &sample) == SKIM_OK);
  rows = skim_quality_sample_rows(sample, &count);
  CHECK(count == TOKENS * QUERY_HEADS && skim_quality_sample_seconds(sample) > 0);
  for (i = 0; i < count; ++i) {
    CHECK(rows[i].kept_mass > 0 && rows[i].kept_mass <= 1);
    whole += rows[i].output_error < 1e-5;
  }
  CHECK(whole == 8 * QUERY_HEADS);
  CHECK(skim_quality_probe_measure(probe, &operands, NULL, 0, NULL, NULL) == SKIM_OK);
  CLEAR(totals);
  CHECK(skim_run_metrics_get_totals(runs, &totals) == SKIM_OK);
  CHECK(totals.kept_mass.sum > 0 && totals.probe_seconds > 0);
  skim_quality_sample_free(sample);
  skim_quality_probe_free(probe);
  return 0;
}

/* A kernel for a GPU without one, or of a plan that is none. */
static int check_cuda(void) {
  skim_kernel *kernel = NULL;
  CHECK(skim_kernel_create_cuda("no plan", "image", 5, -1, &kernel) != SKIM_OK && !kernel);
  CHECK(skim_kernel_create_cuda(NULL, NULL, 0, -1, &kernel) == SKIM_INVALID_ARGUMENT);
  return 0;
}

int main(void) {
  const int32_t starts[2] = {0, TOKENS};
  const int64_t two[1] = {2}, relation[3] = {QUERY_HEADS, TOKENS, TOKENS};
  const skim_tensor q_view = skim_dense_tensor(q, SKIM_F32, 3, kQueries);
  const skim_tensor starts_view = skim_dense_tensor((void *)starts, SKIM_I32, 1, two);
  const skim_tensor kept_view = skim_dense_tensor(kept, SKIM_U8, 3, relation);
  skim_kernel *near_keys = NULL, *all_keys = NULL, *far_keys = NULL;
  skim_statistics statistics, of_heads[QUERY_HEADS];
  double seconds[1] = {-1};
  skim_metrics *metrics = NULL;
  skim_run_metrics *runs = NULL, *again = NULL;
  skim_thread_pool *pool = NULL;
  skim_kv_cache *cache = NULL;
  skim_kv_batch *batch = NULL;
  skim_sequence sequence;
  skim_operands operands;
  skim_run_options options;
  int64_t pairs = 0, i;

  fill(q, sizeof(q) / sizeof(*q), 1);
  fill(k, sizeof(k) / sizeof(*k), 2);
  fill(v, sizeof(v) / sizeof(*v), 3);
  CHECK(skim_metrics_create(&metrics) == SKIM_OK);
  CHECK(skim_metrics_runs(metrics, "near", &runs) == SKIM_OK);
  CHECK(skim_metrics_runs(metrics, "near", &again) == SKIM_OK && again == runs);
  if (load("near", &near_keys) || load("all", &all_keys) || load("far", &far_keys) ||
      use_pages(&cache, &sequence))
    return 1;
  CHECK(skim_thread_pool_create(5000, &pool) == SKIM_INVALID_ARGUMENT && !pool);
  CHECK(skim_thread_pool_create(2, &pool) == SKIM_OK && skim_thread_pool_threads(pool) == 2);

  CLEAR(operands);
  operands.q = &q_view;
  operands.cu_seqlens_q = &starts_view;
  CHECK(skim_kv_batch_create(&batch) == SKIM_OK);
  CHECK(skim_kv_cache_bind(cache, &sequence, 1, NULL, &operands) == SKIM_INVALID_ARGUMENT);
  CHECK(skim_kv_cache_bind(cache, &sequence, 1, batch, &operands) == SKIM_OK);
  CHECK(operands.kv_layout == SKIM_PAGED_HND && operands.block_table && !operands.k_scales);

  CLEAR(options);
  options.pool = pool;
  options.metrics = runs;
  options.statistics = &statistics;
  options.head_statistics = of_heads;
  options.head_statistics_count = QUERY_HEADS;
  options.kernel_seconds = seconds;
  options.kernel_seconds_count = 1;
  options.kept = &kept_view;
  if (run(near_keys, &operands, out, lse, &options))
    return 1;
  for (i = 0; i < (int64_t)sizeof(kept); ++i)
    pairs += kept[i];
  CHECK(pairs == QUERY_HEADS * (TOKENS * 8 - 28) && statistics.pairs_kept == pairs);
  CHECK(of_heads[2].pairs_kept * QUERY_HEADS == pairs && seconds[0] >= 0);
  if (check_metrics(metrics, runs, cache, pairs) || check_probe(all_keys, &operands, runs) ||
      run(all_keys, &operands, dense_out, dense_lse, NULL) ||
      run(far_keys, &operands, far_out, far_lse, NULL) || check_merge() || check_gather() ||
      check_cuda())
    return 1;

  skim_kv_batch_free(batch);
  skim_kv_cache_free(cache);
  skim_thread_pool_free(pool);
  skim_metrics_free(metrics);
  skim_kernel_free(near_keys);
  skim_kernel_free(all_keys);
  skim_kernel_free(far_keys);
  printf("fine\n");
  return 0;
}
