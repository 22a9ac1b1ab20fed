#include <skim/ThreadPool.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace skim;

namespace {

struct Counter {
  std::vector<int> visits;
  std::array<std::atomic<bool>, 16> busy{}; ///< by worker
  std::atomic<int> collisions = 0;
  std::mutex mutex;
  int64_t mostWorkers = 0;
  std::set<std::thread::id> threads;
};

void visit(void *context, int64_t worker, int64_t first, int64_t count) {
  auto &counter = *static_cast<Counter *>(context);
  if (static_cast<size_t>(worker) < counter.busy.size() &&
      counter.busy[static_cast<size_t>(worker)].exchange(true))
    ++counter.collisions;
  for (int64_t i = first; i < first + count; ++i)
    ++counter.visits[static_cast<size_t>(i)]; // each number belongs to one chunk
  if (static_cast<size_t>(worker) < counter.busy.size())
    counter.busy[static_cast<size_t>(worker)] = false;
  const std::lock_guard lock(counter.mutex);
  counter.mostWorkers = std::max(counter.mostWorkers, worker + 1);
  counter.threads.insert(std::this_thread::get_id());
}

TEST(ThreadPool, visitsEveryNumberOnceOnAtMostTheThreadsAskedFor) {
  const Expected<ThreadPool> pool = ThreadPool::create(4);
  ASSERT_TRUE(pool);
  EXPECT_EQ(pool->threads(), 4);
  for (const int64_t count : {0, 1, 2, 3, 5, 100, 10007})
    for (const int64_t threads : {0, 1, 2, 4, 9}) {
      Counter counter;
      counter.visits.resize(static_cast<size_t>(count));
      pool->forEachChunk(count, threads, visit, &counter);
      for (const int visits : counter.visits)
        ASSERT_EQ(visits, 1) << count << " numbers on " << threads << " threads";
      EXPECT_LE(counter.threads.size(), static_cast<size_t>(threads == 0 ? 4 : threads));
      EXPECT_EQ(counter.collisions, 0) << "calls at one time with the same worker";
      EXPECT_LE(counter.mostWorkers, threads == 0 ? 4 : std::min<int64_t>(threads, 4));
    }
}

TEST(ThreadPool, sharedPoolIsOneForTheProcess) {
  const Expected<const ThreadPool *> first = ThreadPool::shared();
  const Expected<const ThreadPool *> second = ThreadPool::shared();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_GE((*first)->threads(), 1);
}

TEST(ThreadPool, callersShareOnePool) {
  const Expected<ThreadPool> pool = ThreadPool::create(3);
  ASSERT_TRUE(pool);
  std::vector<std::thread> callers;
  std::vector<Counter> counters(4);
  for (Counter &counter : counters) {
    counter.visits.resize(500);
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        pool->forEachChunk(500, 0, visit, &counter);
    });
  }
  for (std::thread &caller : callers)
    caller.join();
  for (const Counter &counter : counters)
    for (const int visits : counter.visits)
      ASSERT_EQ(visits, 50);
}

TEST(ThreadPool, refusesImpossibleSizes) {
  EXPECT_EQ(ThreadPool::create(-1).status().message(), "threads: expected 0 to 4096 but got -1");
  EXPECT_EQ(ThreadPool::create(5000).status().message(),
            "threads: expected 0 to 4096 but got 5000");
}

} // namespace
