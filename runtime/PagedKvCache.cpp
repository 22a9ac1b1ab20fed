#include <skim/PagedKvCache.h>

#include "runtime/CheckedMath.h"
#include "runtime/KvPages.h"
#include "runtime/PageAllocator.h"
#include "runtime/TensorCheck.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <unordered_map>

namespace skim {

namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

struct Sequence {
  int64_t tokens = 0;
  std::vector<int32_t> pages;
  KvScales scales;
};

ArgumentName argument(std::string_view name) { return {"", name}; }

bool isFloat(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

Status checkOptions(const PagedKvCacheOptions &options) {
  const std::pair<const char *, int64_t> counts[] = {{"pages", options.pages},
                                                     {"page_size", options.pageSize},
                                                     {"kv_heads", options.kvHeads},
                                                     {"head_dim", options.headDim},
                                                     {"value_dim", options.valueDim}};
  for (const auto &[name, count] : counts)
    if (count < 1 || count > kLargest)
      return expectedButGot(argument(name), "1 to 2^31 - 1", std::to_string(count));
  if (!isFloat(options.dtype) && options.dtype != DType::F8E4M3)
    return expectedButGot(argument("dtype"), "f32, f16, bf16 or f8e4m3", dtypeName(options.dtype));
  if (options.layout == KvLayout::Contiguous)
    return expectedButGot(argument("layout"), "a paged layout", "a contiguous one");
  if (options.k.isPresent() != options.v.isPresent())
    return expectedButGot(argument(options.k.isPresent() ? "v" : "k"),
                          "memory for keys and values, or for neither", "nothing");
  return Status::ok();
}

std::array<int64_t, 4> shapeOf(const PagedKvCacheOptions &options, int64_t dim) {
  if (options.layout == KvLayout::PagedNhd)
    return {options.pages, options.pageSize, options.kvHeads, dim};
  return {options.pages, options.kvHeads, options.pageSize, dim};
}

Status checkMemory(std::string_view name, const TensorView &view,
                   const PagedKvCacheOptions &options, int64_t dim) {
  const std::array<int64_t, 4> shape = shapeOf(options, dim);
  const AxisRule axes[] = {{"", shape[0]}, {"", shape[1]}, {"", shape[2]}, {"", shape[3]}};
  if (Status status = checkTensor(argument(name), view, options.dtype, axes, StrideRule::LastDense);
      !status)
    return status;
  return checkDistinctElements(argument(name), view);
}

Status checkScales(std::string_view name, const std::vector<float> &scales,
                   const PagedKvCacheOptions &options) {
  if (scales.empty())
    return Status::ok();
  if (options.dtype != DType::F8E4M3)
    return expectedButGot(argument(name), "nothing (the cache is not FP8)",
                          std::to_string(scales.size()) + " values");
  if (std::ssize(scales) != options.kvHeads)
    return expectedButGot(argument(name),
                          "one value for each of the " + std::to_string(options.kvHeads) +
                              " KV heads",
                          std::to_string(scales.size()));
  for (const float scale : scales)
    if (!std::isfinite(scale) || scale <= 0)
      return expectedButGot(argument(name), "finite positive values", std::to_string(scale));
  return Status::ok();
}

Status checkTokens(int64_t tokens, int64_t most) {
  if (tokens >= 0 && tokens <= most)
    return Status::ok();
  return expectedButGot(argument("tokens"),
                        "0 to " + std::to_string(most) + ", the tokens of the sequence",
                        std::to_string(tokens));
}

/// Keys, then values, in one block; `options` receives their views.
Expected<std::unique_ptr<std::byte[]>> allocateMemory(PagedKvCacheOptions &options) {
  const CheckedSize slots = CheckedSize(options.pages) * options.pageSize * options.kvHeads;
  const CheckedSize keyBytes = slots * options.headDim * dtypeSize(options.dtype);
  const CheckedSize bytes = keyBytes + slots * options.valueDim * dtypeSize(options.dtype);
  if (!bytes.isValid())
    return Status(StatusCode::InvalidArgument, "the size of the cache overflows 64 bits");
  std::unique_ptr<std::byte[]> memory(new (std::nothrow)
                                          std::byte[static_cast<size_t>(bytes.value())]);
  if (!memory)
    return Status(StatusCode::Environment,
                  "no memory for a cache of " + std::to_string(bytes.value()) + " bytes");
  options.k =
      TensorView::contiguous(memory.get(), options.dtype, shapeOf(options, options.headDim));
  options.v = TensorView::contiguous(memory.get() + keyBytes.value(), options.dtype,
                                     shapeOf(options, options.valueDim));
  return memory;
}

} // namespace

struct PagedKvCache::State {
  PagedKvCacheOptions options;
  std::unique_ptr<std::byte[]> memory;
  KvPages keys;
  KvPages values;
  PageAllocator allocator;
  std::unordered_map<SequenceId, Sequence> sequences;
  int64_t nextSequence = 0;
  int64_t tokens = 0;
  int64_t pageCopies = 0;
  int64_t exhausted = 0;
  int64_t saturated = 0;

