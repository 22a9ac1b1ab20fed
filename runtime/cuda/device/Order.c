/* Orders work items by the visits that a kernel of the plan has counted: the items of a KV head of
 * a request stay together, so that its keys and values stay in the second-level cache; groups come
 * with the longest item first, and so do the items of a group. Freestanding C for clang's NVPTX
 * target. */
#include "runtime/cuda/device/OrderPhases.h"

#define KERNEL __attribute__((nvptx_kernel))
#define SHARED static __attribute__((address_space(3), loader_uninitialized))

static int32_t thread(void) { return (int32_t)__nvvm_read_ptx_sreg_tid_x(); }
static int32_t block(void) { return (int32_t)__nvvm_read_ptx_sreg_ctaid_x(); }

/* Finds the longest item of each group. */
KERNEL void skim_longest_items(const skim_order_arguments order) {
  SHARED int32_t longest[SKIM_ORDER_THREADS];
  skim_item_group *group = &order.groups[block()];
  const int32_t end = group->first + group->count;
  int32_t most = 0;
#pragma unroll 8
  for (int32_t i = group->first + thread(); i < end; i += SKIM_ORDER_THREADS) {
    const int32_t visits = order.items[i].visits;
    most = visits > most ? visits : most;
  }
  longest[thread()] = most;
  for (int32_t half = SKIM_ORDER_THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread() < half && longest[thread() + half] > longest[thread()])
      longest[thread()] = longest[thread() + half];
  }
  if (thread() == 0)
    group->longest = longest[0];
}

SHARED skim_order_state state;

KERNEL void skim_order_items(const skim_order_arguments order) {
  skim_order_count(&order, block(), &state, thread());
  __syncthreads();
  skim_order_sum(&state, thread());
  __syncthreads();
  skim_order_scan(&state, thread());
  __syncthreads();
  skim_order_place(&order, block(), &state, thread());
}
