// A paged KV cache on the host, for programs that have no engine to keep one: sequences that grow,
// share the pages of a common prefix and copy a page only when they part.
//
//   auto cache = PagedKvCache::create({.pages = 1024, .kvHeads = 8, .headDim = 128});
//   SequenceId sequence = *cache->allocate();
//   Status status = cache->append(sequence, k, v);
//   KvBatch batch;
//   status = cache->bind({&sequence, 1}, batch, operands);   // then kernel.run(plan, operands,
//   ...)
#ifndef SKIM_PAGEDKVCACHE_H
#define SKIM_PAGEDKVCACHE_H

#include <skim/DType.h>
#include <skim/Operands.h>
#include <skim/Status.h>
#include <skim/TensorView.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace skim {

struct PagedKvCacheOptions {
  int64_t pages = 0;     ///< 1 to 2^31 - 1
  int64_t pageSize = 16; ///< tokens of a page, 1 to 2^31 - 1
  int64_t kvHeads = 1;
  int64_t headDim = 128;
  int64_t valueDim = 0;      ///< 0: headDim
  DType dtype = DType::BF16; ///< f32, f16, bf16 or f8e4m3
  KvLayout layout = KvLayout::PagedNhd;
  /// The caller's memory, both or neither; it must outlive the cache. Shapes are those of the
  /// layout in `KvLayout`, the last axis has stride 1, the others any. Where absent the cache has
  /// memory of its own. Only slots that hold a token of a sequence are ever read.
  TensorView k = {};
  TensorView v = {};
};

/// A sequence of one cache. Never used again once freed.
enum class SequenceId : int64_t {};

/// What the values of a sequence are divided by before they become FP8, one a KV head, finite and
/// positive; empty: 1. Attention multiplies by them.
struct KvScales {
  std::vector<float> k;
  std::vector<float> v;
};

struct PagedKvCacheStatistics {
  int64_t pages = 0;
  int64_t pagesFree = 0;
  int64_t pagesShared = 0; ///< those that more than one sequence holds
  int64_t sequences = 0;
  int64_t tokens = 0;     ///< over the sequences, shared ones once for each
  int64_t pageCopies = 0; ///< since creation: pages copied on write
  int64_t exhausted = 0;  ///< since creation: calls that found too few free pages
  int64_t saturated = 0; ///< since creation: elements beyond the range of FP8 (448 times the scale)

  bool operator==(const PagedKvCacheStatistics &) const = default;
};

/// The tables of a batch. Operands that were bound to it are valid until it changes.
struct KvBatch {
  std::vector<int32_t> kvLens;
  std::vector<int32_t> blockTable; ///< padded with -1
  std::vector<float> kScales;      ///< FP8 alone
  std::vector<float> vScales;
};

/// Keys and values of one layer. A model has a cache a layer: the same calls give the same block
/// tables in each. No call that fails changes anything, except that it may be counted. Not
/// synchronised: one call at a time, and none that changes a sequence while a kernel reads it.
class PagedKvCache {
public:
  /// Fails on impossible options, and with `Environment` where there is no memory.
  static Expected<PagedKvCache> create(const PagedKvCacheOptions &options);

  PagedKvCache(PagedKvCache &&) noexcept;
  PagedKvCache &operator=(PagedKvCache &&) noexcept;
  ~PagedKvCache();

  /// A new sequence without tokens; it holds no page. Scales are for FP8 caches alone.
  Expected<SequenceId> allocate(const KvScales &scales = {});

  /// Adds the tokens of `k` [tokens, kv_heads, head_dim] and `v` [tokens, kv_heads, value_dim] at
  /// the end, rounded to the cache's type. Both f32, f16 or bf16, or both of the cache's type; the
  /// last axis has stride 1, the others any. They may not lie in the cache's memory.
  /// A last page that is shared is copied first. `Exhausted` where pages are lacking.
  Status append(SequenceId sequence, const TensorView &k, const TensorView &v);

  /// A sequence with the first `tokens` tokens of another (default: all), its scales and pages:
  /// takes no page and copies nothing.
  Expected<SequenceId> fork(SequenceId sequence, std::optional<int64_t> tokens = {});

  /// Keeps the first `tokens` tokens. Pages that nobody else holds become free.
  Status truncate(SequenceId sequence, int64_t tokens);

  /// Ends a sequence. Pages that nobody else holds become free.
  Status free(SequenceId sequence);

  /// Tokens of a sequence.
  Expected<int64_t> tokens(SequenceId sequence) const;

  /// Writes the tokens from `first` on to `k` and `v`, as many as these have rows, both f32, f16
  /// or bf16, rounded to that type; values of an FP8 cache are multiplied by their scales.
  Status read(SequenceId sequence, int64_t first, const TensorView &k, const TensorView &v) const;

  /// Sets what concerns the cache in `operands`, for a batch of these sequences in this order:
  /// k, v, kv_layout, kv_lens, block_table, and for FP8 the scales; cu_seqlens_kv is absent.
  /// A sequence may stand more than once. Allocates only where `batch` never was as large.
  Status bind(std::span<const SequenceId> sequences, KvBatch &batch, Operands &operands) const;

  PagedKvCacheStatistics statistics() const;

private:
  struct State;
  explicit PagedKvCache(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

} // namespace skim

#endif // SKIM_PAGEDKVCACHE_H
