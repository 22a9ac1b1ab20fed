// The C interface to the paged KV cache.
#include "runtime/c/Arguments.h"
#include "runtime/c/Handles.h"
#include "runtime/c/Statistics.h"

#include <skim/PagedKvCache.h>

using namespace skim;
using namespace skim::c;

struct skim_kv_cache {
  PagedKvCache cache;
};

struct skim_kv_batch {
  KvBatch tables;
  /// What operands that were bound point to.
  skim_tensor k, v, kvLens, blockTable, kScales, vScales;
};

namespace {

/// A call on the sequence of a cache, and what it gives.
template <typename Result> skim_status_code answer(Expected<Result> result, auto *into) {
  if (!result)
    return c::answer(result.status());
  *into = static_cast<std::remove_pointer_t<decltype(into)>>(*result);
  return c::answer(Status::ok());
}

skim_status_code withRows(const skim_tensor *k, const skim_tensor *v, auto call) {
  Arrays arrays;
  const TensorView keys = arrays.view("k", k);
  const TensorView values = arrays.view("v", v);
  return arrays.isRefused() ? refuse(arrays.refusal()) : c::answer(call(keys, values));
}

constexpr const char *kNoCache = "cache: expected a cache but got null";

/// Where the operands point for an array of the batch; null where it is absent.
const skim_tensor *keep(const TensorView &view, skim_tensor &kept) {
  if (!view.isPresent())
    return nullptr;
  kept = tensorOf(view);
  return &kept;
}

} // namespace

skim_status_code skim_kv_cache_create(const skim_kv_cache_options *given, skim_kv_cache **cache) {
  const Versioned<skim_kv_cache_options> options(given);
  if (!options.isValid())
    return options.refusal("options");
  if (!cache)
    return refuse("cache: expected where to write the handle but got null");
  PagedKvCacheOptions create;
  create.pages = options->pages;
  for (const auto &[count, into] : {std::pair(options->page_size, &create.pageSize),
                                    std::pair(options->kv_heads, &create.kvHeads),
                                    std::pair(options->head_dim, &create.headDim),
                                    std::pair(options->value_dim, &create.valueDim)})
    if (count != 0)
      *into = count;
  if (options->dtype) {
    if (!isDtype(*options->dtype))
      return refuse("options.dtype: expected one of skim_dtype but got " +
                    std::to_string(static_cast<int>(*options->dtype)));
    create.dtype = dtypeOf(*options->dtype);
  }
  if (options->layout < SKIM_CONTIGUOUS || options->layout > SKIM_PAGED_HND)
    return refuse("options.layout: expected one of skim_kv_layout but got " +
                  std::to_string(static_cast<int>(options->layout)));
  if (options->layout != SKIM_CONTIGUOUS)
    create.layout = static_cast<KvLayout>(options->layout);
  Arrays arrays;
  create.k = arrays.view("k", options->k);
  create.v = arrays.view("v", options->v);
  if (arrays.isRefused())
    return refuse(arrays.refusal());
  Expected<PagedKvCache> created = PagedKvCache::create(create);
  if (!created)
    return c::answer(created.status());
  *cache = new skim_kv_cache{*std::move(created)};
  return c::answer(Status::ok());
}

void skim_kv_cache_free(skim_kv_cache *cache) { delete cache; }

skim_status_code skim_kv_cache_allocate(skim_kv_cache *cache, const float *k_scales,
                                        const float *v_scales, size_t scale_count,
                                        skim_sequence *sequence) {
  if (!cache || !sequence)
    return refuse("expected a cache and where to write the sequence but got null");
  KvScales scales;
  if (k_scales)
    scales.k.assign(k_scales, k_scales + scale_count);
  if (v_scales)
    scales.v.assign(v_scales, v_scales + scale_count);
  return ::answer(cache->cache.allocate(scales), sequence);
}

skim_status_code skim_kv_cache_append(skim_kv_cache *cache, skim_sequence sequence,
                                      const skim_tensor *k, const skim_tensor *v) {
  if (!cache)
    return refuse(kNoCache);
  return withRows(k, v, [&](const TensorView &keys, const TensorView &values) {
    return cache->cache.append(SequenceId(sequence), keys, values);
  });
}

