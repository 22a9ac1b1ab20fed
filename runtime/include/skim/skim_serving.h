/* Serving from C (C99): a paged KV cache, metrics and the quality probe. It mirrors PagedKvCache.h,
 * Metrics.h and QualityProbe.h, and follows the conventions of skim.h. */
#ifndef SKIM_SKIM_SERVING_H
#define SKIM_SKIM_SERVING_H

#include <skim/skim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a paged KV cache ---- */

/* Keys and values of one layer on the host, in pages that sequences share. No call that fails
 * changes anything, except that it may be counted. Not synchronised: one call at a time, and none
 * that changes a sequence while a kernel reads it. */
typedef struct skim_kv_cache skim_kv_cache;
/* A sequence of one cache. Never used again once ended. */
typedef int64_t skim_sequence;

/* Counts of 0 and NULL take the defaults. */
typedef struct skim_kv_cache_options {
  size_t struct_size;
  int64_t pages;           /* 1 to 2^31 - 1; must be given */
  int64_t page_size;       /* tokens of a page, 16 */
  int64_t kv_heads;        /* 1 */
  int64_t head_dim;        /* 128 */
  int64_t value_dim;       /* as head_dim */
  const skim_dtype *dtype; /* f32, f16, bf16 or f8e4m3; NULL: bf16 */
  skim_kv_layout layout;   /* SKIM_CONTIGUOUS, which is 0, stands for SKIM_PAGED_NHD */
  /* The caller's memory, both or neither, shaped as the layout says; it must outlive the cache. The
   * last axis has stride 1. Where absent the cache has memory of its own. */
  const skim_tensor *k;
  const skim_tensor *v;
} skim_kv_cache_options;

/* SKIM_ENVIRONMENT where there is no memory. */
skim_status_code skim_kv_cache_create(const skim_kv_cache_options *options, skim_kv_cache **cache);
/* With its sequences. Operands that were bound to it are invalid then. */
void skim_kv_cache_free(skim_kv_cache *cache);

/* A new sequence without tokens; it holds no page. Scales are for FP8 caches alone: one a KV head,
 * finite and positive, what the values of the sequence are divided by; `scale_count` of each, or
 * NULL and 0 for 1. */
skim_status_code skim_kv_cache_allocate(skim_kv_cache *cache, const float *k_scales,
                                        const float *v_scales, size_t scale_count,
                                        skim_sequence *sequence);
/* Adds the tokens of k [tokens, kv_heads, head_dim] and v [tokens, kv_heads, value_dim] at the end.
 * Both f32, f16 or bf16, or both of the cache's type; outside the cache's memory. A last page that
 * is shared is copied first. SKIM_EXHAUSTED where pages are lacking. */
skim_status_code skim_kv_cache_append(skim_kv_cache *cache, skim_sequence sequence,
                                      const skim_tensor *k, const skim_tensor *v);
/* A sequence with the first `tokens` tokens of another (NULL: all), its scales and pages: takes no
 * page and copies nothing. */
skim_status_code skim_kv_cache_fork(skim_kv_cache *cache, skim_sequence sequence,
                                    const int64_t *tokens, skim_sequence *fork);
/* Keeps the first `tokens` tokens. Pages that nobody else holds become free. */
skim_status_code skim_kv_cache_truncate(skim_kv_cache *cache, skim_sequence sequence,
                                        int64_t tokens);
/* Ends a sequence. Pages that nobody else holds become free. */
skim_status_code skim_kv_cache_end(skim_kv_cache *cache, skim_sequence sequence);
/* Tokens of a sequence. */
skim_status_code skim_kv_cache_tokens(const skim_kv_cache *cache, skim_sequence sequence,
                                      int64_t *tokens);
/* Writes the tokens from `first` on to `k` and `v`, as many as these have rows, both f32, f16 or
 * bf16, rounded to that type; values of an FP8 cache are multiplied by their scales. */
skim_status_code skim_kv_cache_read(const skim_kv_cache *cache, skim_sequence sequence,
                                    int64_t first, const skim_tensor *k, const skim_tensor *v);

