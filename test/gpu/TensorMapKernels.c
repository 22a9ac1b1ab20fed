/* Kernels that copy one box of a tensor map to `out` as it lies in shared memory: what the maps
 * hold and how it is swizzled shows. Freestanding C for clang's NVPTX target, compute
 * capability 9.0. */
#include <skim/abi.h>

#define KERNEL __attribute__((nvptx_kernel))

typedef struct tensor_map {
  _Alignas(64) uint64_t words[16];
} tensor_map;

#define ENTRY                                                                                      \
  const skim_kernel_args *args, const skim_work_item *items, const int32_t *item_count,            \
      int32_t *next_item, const tensor_map query, const tensor_map key, const tensor_map value

extern __attribute__((address_space(3), aligned(1024))) uint8_t boxes[];
static __attribute__((address_space(3), loader_uninitialized)) uint64_t arrived;

static uint32_t shared_address(const volatile __attribute__((address_space(3))) void *pointer) {
  return (uint32_t)(uint64_t)pointer;
}

static void begin(uint32_t bytes) {
  __asm__ volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&arrived)) : "memory");
  __asm__ volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __asm__ volatile(
      "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&arrived)),
      "r"(bytes)
      : "memory");
}

/* Waits for the boxes and writes them to the share of `index` of `out`. */
static void finish(const skim_kernel_args *args, int64_t index, int64_t bytes) {
  int32_t done = 0;
  while (!done)
    __asm__ volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, "
                     "1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_address(&arrived))
                     : "memory");
  uint8_t *out = (uint8_t *)args->out.data + index * bytes;
  for (int64_t i = 0; i < bytes; ++i)
    out[i] = boxes[i];
}

#define MAP_ADDRESS(kernel, parameter)                                                             \
  uint64_t map;                                                                                    \
  __asm__ volatile("cvta.param.u64 %0, " #kernel "_param_" #parameter ";" : "=l"(map))

/* A thread does all; the block's item is a tile of 16 tokens of one head, as panels of rows of
 * `row_bytes`. */
enum { TOKENS = 16 };

static void copy_4d(uint64_t map, int32_t token, int32_t third, int32_t fourth) {
  __asm__ volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(boxes)),
      "l"(map), "r"(0), "r"(token), "r"(third), "r"(fourth), "r"(shared_address(&arrived))
      : "memory");
}

static void copy_5d(uint64_t map, uint32_t offset, int32_t slot, int32_t panel, int32_t head,
                    int32_t page) {
  __asm__ volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(shared_address(boxes) + offset),
      "l"(map), "r"(0), "r"(slot), "r"(panel), "r"(head), "r"(page), "r"(shared_address(&arrived))
      : "memory");
}

static int64_t place(const skim_work_item *item, const skim_kernel_args *args) {
  return (int64_t)item->tile * args->kv_heads + item->head;
}

static void copy_tile(const skim_kernel_args *args, const skim_work_item *items,
                      const int32_t *item_count, uint64_t map, uint32_t row_bytes, uint32_t panels,
                      int32_t of_queries) {
  const int32_t block = (int32_t)__nvvm_read_ptx_sreg_ctaid_x();
  if (block >= *item_count)
    return; /* the grid is made for the largest batch */
  const skim_work_item *item = &items[block];
  const uint32_t bytes = TOKENS * panels * row_bytes;
  begin(bytes);
  /* The axes behind the tokens are heads and panels of queries, panels and heads of keys. */
  copy_4d(map, item->tile * TOKENS, of_queries ? item->head : 0, of_queries ? 0 : item->head);
  finish(args, place(item, args), bytes);
}

static void copy_paged_tile(const skim_kernel_args *args, const skim_work_item *items,
                            const int32_t *item_count, uint64_t map, uint32_t row_bytes,
                            uint32_t panels) {
  const int32_t block = (int32_t)__nvvm_read_ptx_sreg_ctaid_x();
  if (block >= *item_count)
    return; /* the grid is made for the largest batch */
  const skim_work_item *item = &items[block];
  const int32_t page_size = (int32_t)args->page_size;
  const uint32_t bytes = TOKENS * panels * row_bytes;
  begin(bytes);
  const int32_t first = item->tile * TOKENS;
  if (page_size >= TOKENS)
    copy_5d(map, 0, first % page_size, 0, item->head, args->block_table[first / page_size]);
  for (uint32_t token = 0; page_size < TOKENS && token < TOKENS; token += page_size)
    for (uint32_t panel = 0; panel < panels; ++panel)
      copy_5d(map, (panel * TOKENS + token) * row_bytes, 0, (int32_t)panel, item->head,
              args->block_table[(first + (int32_t)token) / page_size]);
  finish(args, place(item, args), bytes);
}

/* 128 columns as panels of 64, and 96 as panels of 32. */
KERNEL void copy_queries_128(ENTRY) {
  MAP_ADDRESS(copy_queries_128, 4);
  copy_tile(args, items, item_count, map, 128, 2, 1);
}
KERNEL void copy_queries_96(ENTRY) {
  MAP_ADDRESS(copy_queries_96, 4);
  copy_tile(args, items, item_count, map, 64, 3, 1);
}
KERNEL void copy_keys_128(ENTRY) {
  MAP_ADDRESS(copy_keys_128, 5);
  copy_tile(args, items, item_count, map, 128, 2, 0);
}
KERNEL void copy_keys_96(ENTRY) {
  MAP_ADDRESS(copy_keys_96, 5);
  copy_tile(args, items, item_count, map, 64, 3, 0);
}
KERNEL void copy_paged_values_128(ENTRY) {
  MAP_ADDRESS(copy_paged_values_128, 6);
  copy_paged_tile(args, items, item_count, map, 128, 2);
}
KERNEL void copy_paged_values_96(ENTRY) {
  MAP_ADDRESS(copy_paged_values_96, 6);
  copy_paged_tile(args, items, item_count, map, 64, 3);
}
