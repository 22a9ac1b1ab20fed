/* How a block orders the items of its group, in phases between which its threads wait for each
 * other: a stable counting sort, so that the order is the same in every run. The tests run the
 * phases on the host, thread after thread. */
#ifndef SKIM_RUNTIME_CUDA_DEVICE_ORDERPHASES_H
#define SKIM_RUNTIME_CUDA_DEVICE_ORDERPHASES_H

#include "runtime/cuda/device/OrderArguments.h"

#ifdef __NVPTX__
#define SKIM_ORDER_SHARED __attribute__((address_space(3)))
#else
#define SKIM_ORDER_SHARED
#endif

enum {
  SKIM_ORDER_CELLS = SKIM_ORDER_BINS * SKIM_ORDER_THREADS,
  /* Items whose visits a thread loads at a time. */
  SKIM_ORDER_LOADS = 8
};

typedef struct skim_order_state {
  /* For each bin and thread the items of the thread's run; then where the next one goes. */
  int32_t places[SKIM_ORDER_CELLS + SKIM_ORDER_CELLS / 32];
  int32_t earlier[SKIM_ORDER_THREADS]; /* items of groups that come before, a share a thread */
  int32_t sums[SKIM_ORDER_THREADS];    /* of as many cells for each thread */
} skim_order_state;

typedef SKIM_ORDER_SHARED skim_order_state *skim_order_pointer;

/* Cells lie bin by bin; one in 33 is left out, so that threads with a stretch of cells each meet in
 * few banks. */
static inline int32_t skim_order_cell(int32_t number) { return number + number / 32; }

/* 0 for the longest items. */
static inline int32_t skim_order_bin(int32_t visits, int32_t longest) {
  return (int32_t)((int64_t)(longest - visits) * SKIM_ORDER_BINS / ((int64_t)longest + 1));
}

/* The items that a thread counts and places: [first, end) of all. */
typedef struct skim_order_run {
  int32_t first;
  int32_t end;
} skim_order_run;

static inline skim_order_run skim_order_run_of(const skim_item_group *group, int32_t thread) {
  const int32_t length = (group->count + SKIM_ORDER_THREADS - 1) / SKIM_ORDER_THREADS;
  const int32_t begin = thread * length;
  skim_order_run run;
  run.first = group->first + (begin < group->count ? begin : group->count);
  run.end = group->first + (begin + length < group->count ? begin + length : group->count);
  return run;
}

/* Bins of up to SKIM_ORDER_LOADS items from `first` on, loaded together. */
static inline void skim_order_bins(const skim_work_item *items, int32_t first, int32_t end,
                                   int32_t longest, int32_t *bins) {
  for (int32_t i = 0; i < SKIM_ORDER_LOADS; ++i)
    bins[i] = first + i < end ? items[first + i].visits : 0;
  for (int32_t i = 0; i < SKIM_ORDER_LOADS; ++i)
    bins[i] = skim_order_bin(bins[i], longest);
}

/* Counts the thread's items by bin, and the items of the groups before: those with a longer
 * longest item, or one as long and a lower number. */
static inline void skim_order_count(const skim_order_arguments *order, int32_t number,
                                    skim_order_pointer state, int32_t thread) {
  const skim_item_group own = order->groups[number];
  int32_t earlier = 0;
  for (int32_t i = thread; i < order->group_count; i += SKIM_ORDER_THREADS) {
    const skim_item_group other = order->groups[i];
    if (other.longest > own.longest || (other.longest == own.longest && i < number))
      earlier += other.count;
  }
  state->earlier[thread] = earlier;

  for (int32_t bin = 0; bin < SKIM_ORDER_BINS; ++bin)
    state->places[skim_order_cell(bin * SKIM_ORDER_THREADS + thread)] = 0;
  const skim_order_run run = skim_order_run_of(&own, thread);
  for (int32_t first = run.first; first < run.end; first += SKIM_ORDER_LOADS) {
    int32_t bins[SKIM_ORDER_LOADS];
    skim_order_bins(order->items, first, run.end, own.longest, bins);
    for (int32_t i = 0; i < SKIM_ORDER_LOADS; ++i)
      if (first + i < run.end)
        ++state->places[skim_order_cell(bins[i] * SKIM_ORDER_THREADS + thread)];
  }
}

/* Sums up the thread's stretch of cells. */
static inline void skim_order_sum(skim_order_pointer state, int32_t thread) {
  int32_t sum = 0;
  for (int32_t i = 0; i < SKIM_ORDER_BINS; ++i)
    sum += state->places[skim_order_cell(thread * SKIM_ORDER_BINS + i)];
  state->sums[thread] = sum;
}

/* Turns the counts of the stretch into places. */
static inline void skim_order_scan(skim_order_pointer state, int32_t thread) {
  int32_t place = 0;
  for (int32_t i = 0; i < SKIM_ORDER_THREADS; ++i)
    place += state->earlier[i] + (i < thread ? state->sums[i] : 0);
  for (int32_t i = 0; i < SKIM_ORDER_BINS; ++i) {
    const int32_t cell = skim_order_cell(thread * SKIM_ORDER_BINS + i);
    const int32_t count = state->places[cell];
    state->places[cell] = place;
    place += count;
  }
}

/* Puts the thread's items where they belong. */
static inline void skim_order_place(const skim_order_arguments *order, int32_t number,
                                    skim_order_pointer state, int32_t thread) {
  const skim_item_group own = order->groups[number];
  const skim_order_run run = skim_order_run_of(&own, thread);
  for (int32_t first = run.first; first < run.end; first += SKIM_ORDER_LOADS) {
    int32_t bins[SKIM_ORDER_LOADS];
    skim_order_bins(order->items, first, run.end, own.longest, bins);
    for (int32_t i = 0; i < SKIM_ORDER_LOADS; ++i)
      if (first + i < run.end) {
        const int32_t cell = skim_order_cell(bins[i] * SKIM_ORDER_THREADS + thread);
        order->ordered[state->places[cell]++] = order->items[first + i];
      }
  }
}

#endif /* SKIM_RUNTIME_CUDA_DEVICE_ORDERPHASES_H */
