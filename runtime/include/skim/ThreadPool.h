// Threads that run work items.
#ifndef SKIM_THREADPOOL_H
#define SKIM_THREADPOOL_H

#include <skim/Status.h>

#include <cstdint>
#include <memory>

struct pthreadpool;

namespace skim {

/// A fixed set of threads, the calling one included. Many callers may share a pool; their
/// parallel sections then follow one another.
class ThreadPool {
public:
  static constexpr int64_t kMaxThreads = 4096;

  /// `threads` from 1 to 4096; 0 takes one a core.
  static Expected<ThreadPool> create(int64_t threads = 0);

  /// The pool of the process with one thread a core, made on first use.
  static Expected<const ThreadPool *> shared();

  int64_t threads() const { return threads_; }

  using Chunk = void (*)(void *context, int64_t worker, int64_t first, int64_t count);

  /// Calls `chunk` until [0, count) is covered, each number once, low numbers first, in
  /// chunks that idle threads take as they come, on at most `threads` threads (0: all).
  /// Calls at one time have different `worker` numbers, from 0 to the number of threads - 1.
  /// Returns when all calls have. Allocates nothing.
  void forEachChunk(int64_t count, int64_t threads, Chunk chunk, void *context) const;

private:
  struct Deleter {
    void operator()(pthreadpool *pool) const;
  };
  ThreadPool(pthreadpool *pool, int64_t threads) : pool_(pool), threads_(threads) {}

  std::unique_ptr<pthreadpool, Deleter> pool_;
  int64_t threads_ = 1;
};

} // namespace skim

#endif // SKIM_THREADPOOL_H