/* The tables of a batch, kept for the next one. Belongs to one thread at a time. */
typedef struct skim_kv_batch skim_kv_batch;
skim_status_code skim_kv_batch_create(skim_kv_batch **batch);
void skim_kv_batch_free(skim_kv_batch *batch);

/* Sets what concerns the cache in `operands`, for a batch of these sequences in this order: k, v,
 * kv_layout, kv_lens, block_table, and for FP8 the scales; cu_seqlens_kv becomes NULL. A sequence
 * may stand more than once. What the operands then point to belongs to `batch` and is valid until
 * it is bound again or freed, and until a sequence of it changes. */
skim_status_code skim_kv_cache_bind(const skim_kv_cache *cache, const skim_sequence *sequences,
                                    size_t count, skim_kv_batch *batch, skim_operands *operands);

typedef struct skim_kv_cache_statistics {
  size_t struct_size;
  int64_t pages;
  int64_t pages_free;
  int64_t pages_shared; /* those that more than one sequence holds */
  int64_t sequences;
  int64_t tokens;      /* over the sequences, shared ones once for each */
  int64_t page_copies; /* since creation: pages copied on write */
  int64_t exhausted;   /* since creation: calls that found too few free pages */
  int64_t saturated;   /* since creation: elements beyond the range of FP8 */
} skim_kv_cache_statistics;

skim_status_code skim_kv_cache_get_statistics(const skim_kv_cache *cache,
                                              skim_kv_cache_statistics *statistics);

/* ---- metrics ---- */

/* What a process counts and times. Any number of threads may call anything but `_free`. */
typedef struct skim_metrics skim_metrics;
skim_status_code skim_metrics_create(skim_metrics **metrics);
/* With the run metrics taken from it; nothing may use them any more. */
void skim_metrics_free(skim_metrics *metrics);

/* Those of the runs of one pattern, for skim_run_options; made on first use, they live as long as
 * the metrics. Every name stays: take few. */
skim_status_code skim_metrics_runs(skim_metrics *metrics, const char *pattern,
                                   skim_run_metrics **runs);

/* Seconds that a compilation took. A compiler that was given the metrics counts by itself, here as
 * in the next two. */
skim_status_code skim_metrics_record_compile(skim_metrics *metrics, double seconds);
/* Whether a cache of kernels held a kernel: 0 or not 0. */
skim_status_code skim_metrics_record_cache_lookup(skim_metrics *metrics, int32_t hit);
skim_status_code skim_metrics_record_cache_evictions(skim_metrics *metrics, int64_t entries);
/* Seconds from the arrival of a request to its first run, and to its first token. */
skim_status_code skim_metrics_record_queueing(skim_metrics *metrics, double seconds);
skim_status_code skim_metrics_record_time_to_first_token(skim_metrics *metrics, double seconds);
/* The state of a KV cache, in place of what was set before under that name. */
skim_status_code skim_metrics_set_kv_cache(skim_metrics *metrics, const char *name,
                                           const skim_kv_cache_statistics *statistics);

/* One run, for engines that count runs elsewhere: see RunRecord in Metrics.h. */
typedef struct skim_run_record {
  size_t struct_size;
  int64_t requests;
  int64_t query_tokens;
  int64_t key_tokens;
  int64_t visible_pairs;
  int64_t kept_pairs;
  int64_t tiles_visited;
  int64_t tiles_masked;
  int64_t pages_visited;
  int64_t rest_entries;
  int32_t out_of_range; /* 0 or not 0 */
  double selection_seconds;
  double attention_seconds;
} skim_run_record;
skim_status_code skim_run_metrics_record(skim_run_metrics *runs, const skim_run_record *run);

/* Counts of observations below ascending bounds: counts[i] of those up to bounds[i] and beyond the
 * bound before, counts[bound_count] of the rest. */
#define SKIM_HISTOGRAM_BOUNDS 24
typedef struct skim_histogram {
  size_t bound_count; /* up to SKIM_HISTOGRAM_BOUNDS */
  double bounds[SKIM_HISTOGRAM_BOUNDS];
  int64_t counts[SKIM_HISTOGRAM_BOUNDS + 1];
  double sum;
} skim_histogram;

