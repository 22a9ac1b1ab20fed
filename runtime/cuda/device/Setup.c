/* Kernels of the runtime itself, which run ahead of those of a plan: they write the tables of a run
 * and the work items of every kernel, from lengths that only the device holds. Freestanding C for
 * clang's NVPTX target. */
#include "runtime/cuda/device/SetupArguments.h"

#define KERNEL __attribute__((nvptx_kernel))
#define SHARED static __attribute__((address_space(3), loader_uninitialized))

enum { THREADS = SKIM_SETUP_THREADS, WARP = 32 };

static int32_t thread(void) { return (int32_t)__nvvm_read_ptx_sreg_tid_x(); }
static int32_t block(void) { return (int32_t)__nvvm_read_ptx_sreg_ctaid_x(); }
static int32_t blocks(void) { return (int32_t)__nvvm_read_ptx_sreg_nctaid_x(); }

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }
static int32_t most(int32_t a, int32_t b) { return a > b ? a : b; }

/* Rounds down, also below 0; 64 bits keep a - size + 1 in range. */
static int32_t floor_div(int64_t a, int64_t size) {
  return (int32_t)((a >= 0 ? a : a - size + 1) / size);
}

static void copy_words(uint8_t *destination, const uint64_t *words, int64_t bytes) {
  uint64_t *to = (uint64_t *)destination;
  for (int64_t i = thread(); i < bytes / 8; i += THREADS)
    to[i] = words[i];
}

/* Tiles of one request in the kernel at hand. The last holds the most keys. */
typedef struct tile_range {
  int32_t first;
  int32_t count;
} tile_range;

static tile_range tiles_of(const skim_setup_kernel *kernel, int32_t rows, int32_t keys) {
  const tile_range none = {0, 0};
  if (rows == 0)
    return none;
  if (kernel->axis == 0) {
    const tile_range one = {0, 1};
    return one;
  }
  tile_range range;
  range.first = kernel->axis == 1 ? floor_div((int64_t)keys - rows, kernel->tile_size) : 0;
  range.count = floor_div((int64_t)keys - 1, kernel->tile_size) + 1 - range.first;
  return range;
}

/* Status bits of a request; `reached` is the largest entry of cu_seqlens_q before it, at least 0.
 */
static int32_t check_request(const skim_setup_arguments *setup, int32_t request, int32_t reached) {
  const int64_t start = setup->cu_seqlens_q[request];
  const int64_t stop = setup->cu_seqlens_q[request + 1];
  const int64_t rows = stop - start;
  const int32_t keys = setup->kv_lens[request];
  if (start < reached || (request == 0 && start != 0) || rows < 0 || stop > setup->query_tokens ||
      rows > setup->max_query_length || keys < 0 || keys > setup->max_kv_length)
    return SKIM_STATUS_LENGTH_OUT_OF_RANGE;
  if (setup->cu_seqlens_kv) {
    const int64_t first = setup->cu_seqlens_kv[request];
    const int64_t last = setup->cu_seqlens_kv[request + 1];
    if (first < 0 || last > setup->kv_tokens || last - first < keys)
      return SKIM_STATUS_LENGTH_OUT_OF_RANGE;
  }
  for (int32_t i = 0; rows > 0 && i < setup->query_blocks; ++i) {
    const int32_t size = setup->query_block[i].size;
    if (floor_div((int64_t)keys - 1, size) - floor_div(keys - rows, size) + 1 >
        setup->query_block[i].blocks)
      return SKIM_STATUS_LENGTH_OUT_OF_RANGE;
  }
  if (setup->page_checks &&
      *(const uint64_t *)(setup->page_checks + (int64_t)request * SKIM_PAGE_CHECKS) != 0)
    return SKIM_STATUS_PAGE_OUT_OF_RANGE;
  return 0;
}

SHARED int32_t warp_values[THREADS / WARP];

/* The largest value of the threads before this one, at least 0. */
static int32_t scan_most(int32_t value) {
  const int32_t lane = thread() % WARP;
  const int32_t warp = thread() / WARP;
  for (int32_t step = 1; step < WARP; step *= 2) {
    const int32_t other = __nvvm_shfl_sync_up_i32(-1, value, step, 0);
    value = lane >= step ? most(value, other) : value;
  }
  if (lane == WARP - 1)
    warp_values[warp] = value;
  __syncthreads();
  int32_t before = __nvvm_shfl_sync_up_i32(-1, value, 1, 0);
  before = lane == 0 ? 0 : most(before, 0);
  for (int32_t i = 0; i < warp; ++i)
    before = most(before, warp_values[i]);
  __syncthreads();
  return before;
}

