// Counts of a KV cache in C and in C++, field by field.
#ifndef SKIM_RUNTIME_C_STATISTICS_H
#define SKIM_RUNTIME_C_STATISTICS_H

#include <skim/PagedKvCache.h>
#include <skim/skim_serving.h>

#include <utility>

namespace skim::c {

constexpr std::pair<int64_t skim_kv_cache_statistics::*, int64_t PagedKvCacheStatistics::*>
    kKvCacheCounts[] = {
        {&skim_kv_cache_statistics::pages, &PagedKvCacheStatistics::pages},
        {&skim_kv_cache_statistics::pages_free, &PagedKvCacheStatistics::pagesFree},
        {&skim_kv_cache_statistics::pages_shared, &PagedKvCacheStatistics::pagesShared},
        {&skim_kv_cache_statistics::sequences, &PagedKvCacheStatistics::sequences},
        {&skim_kv_cache_statistics::tokens, &PagedKvCacheStatistics::tokens},
        {&skim_kv_cache_statistics::page_copies, &PagedKvCacheStatistics::pageCopies},
        {&skim_kv_cache_statistics::exhausted, &PagedKvCacheStatistics::exhausted},
        {&skim_kv_cache_statistics::saturated, &PagedKvCacheStatistics::saturated}};
static_assert(sizeof(kKvCacheCounts) / sizeof(*kKvCacheCounts) * sizeof(int64_t) ==
              sizeof(PagedKvCacheStatistics));

} // namespace skim::c

#endif // SKIM_RUNTIME_C_STATISTICS_H