/* Sums over the runs of a pattern. */
typedef struct skim_run_totals {
  size_t struct_size;
  int64_t runs;
  int64_t runs_out_of_range;
  int64_t requests;
  int64_t query_tokens;
  int64_t key_tokens;
  int64_t visible_pairs;
  int64_t kept_pairs;
  int64_t tiles_visited;
  int64_t tiles_masked;
  int64_t pages_visited;
  int64_t rest_entries;
  int64_t rows_not_finite; /* probed rows that held infinities or NaN: in no histogram */
  double last_density;     /* kept over visible pairs of the last run that had visible ones */
  double probe_seconds;
  skim_histogram selection_seconds;
  skim_histogram attention_seconds;
  skim_histogram kept_mass;    /* of probed rows */
  skim_histogram output_error; /* of probed rows */
} skim_run_totals;
skim_status_code skim_run_metrics_get_totals(const skim_run_metrics *runs, skim_run_totals *totals);

/* Of the process, over all patterns. */
typedef struct skim_metrics_totals {
  size_t struct_size;
  int64_t cache_hits;
  int64_t cache_misses;
  int64_t cache_evictions;
  skim_histogram compile_seconds; /* of patterns compiled, not taken from a cache */
  skim_histogram queue_seconds;
  skim_histogram time_to_first_token;
} skim_metrics_totals;
skim_status_code skim_metrics_get_totals(const skim_metrics *metrics, skim_metrics_totals *totals);

typedef struct skim_metric_label {
  const char *name;
  const char *value; /* UTF-8 */
} skim_metric_label;

/* Prometheus' text format 0.0.4, to be freed by skim_string_free. `labels` stand on every sample;
 * refused where one has a name that Prometheus does not allow or that a metric uses. */
skim_status_code skim_metrics_prometheus_text(const skim_metrics *metrics,
                                              const skim_metric_label *labels, size_t label_count,
                                              char **text);

/* ---- the quality probe ---- */

/* Runs dense attention on a sample of the rows that are served; on the CPU. */
typedef struct skim_quality_probe skim_quality_probe;

/* `dense` is the pattern with `keep true`, without `rest`, `skip`, `dense when` and `compact`,
 * compiled for the same heads, types and layout; it may be freed afterwards. `rate` is the share of
 * its work items that is run, 0 to 1; NULL: 1/1024. */
skim_status_code skim_quality_probe_create(const skim_kernel *dense, const double *rate,
                                           skim_quality_probe **probe);
void skim_quality_probe_free(skim_quality_probe *probe);

typedef struct skim_probe_options {
  size_t struct_size;
  uint64_t seed;                /* another number chooses other rows */
  int64_t threads;              /* at most so many, the caller included; 0: all of the pool */
  const skim_thread_pool *pool; /* NULL: the process's own */
  skim_run_metrics *metrics;    /* optional: receives the rows and the time */
} skim_probe_options;

/* One query token of one head. */
typedef struct skim_probed_row {
  double kept_mass;    /* share of the dense softmax's sum that the pattern's has */
  double output_error; /* max |out - dense| / max |dense| over the row */
} skim_probed_row;

typedef struct skim_quality_sample skim_quality_sample;

/* Compares `out` and `lse` of `operands`, which a run of the pattern with these operands and
 * parameters has written, with dense attention. `options` and `sample` may be NULL. */
skim_status_code skim_quality_probe_measure(const skim_quality_probe *probe,
                                            const skim_operands *operands,
                                            const skim_value *parameters, size_t parameter_count,
                                            const skim_probe_options *options,
                                            skim_quality_sample **sample);
void skim_quality_sample_free(skim_quality_sample *sample);
/* The rows, as many as `count` then says; they live as long as the sample. */
const skim_probed_row *skim_quality_sample_rows(const skim_quality_sample *sample, size_t *count);
/* Of the whole measurement. */
double skim_quality_sample_seconds(const skim_quality_sample *sample);

#ifdef __cplusplus
}
#endif

#endif /* SKIM_SKIM_SERVING_H */