/* The sum of the threads before this one; `total` receives that of all. */
static int32_t scan_sum(int32_t value, int32_t *total) {
  const int32_t lane = thread() % WARP;
  const int32_t warp = thread() / WARP;
  int32_t sum = value;
  for (int32_t step = 1; step < WARP; step *= 2) {
    const int32_t other = __nvvm_shfl_sync_up_i32(-1, sum, step, 0);
    sum += lane >= step ? other : 0;
  }
  if (lane == WARP - 1)
    warp_values[warp] = sum;
  __syncthreads();
  int32_t before = 0;
  *total = 0;
  for (int32_t i = 0; i < THREADS / WARP; ++i) {
    before += i < warp ? warp_values[i] : 0;
    *total += warp_values[i];
  }
  __syncthreads();
  return before + sum - value;
}

/* [requests] tiles of each request, then [requests] how many tiles the requests before it have. */
extern __attribute__((address_space(3))) tile_range shared_ranges[];
typedef __attribute__((address_space(3))) tile_range *ranges_pointer;
typedef __attribute__((address_space(3))) int32_t *offsets_pointer;

/* Fills the shared ranges and offsets, every thread for a run of requests. Returns the tiles of all
 * requests. Requests whose lengths or pages contradict the plan have none. */
static int32_t range_requests(const skim_setup_arguments *setup, const skim_setup_kernel *kernel,
                              ranges_pointer ranges, offsets_pointer offsets) {
  const int32_t run = (setup->requests + THREADS - 1) / THREADS;
  const int32_t first = least(thread() * run, setup->requests);
  const int32_t end = least(first + run, setup->requests);

  int32_t reached = 0;
  for (int32_t request = first; request < end; ++request)
    reached = most(reached, setup->cu_seqlens_q[request]);
  reached = scan_most(reached);

  int32_t count = 0;
  int32_t problems = 0;
  for (int32_t request = first; request < end; ++request) {
    const int32_t start = setup->cu_seqlens_q[request];
    const int32_t problem = check_request(setup, request, reached);
    reached = most(reached, start);
    problems |= problem;
    const int32_t rows = problem ? 0 : setup->cu_seqlens_q[request + 1] - start;
    const tile_range range = tiles_of(kernel, rows, setup->kv_lens[request]);
    ranges[request].first = range.first;
    ranges[request].count = range.count;
    count += range.count;
  }
  if (problems && block() == 0)
    __atomic_fetch_or(setup->status, problems, __ATOMIC_RELAXED);

  int32_t total = 0;
  int32_t offset = scan_sum(count, &total);
  for (int32_t request = first; request < end; ++request) {
    offsets[request] = offset;
    offset += ranges[request].count;
  }
  __syncthreads();
  return total;
}

