#include <skim/ThreadPool.h>

#include <pthreadpool.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace skim {

namespace {

/// Chunks a thread takes on average: enough to even out unequal items.
constexpr int64_t kChunksPerThread = 16;
constexpr int64_t kMaxChunk = 64;

/// Sections begun. A worker sees what the caller wrote before it counted its section: the pool
/// promises so itself, but its code is not ours to instrument, and the thread sanitizer sees this.
std::atomic<int64_t> sections{0};

/// One parallel section. Threads take chunks off `next`; the pool only starts them.
struct Section {
  ThreadPool::Chunk chunk;
  void *context;
  int64_t count;
  int64_t chunkSize;
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> finished{0};

  void work(int64_t worker) {
    while (true) {
      const int64_t first = next.fetch_add(chunkSize, std::memory_order_acq_rel);
      if (first >= count)
        break;
      chunk(context, worker, first, std::min(chunkSize, count - first));
    }
    finished.fetch_add(1, std::memory_order_acq_rel);
  }
};

} // namespace

void ThreadPool::Deleter::operator()(pthreadpool *pool) const { pthreadpool_destroy(pool); }

Expected<ThreadPool> ThreadPool::create(int64_t threads) {
  if (threads < 0 || threads > kMaxThreads)
    return Status(StatusCode::InvalidArgument, "threads: expected 0 to " +
                                                   std::to_string(kMaxThreads) + " but got " +
                                                   std::to_string(threads));
  if (threads == 0)
    threads = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  pthreadpool *pool = pthreadpool_create(static_cast<size_t>(threads));
  if (!pool)
    return Status(StatusCode::Environment,
                  "cannot start a pool of " + std::to_string(threads) + " threads");
  return ThreadPool(pool, threads);
}

Expected<const ThreadPool *> ThreadPool::shared() {
  static const Expected<ThreadPool> pool = create();
  if (!pool)
    return pool.status();
  return &*pool;
}

void ThreadPool::forEachChunk(int64_t count, int64_t threads, Chunk chunk, void *context) const {
  if (count <= 0)
    return;
  const int64_t workers = std::min({threads <= 0 ? threads_ : threads, threads_, count});
  if (workers == 1) {
    chunk(context, 0, 0, count);
    return;
  }
  Section section{chunk, context, count,
                  std::clamp<int64_t>(count / (workers * kChunksPerThread), 1, kMaxChunk)};
  sections.fetch_add(1, std::memory_order_release);
  pthreadpool_parallelize_1d(
      pool_.get(),
      // The pool calls once with each number below `workers`: calls at one time have other numbers.
      [](void *argument, size_t worker) {
        sections.load(std::memory_order_acquire);
        static_cast<Section *>(argument)->work(static_cast<int64_t>(worker));
      },
      &section, static_cast<size_t>(workers),
      // Workers sleep between sections: spinning would take the cores from the host program.
      PTHREADPOOL_FLAG_YIELD_WORKERS);
  // Everything that the chunks wrote is visible from here on; the pool has already joined.
  while (section.finished.load(std::memory_order_acquire) != workers)
    std::this_thread::yield();
}

} // namespace skim