skim_status_code skim_kv_cache_fork(skim_kv_cache *cache, skim_sequence sequence,
                                    const int64_t *tokens, skim_sequence *fork) {
  if (!cache || !fork)
    return refuse("expected a cache and where to write the sequence but got null");
  return ::answer(
      cache->cache.fork(SequenceId(sequence), tokens ? std::optional(*tokens) : std::nullopt),
      fork);
}

skim_status_code skim_kv_cache_truncate(skim_kv_cache *cache, skim_sequence sequence,
                                        int64_t tokens) {
  return cache ? c::answer(cache->cache.truncate(SequenceId(sequence), tokens)) : refuse(kNoCache);
}

skim_status_code skim_kv_cache_end(skim_kv_cache *cache, skim_sequence sequence) {
  return cache ? c::answer(cache->cache.free(SequenceId(sequence))) : refuse(kNoCache);
}

skim_status_code skim_kv_cache_tokens(const skim_kv_cache *cache, skim_sequence sequence,
                                      int64_t *tokens) {
  if (!cache || !tokens)
    return refuse("expected a cache and where to write the tokens but got null");
  return ::answer(cache->cache.tokens(SequenceId(sequence)), tokens);
}

skim_status_code skim_kv_cache_read(const skim_kv_cache *cache, skim_sequence sequence,
                                    int64_t first, const skim_tensor *k, const skim_tensor *v) {
  if (!cache)
    return refuse(kNoCache);
  return withRows(k, v, [&](const TensorView &keys, const TensorView &values) {
    return cache->cache.read(SequenceId(sequence), first, keys, values);
  });
}

skim_status_code skim_kv_batch_create(skim_kv_batch **batch) {
  if (!batch)
    return refuse("batch: expected where to write the handle but got null");
  *batch = new skim_kv_batch{};
  return c::answer(Status::ok());
}

void skim_kv_batch_free(skim_kv_batch *batch) { delete batch; }

skim_status_code skim_kv_cache_bind(const skim_kv_cache *cache, const skim_sequence *sequences,
                                    size_t count, skim_kv_batch *batch, skim_operands *operands) {
  if (!cache || !batch || !operands || (!sequences && count > 0))
    return refuse("expected a cache, sequences, a batch and operands but got null");
  Versioned<skim_operands> versioned(operands);
  if (!versioned.isValid())
    return versioned.refusal("operands");
  std::vector<SequenceId> ids;
  ids.reserve(count);
  for (size_t i = 0; i < count; ++i)
    ids.push_back(SequenceId(sequences[i]));
  Operands bound;
  if (Status status = cache->cache.bind(ids, batch->tables, bound); !status)
    return c::answer(status);
  skim_operands &into = versioned.value();
  into.k = keep(bound.k, batch->k);
  into.v = keep(bound.v, batch->v);
  into.kv_layout = static_cast<skim_kv_layout>(bound.kvLayout);
  into.kv_lens = keep(bound.kvLens, batch->kvLens);
  into.block_table = keep(bound.blockTable, batch->blockTable);
  into.cu_seqlens_kv = nullptr;
  into.k_scales = keep(bound.kScales, batch->kScales);
  into.v_scales = keep(bound.vScales, batch->vScales);
  versioned.writeTo(operands);
  return c::answer(Status::ok());
}

skim_status_code skim_kv_cache_get_statistics(const skim_kv_cache *cache,
                                              skim_kv_cache_statistics *statistics) {
  if (!cache || !statistics)
    return refuse("expected a cache and where to write its statistics but got null");
  Versioned<skim_kv_cache_statistics> result(statistics);
  if (!result.isValid())
    return result.refusal("statistics");
  const PagedKvCacheStatistics found = cache->cache.statistics();
  for (const auto &[theirs, ours] : kKvCacheCounts)
    result.value().*theirs = found.*ours;
  result.writeTo(statistics);
  return c::answer(Status::ok());
}