/* The last request whose tiles start at or before `index`: it holds that tile. */
static int32_t find_request(offsets_pointer offsets, int32_t requests, int32_t index) {
  int32_t low = 0;
  int32_t high = requests - 1;
  while (low < high) {
    const int32_t middle = low + (high - low + 1) / 2;
    if (offsets[middle] <= index)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* How many tiles of `other` come before tile `tile` of `request`. Where rows see the keys up to
 * their own, tiles with a higher number see more; else all tiles of a request see all of its keys.
 */
static int32_t tiles_before(tile_range range, int32_t other, int32_t request, int32_t tile) {
  const int32_t end = range.first + range.count;
  const int32_t longer = most(end - most(range.first, tile + 1), 0);
  const int32_t equal = tile >= range.first && tile < end && other < request;
  return longer + equal;
}
static int32_t tiles_before_noncausal(tile_range range, int32_t other, tile_range own,
                                      int32_t request, int32_t tile) {
  if (other == request)
    return own.first + own.count - 1 - tile;
  const int32_t end = range.first + range.count;
  const int32_t own_end = own.first + own.count;
  return end > own_end || (end == own_end && other < request) ? range.count : 0;
}

static void write_groups(const skim_setup_arguments *setup, const skim_setup_kernel *kernel,
                         ranges_pointer ranges, offsets_pointer offsets, int32_t group_items) {
  for (int32_t i = thread(); i < kernel->groups * setup->requests; i += THREADS) {
    const int32_t request = i % setup->requests;
    skim_item_group group;
    group.first = i / setup->requests * group_items + offsets[request] * kernel->heads_per_group;
    group.count = ranges[request].count * kernel->heads_per_group;
    group.longest = 0;
    kernel->item_groups[i] = group;
  }
}

SHARED skim_work_item placed[SKIM_SETUP_TILES]; /* `visits` holds the place */

KERNEL void skim_setup(const skim_setup_arguments setup) {
  const int32_t index = (int32_t)__nvvm_read_ptx_sreg_ctaid_y();
  const skim_setup_kernel *kernel = &setup.kernel[index];
  const ranges_pointer ranges = shared_ranges;
  const offsets_pointer offsets = (offsets_pointer)(ranges + setup.requests);
  if (block() == 0 && index == 0)
    copy_words(setup.tables, setup.table, setup.table_bytes);

  const int32_t total = range_requests(&setup, kernel, ranges, offsets);
  const int32_t group_items = total * kernel->heads_per_group;
  if (block() == 0 && thread() == 0) {
    *kernel->count = group_items * kernel->groups;
    *kernel->next = 0;
    if (index == 0)
      *(volatile int32_t *)setup.reported = *(volatile int32_t *)setup.status;
  }

  if (block() == 0 && kernel->item_groups)
    write_groups(&setup, kernel, ranges, offsets, group_items);

  const int32_t lanes = setup.lanes_per_tile;
  const int32_t lane = thread() % lanes;
  const int32_t slot = thread() / lanes;
  const int32_t slots = THREADS / lanes;
  for (int32_t first = block() * slots; first < total; first += blocks() * slots) {
    const int32_t tiles = least(slots, total - first);
    const int32_t place = first + least(slot, tiles - 1);
    const int32_t request = find_request(offsets, setup.requests, place);
    const tile_range own = {ranges[request].first, ranges[request].count};
    const int32_t tile = own.first + place - offsets[request];
    const int32_t behind = own.first + own.count - 1 - tile;
    int32_t rank = kernel->item_groups && lane == 0 ? offsets[request] + behind : 0;
    for (int32_t other = kernel->item_groups ? setup.requests : lane; other < setup.requests;
         other += lanes) {
      const tile_range range = {ranges[other].first, ranges[other].count};
      rank += setup.noncausal ? tiles_before_noncausal(range, other, own, request, tile)
                              : tiles_before(range, other, request, tile);
    }
    for (int32_t step = 1; step < lanes; step *= 2)
      rank += __nvvm_shfl_sync_bfly_i32(-1, rank, step, 31);
    if (lane == 0 && slot < tiles) {
      placed[slot].request = request;
      placed[slot].tile = tile;
      placed[slot].visits = rank;
    }
    __syncthreads();
    const int32_t heads = kernel->groups * kernel->heads_per_group;
    for (int32_t i = thread(); i < tiles * heads; i += THREADS) {
      /* Heads of a group stand side by side, those of one tile after another's. */
      const int32_t in_group = i % (tiles * kernel->heads_per_group);
      const int32_t group = i / (tiles * kernel->heads_per_group);
      const int32_t of_group = in_group % kernel->heads_per_group;
      const int32_t from = in_group / kernel->heads_per_group;
      skim_work_item item;
      item.request = placed[from].request;
      item.head = group * kernel->heads_per_group + of_group;
      item.tile = placed[from].tile;
      item.visits = 0;
      kernel->items[(int64_t)group * group_items +
                    (int64_t)placed[from].visits * kernel->heads_per_group + of_group] = item;
    }
    __syncthreads();
  }
}

KERNEL void skim_upload(const skim_upload_arguments upload) {
  copy_words(upload.destination, upload.data, upload.bytes);
}

/* A block for a share of the pages of each request: block (request, share). */
KERNEL void skim_check_pages(const skim_page_arguments pages) {
  SHARED int32_t found;
  const int32_t request = block();
  const int32_t share = (int32_t)__nvvm_read_ptx_sreg_ctaid_y();
  if (thread() == 0)
    found = 0;
  __syncthreads();
  /* What is out of range as a length is reported as such; no page of it is looked at. */
  const int32_t keys = pages.kv_lens[request];
  const int64_t needed = ((int64_t)keys + pages.page_size - 1) / pages.page_size;
  const int64_t end = keys < 0 || needed > pages.columns ? 0 : needed;
  const int32_t *row = pages.block_table + request * pages.stride;
  int32_t wrong = 0;
#pragma unroll 8
  for (int64_t i = (int64_t)share * THREADS + thread(); i < end; i += SKIM_PAGE_CHECKS * THREADS)
    wrong |= (uint32_t)row[i] >= (uint32_t)pages.pages;
  if (wrong)
    found = 1;
  __syncthreads();
  if (thread() == 0)
    pages.checks[(int64_t)request * SKIM_PAGE_CHECKS + share] = (uint8_t)found;
}

KERNEL void skim_fill(const skim_fill_arguments fill) {
  const int64_t row = fill.extents[2];
  const int64_t count = fill.extents[0] * fill.extents[1] * row;
  for (int64_t i = (int64_t)block() * THREADS + thread(); i < count;
       i += (int64_t)blocks() * THREADS) {
    const int64_t outer = i / row;
    const int64_t at = outer / fill.extents[1] * fill.strides[0] +
                       outer % fill.extents[1] * fill.strides[1] + i % row * fill.strides[2];
    if (fill.element_size == 4)
      ((int32_t *)fill.data)[at] = fill.value;
    else
      ((uint8_t *)fill.data)[at] = (uint8_t)fill.value;
  }
}