  State(const PagedKvCacheOptions &options, std::unique_ptr<std::byte[]> memory)
      : options(options), memory(std::move(memory)), keys(options.k, options.layout),
        values(options.v, options.layout), allocator(options.pages) {}

  Expected<Sequence *> find(SequenceId id);
  SequenceId add(Sequence sequence);
  Status checkRows(const TensorView &k, const TensorView &v, bool cacheType) const;
  Status reserve(const Sequence &sequence, int64_t tokens);
  /// Calls `visit(slots, row)` for the slots of tokens [first, first + count), page by page.
  template <typename Visit>
  void forEachRange(const Sequence &sequence, int64_t first, int64_t count, Visit visit) const;
};

Expected<Sequence *> PagedKvCache::State::find(SequenceId id) {
  const auto found = sequences.find(id);
  if (found == sequences.end())
    return expectedButGot(argument("sequence"), "a sequence of this cache",
                          std::to_string(static_cast<int64_t>(id)) + ", which is none");
  return &found->second;
}

SequenceId PagedKvCache::State::add(Sequence sequence) {
  const SequenceId id{nextSequence++};
  tokens += sequence.tokens;
  sequences.emplace(id, std::move(sequence));
  return id;
}

Status PagedKvCache::State::checkRows(const TensorView &k, const TensorView &v,
                                      bool cacheType) const {
  if (!isFloat(k.dtype) && !(cacheType && k.dtype == options.dtype))
    return expectedButGot(
        argument("k"), std::string("f32, f16 or bf16") + (cacheType ? ", or the cache's type" : ""),
        k.describe());
  const AxisRule keyAxes[] = {
      {"tokens"}, {"kv_heads", options.kvHeads}, {"head_dim", options.headDim}};
  if (Status status = checkTensor(argument("k"), k, k.dtype, keyAxes, StrideRule::LastDense);
      !status)
    return status;
  const AxisRule valueAxes[] = {
      {"tokens", k.shape[0]}, {"kv_heads", options.kvHeads}, {"value_dim", options.valueDim}};
  return checkTensor(argument("v"), v, k.dtype, valueAxes, StrideRule::LastDense);
}

/// Whether there are pages for `tokens` more tokens, and one for a copy of a shared last page.
Status PagedKvCache::State::reserve(const Sequence &sequence, int64_t tokens) {
  const int64_t held = std::ssize(sequence.pages);
  const bool copies = tokens > 0 && sequence.tokens % options.pageSize != 0 &&
                      allocator.isShared(sequence.pages.back());
  const int64_t needed = ceilDiv(sequence.tokens + tokens, options.pageSize) - held + copies;
  if (needed <= allocator.freePages())
    return Status::ok();
  ++exhausted;
  return {StatusCode::Exhausted, "the cache is exhausted: " + std::to_string(tokens) +
                                     " more tokens need " + std::to_string(needed) + " pages but " +
                                     std::to_string(allocator.freePages()) + " of " +
                                     std::to_string(allocator.pages()) + " are free"};
}

template <typename Visit>
void PagedKvCache::State::forEachRange(const Sequence &sequence, int64_t first, int64_t count,
                                       Visit visit) const {
  for (int64_t done = 0; done < count;) {
    const int64_t slot = (first + done) % options.pageSize;
    const int64_t here = std::min(options.pageSize - slot, count - done);
    visit(SlotRange{sequence.pages[(first + done) / options.pageSize], slot, here}, done);
    done += here;
  }
}

PagedKvCache::PagedKvCache(std::unique_ptr<State> state) : state_(std::move(state)) {}
PagedKvCache::PagedKvCache(PagedKvCache &&) noexcept = default;
PagedKvCache &PagedKvCache::operator=(PagedKvCache &&) noexcept = default;
PagedKvCache::~PagedKvCache() = default;

Expected<PagedKvCache> PagedKvCache::create(const PagedKvCacheOptions &asked) {
  PagedKvCacheOptions options = asked;
  if (options.valueDim == 0)
    options.valueDim = options.headDim;
  if (Status status = checkOptions(options); !status)
    return status;
  if (options.k.isPresent()) {
    if (Status status = checkMemory("k", options.k, options, options.headDim); !status)
      return status;
    if (Status status = checkMemory("v", options.v, options, options.valueDim); !status)
      return status;
  }
  std::unique_ptr<std::byte[]> memory;
  if (!options.k.isPresent()) {
    Expected<std::unique_ptr<std::byte[]>> allocated = allocateMemory(options);
    if (!allocated)
      return allocated.status();
    memory = *std::move(allocated);
  }
  return PagedKvCache(std::make_unique<State>(options, std::move(memory)));
}

Expected<SequenceId> PagedKvCache::allocate(const KvScales &scales) {
  if (Status status = checkScales("scales of k", scales.k, state_->options); !status)
    return status;
  if (Status status = checkScales("scales of v", scales.v, state_->options); !status)
    return status;
  Sequence sequence;
  sequence.scales = scales;
  return state_->add(std::move(sequence));
}

Status PagedKvCache::append(SequenceId id, const TensorView &k, const TensorView &v) {
  State &state = *state_;
  const Expected<Sequence *> found = state.find(id);
  if (!found)
    return found.status();
  if (Status status = state.checkRows(k, v, /*cacheType=*/true); !status)
    return status;
  Sequence &sequence = **found;
  const int64_t count = k.shape[0];
  if (count > kLargest - sequence.tokens)
    return expectedButGot(argument("k"),
                          "at most 2^31 - 1 tokens in a sequence of " +
                              std::to_string(sequence.tokens),
                          std::to_string(count) + " more");
  if (Status status = state.reserve(sequence, count); !status)
    return status;

  const int64_t used = sequence.tokens % state.options.pageSize;
  if (count > 0 && used > 0 && state.allocator.isShared(sequence.pages.back())) {
    int32_t &last = sequence.pages.back();
    const int32_t copy = state.allocator.take();
    state.keys.copy({last, 0, used}, copy);
    state.values.copy({last, 0, used}, copy);
    state.allocator.release(last);
    last = copy;
    ++state.pageCopies;
  }
  while (std::ssize(sequence.pages) * state.options.pageSize < sequence.tokens + count)
    sequence.pages.push_back(state.allocator.take());
  state.forEachRange(sequence, sequence.tokens, count, [&](const SlotRange &slots, int64_t row) {
    state.saturated += state.keys.write(slots, k, row, sequence.scales.k);
    state.saturated += state.values.write(slots, v, row, sequence.scales.v);
  });
  sequence.tokens += count;
  state.tokens += count;
  return Status::ok();
}

Expected<SequenceId> PagedKvCache::fork(SequenceId id, std::optional<int64_t> tokens) {
  const Expected<Sequence *> found = state_->find(id);
  if (!found)
    return found.status();
  const Sequence &parent = **found;
  Sequence sequence;
  sequence.tokens = tokens.value_or(parent.tokens);
  if (Status status = checkTokens(sequence.tokens, parent.tokens); !status)
    return status;
  const int64_t pages = ceilDiv(sequence.tokens, state_->options.pageSize);
  sequence.pages.assign(parent.pages.begin(), parent.pages.begin() + pages);
  sequence.scales = parent.scales;
  for (const int32_t page : sequence.pages)
    state_->allocator.share(page);
  return state_->add(std::move(sequence));
}

Status PagedKvCache::truncate(SequenceId id, int64_t tokens) {
  const Expected<Sequence *> found = state_->find(id);
  if (!found)
    return found.status();
  Sequence &sequence = **found;
  if (Status status = checkTokens(tokens, sequence.tokens); !status)
    return status;
  const int64_t pages = ceilDiv(tokens, state_->options.pageSize);
  for (; std::ssize(sequence.pages) > pages; sequence.pages.pop_back())
    state_->allocator.release(sequence.pages.back());
  state_->tokens -= sequence.tokens - tokens;
  sequence.tokens = tokens;
  return Status::ok();
}

Status PagedKvCache::free(SequenceId id) {
  if (Status status = truncate(id, 0); !status)
    return status;
  state_->sequences.erase(id);
  return Status::ok();
}

Expected<int64_t> PagedKvCache::tokens(SequenceId id) const {
  const Expected<Sequence *> found = state_->find(id);
  if (!found)
    return found.status();
  return (*found)->tokens;
}

Status PagedKvCache::read(SequenceId id, int64_t first, const TensorView &k,
                          const TensorView &v) const {
  const Expected<Sequence *> found = state_->find(id);
  if (!found)
    return found.status();
  if (Status status = state_->checkRows(k, v, /*cacheType=*/false); !status)
    return status;
  const Sequence &sequence = **found;
  if (first < 0 || first > sequence.tokens || k.shape[0] > sequence.tokens - first)
    return expectedButGot(argument("k"),
                          "rows within the " + std::to_string(sequence.tokens) +
                              " tokens of the sequence",
                          std::to_string(k.shape[0]) + " rows from token " + std::to_string(first));
  if (Status status = checkDistinctElements(argument("k"), k); !status)
    return status;
  if (Status status = checkDistinctElements(argument("v"), v); !status)
    return status;
  state_->forEachRange(sequence, first, k.shape[0], [&](const SlotRange &slots, int64_t row) {
    state_->keys.read(slots, k, row, sequence.scales.k);
    state_->values.read(slots, v, row, sequence.scales.v);
  });
  return Status::ok();
}

Status PagedKvCache::bind(std::span<const SequenceId> ids, KvBatch &batch,
                          Operands &operands) const {
  size_t mostPages = 0;
  for (const SequenceId id : ids) {
    const Expected<Sequence *> found = state_->find(id);
    if (!found)
      return found.status();
    mostPages = std::max(mostPages, (*found)->pages.size());
  }
  const bool scaled = state_->options.dtype == DType::F8E4M3;
  const auto heads = static_cast<size_t>(state_->options.kvHeads);
  batch.kvLens.resize(ids.size());
  batch.blockTable.assign(ids.size() * mostPages, -1);
  batch.kScales.assign(scaled ? ids.size() * heads : 0, 1.0f);
  batch.vScales.assign(scaled ? ids.size() * heads : 0, 1.0f);
  for (size_t i = 0; i < ids.size(); ++i) {
    const Sequence &sequence = **state_->find(ids[i]);
    batch.kvLens[i] = static_cast<int32_t>(sequence.tokens);
    std::ranges::copy(sequence.pages, batch.blockTable.data() + i * mostPages);
    if (!scaled)
      continue;
    std::ranges::copy(sequence.scales.k, batch.kScales.data() + i * heads);
    std::ranges::copy(sequence.scales.v, batch.vScales.data() + i * heads);
  }

  const auto requests = static_cast<int64_t>(ids.size());
  operands.k = state_->options.k;
  operands.v = state_->options.v;
  operands.kvLayout = state_->options.layout;
  operands.cuSeqlensKv = {};
  operands.kvLens = TensorView::contiguous(batch.kvLens.data(), DType::I32, {requests});
  operands.blockTable = TensorView::contiguous(batch.blockTable.data(), DType::I32,
                                               {requests, static_cast<int64_t>(mostPages)});
  operands.kScales = {};
  operands.vScales = {};
  if (scaled) {
    const std::array<int64_t, 2> shape = {requests, state_->options.kvHeads};
    operands.kScales = TensorView::contiguous(batch.kScales.data(), DType::F32, shape);
    operands.vScales = TensorView::contiguous(batch.vScales.data(), DType::F32, shape);
  }
  return Status::ok();
}

PagedKvCacheStatistics PagedKvCache::statistics() const {
  PagedKvCacheStatistics result;
  result.pages = state_->allocator.pages();
  result.pagesFree = state_->allocator.freePages();
  result.pagesShared = state_->allocator.sharedPages();
  result.sequences = std::ssize(state_->sequences);
  result.tokens = state_->tokens;
  result.pageCopies = state_->pageCopies;
  result.exhausted = state_->exhausted;
  result.saturated = state_->saturated;
  return result;
}

} // namespace skim
