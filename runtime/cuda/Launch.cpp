#include "runtime/cuda/Launch.h"

#include "runtime/CheckedMath.h"
#include "runtime/cuda/device/KeyNormArguments.h"
#include "runtime/cuda/device/OrderArguments.h"
#include "runtime/cuda/device/PackKeysArguments.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace skim::cuda {

namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

/// Blocks for a loop over `count` elements, at most as many as keep the device busy.
unsigned gridFor(int64_t count, int64_t perBlock, int64_t most) {
  return static_cast<unsigned>(std::clamp<int64_t>(ceilDiv(count, perBlock), 1, most));
}

/// Query rows over a KV head from which on reading its keys once more for their norms is repaid.
constexpr int64_t kRowsForNorms = 4096;

/// For so many work items for each block that takes them, their order is worth its time: it matters
/// little for fewer, and of more the last ones are a small part, while sorting takes longer.
constexpr int64_t kLeastItemsPerBlock = 2, kMostItemsPerBlock = 192;

/// The most blocks on the second and third axis of a grid.
constexpr int64_t kMostBlocksAcross = 65535;

int32_t atMostInt(int64_t value) { return static_cast<int32_t>(std::min(value, kLargest)); }

/// Rows of every array that has rows.
int64_t tokensOf(const Operands &operands, const TensorView &kept) {
  int64_t tokens = std::min(operands.q.shape[0], operands.out.shape[0]);
  if (operands.lse.isPresent())
    tokens = std::min(tokens, operands.lse.shape[1]);
  if (kept.isPresent())
    tokens = std::min(tokens, kept.shape[1]);
  return tokens;
}

} // namespace

Status Launch::launch(Function function, const char *what, unsigned gridX, unsigned gridY,
                      unsigned threads, int64_t sharedBytes, void **parameters) const {
  const DriverApi &api = program.device().api();
  return api.check(api.launchKernel(function, gridX, gridY, 1, threads, 1, 1,
                                    static_cast<unsigned>(sharedBytes), stream, parameters,
                                    nullptr),
                   what);
}

Status Launch::enqueueUpload() const {
  const std::span<const std::byte> bytes = tables.bytes();
  skim_upload_arguments upload = {};
  for (size_t first = 0; first < bytes.size(); first += SKIM_UPLOAD_BYTES) {
    const size_t count = std::min<size_t>(bytes.size() - first, SKIM_UPLOAD_BYTES);
    upload.destination = reinterpret_cast<uint8_t *>(workspace + first);
    upload.bytes = static_cast<int64_t>(count);
    std::memcpy(upload.data, bytes.data() + first, count);
    void *parameters[] = {&upload};
    if (Status status = launch(program.device().setup().upload, "writing tables", 1, 1,
                               SKIM_SETUP_THREADS, 0, parameters);
        !status)
      return status;
  }
  return Status::ok();
}

Status Launch::enqueuePageCheck() const {
  skim_page_arguments pages = {};
  pages.kv_lens = args.kv_lens;
  pages.block_table = args.block_table;
  pages.stride = args.block_table_stride;
  pages.columns = atMostInt(operands.blockTable.shape[1]);
  pages.page_size = atMostInt(args.page_size);
  pages.pages = atMostInt(operands.k.shape[0]);
  pages.checks = reinterpret_cast<uint8_t *>(workspace + layout.pageChecks);
  void *parameters[] = {&pages};
  return launch(program.device().setup().checkPages, "checking pages",
                static_cast<unsigned>(args.requests), SKIM_PAGE_CHECKS, SKIM_SETUP_THREADS, 0,
                parameters);
}

skim_setup_kernel Launch::setupKernel(size_t kernel) const {
  const KernelDescription &description = plan.kernels[kernel];
  const KernelRegion &region = layout.kernels[kernel];
  skim_setup_kernel setup = {};
  setup.items = reinterpret_cast<skim_work_item *>(workspace + region.items);
  setup.count = reinterpret_cast<int32_t *>(workspace + region.itemCount);
  setup.next = reinterpret_cast<int32_t *>(workspace + region.nextItem);
  setup.axis = description.axis == ItemAxis::None      ? 0
               : description.axis == ItemAxis::Queries ? 1
                                                       : 2;
  setup.tile_size = static_cast<int32_t>(description.tileSize);
  const Signature &signature = plan.signature;
  setup.groups = description.head == HeadAxis::None ? 1 : static_cast<int32_t>(signature.kvHeads);
  setup.heads_per_group = description.head == HeadAxis::QueryHead
                              ? static_cast<int32_t>(signature.queryHeads / signature.kvHeads)
                              : 1;
  if (region.mostGroups > 0)
    setup.item_groups = reinterpret_cast<skim_item_group *>(workspace + region.groups);
  return setup;
}

int64_t Launch::mostKeys() const {
  return args.block_table
             ? std::min(shape.maxKvLength, operands.blockTable.shape[1] * args.page_size)
             : shape.maxKvLength;
}

Expected<skim_setup_arguments> Launch::setupArguments() const {
  skim_setup_arguments setup = {};
  setup.cu_seqlens_q = args.cu_seqlens_q;
  setup.kv_lens = args.kv_lens;
  setup.cu_seqlens_kv = args.cu_seqlens_kv;
  setup.status = program.status().onDevice();
  setup.reported = program.status().reported();
  setup.requests = static_cast<int32_t>(args.requests);
  setup.noncausal = plan.signature.noncausal;
  setup.query_tokens = atMostInt(std::min(shape.totalQueryTokens, tokensOf(operands, kept)));
  setup.max_query_length = static_cast<int32_t>(shape.maxQueryLength);
  int64_t keys = mostKeys();
  if (args.block_table)
    setup.page_checks = reinterpret_cast<const uint8_t *>(workspace + layout.pageChecks);
  else
    setup.kv_tokens = atMostInt(operands.k.shape[0]);

  // What the axes of inputs have room for.
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const InputDescription &input = plan.inputs[i];
    const skim_buffer &slot = tables.inputs()[i];
    if (input.keyBlock > 0 && input.element != InputElement::List && input.weightRows == 0)
      keys = (CheckedSize(slot.extents[3]) * input.keyBlock).isValid()
                 ? std::min(keys, slot.extents[3] * input.keyBlock)
                 : keys;
    if (input.queryBlock == 0 || slot.strides[2] == 0) // one cell for all rows
      continue;
    const auto size = static_cast<int32_t>(input.queryBlock);
    const int32_t blocks = atMostInt(slot.extents[2]);
    auto *const end = setup.query_block + setup.query_blocks;
    auto *const same =
        std::find_if(setup.query_block, end, [&](const auto &known) { return known.size == size; });
    if (same != end) {
      same->blocks = std::min(same->blocks, blocks);
      continue;
    }
    if (setup.query_blocks == SKIM_SETUP_QUERY_BLOCKS)
      return Status(StatusCode::Unsupported, "input '" + input.name +
                                                 "': expected inputs over at most " +
                                                 std::to_string(SKIM_SETUP_QUERY_BLOCKS) +
                                                 " different blocks of rows on a CUDA device");
    setup.query_block[setup.query_blocks++] = {size, blocks};
  }
  setup.max_kv_length = atMostInt(keys);
  return setup;
}

Status Launch::enqueueSetup() const {
  Expected<skim_setup_arguments> arguments = setupArguments();
  if (!arguments)
    return arguments.status();
  skim_setup_arguments &setup = *arguments;
  // Every tile is compared with all requests: many of them take more threads.
  setup.lanes_per_tile = SKIM_SETUP_THREADS / SKIM_SETUP_TILES;
  while (setup.lanes_per_tile < SKIM_SETUP_MOST_LANES && args.requests > 16 * setup.lanes_per_tile)
    setup.lanes_per_tile *= 2;
  const std::span<const std::byte> bytes = tables.bytes();
  if (bytes.size() <= sizeof(setup.table)) {
    setup.tables = reinterpret_cast<uint8_t *>(workspace);
    setup.table_bytes = static_cast<int64_t>(bytes.size());
    std::memcpy(setup.table, bytes.data(), bytes.size());
  } else if (Status status = enqueueUpload(); !status) {
    return status;
  }
  if (args.block_table && args.requests > 0)
    if (Status status = enqueuePageCheck(); !status)
      return status;

  for (size_t first = 0; first < plan.kernels.size(); first += SKIM_SETUP_KERNELS) {
    const size_t count = std::min<size_t>(plan.kernels.size() - first, SKIM_SETUP_KERNELS);
    int64_t most = 0;
    for (size_t i = 0; i < count; ++i) {
      setup.kernel[i] = setupKernel(first + i);
      const int64_t heads = int64_t{setup.kernel[i].groups} * setup.kernel[i].heads_per_group;
      most = std::max(most, layout.kernels[first + i].mostItems / heads);
    }
    setup.kernels = static_cast<int32_t>(count);
    void *parameters[] = {&setup};
    if (Status status = launch(program.device().setup().setup, "making work items",
                               gridFor(most, SKIM_SETUP_THREADS / setup.lanes_per_tile,
                                       4 * program.device().multiprocessors()),
                               static_cast<unsigned>(count), SKIM_SETUP_THREADS,
                               args.requests * Program::kSharedBytesPerRequest, parameters);
        !status)
      return status;
    setup.table_bytes = 0;
  }
  return Status::ok();
}

Status Launch::enqueueFill(const TensorView &view, int32_t value) const {
  if (!view.isPresent() || view.isEmpty())
    return Status::ok();
  skim_fill_arguments fill = {view.data, {1, 1, 1}, {0, 0, 0}, value, 0};
  fill.element_size = static_cast<int32_t>(dtypeSize(view.dtype));
  int64_t count = 1;
  for (int64_t axis = 0; axis < view.rank; ++axis) {
    fill.extents[3 - view.rank + axis] = view.shape[axis];
    fill.strides[3 - view.rank + axis] = view.strides[axis];
    count *= view.shape[axis]; // distinct elements: within the address space
  }
  void *parameters[] = {&fill};
  return launch(program.device().setup().fill, "clearing a result",
                gridFor(count, SKIM_SETUP_THREADS, 8 * program.device().multiprocessors()), 1,
                SKIM_SETUP_THREADS, 0, parameters);
}

Status Launch::enqueueClears() const {
  const DriverApi &api = program.device().api();
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const BufferPlacement &placement = layout.placements[i];
    if (!plan.buffers[i].zeroed || placement.bytes == 0)
      continue;
    if (Status status = api.check(api.fillBytesAsync(workspace + placement.offset, 0,
                                                     static_cast<size_t>(placement.bytes), stream),
                                  "clearing a buffer");
        !status)
      return status;
  }
  if (Status status = enqueueFill(kept, 0); !status)
    return status;
  if (Status status = enqueueFill(operands.compactPositions, -1); !status)
    return status;
  return enqueueFill(operands.compactCounts, 0);
}

Status Launch::enqueueKeyNorms(int64_t buffer) const {
  const Signature &signature = plan.signature;
  const int64_t rows = shape.maxQueryLength * (signature.queryHeads / signature.kvHeads);
  if (rows < kRowsForNorms || args.requests == 0)
    return Status::ok();
  skim_norm_arguments norm = {};
  norm.key = args.key;
  norm.kv_lens = args.kv_lens;
  norm.cu_seqlens_kv = args.cu_seqlens_kv;
  norm.block_table = args.block_table;
  norm.block_table_stride = args.block_table_stride;
  norm.norms = reinterpret_cast<uint32_t *>(workspace +
                                            layout.placements[static_cast<size_t>(buffer)].offset);
  norm.head_dim = static_cast<int32_t>(signature.headDim);
  norm.page_size = atMostInt(args.page_size);
  norm.max_kv_length = atMostInt(mostKeys());
  if (args.block_table)
    norm.pages = atMostInt(operands.k.shape[0]);
  else
    norm.kv_tokens = atMostInt(operands.k.shape[0]);
  void *parameters[] = {&norm};
  const DriverApi &api = program.device().api();
  const unsigned shares =
      gridFor(mostKeys(), SKIM_NORM_KEYS, 8 * program.device().multiprocessors());
  return api.check(api.launchKernel(program.device().setup().keyNorms, shares,
                                    static_cast<unsigned>(signature.kvHeads),
                                    static_cast<unsigned>(args.requests), SKIM_NORM_THREADS, 1, 1,
                                    0, stream, parameters, nullptr),
                   "bounding the norms of keys");
}

bool Launch::isOrdered(size_t kernel) const {
  const CudaLaunch &description = *plan.kernels[kernel].cuda;
  if (!description.orderedBy)
    return false;
  const KernelRegion &counting = layout.kernels[static_cast<size_t>(*description.orderedBy)];
  const int64_t blocks = program.residentBlocks(description);
  return counting.mostItems >= kLeastItemsPerBlock * blocks &&
         counting.mostItems <= kMostItemsPerBlock * blocks &&
         counting.mostGroups <= SKIM_ORDER_GROUPS;
}

bool Launch::countsInVain(size_t kernel) const {
  if (layout.kernels[kernel].mostGroups == 0)
    return false;
  for (size_t i = kernel + 1; i < plan.kernels.size(); ++i)
    if (plan.kernels[i].cuda->orderedBy == static_cast<int64_t>(kernel) && isOrdered(i))
      return false;
  return true;
}

Status Launch::enqueueOrder(size_t kernel) const {
  const skim_setup_kernel counting =
      setupKernel(static_cast<size_t>(*plan.kernels[kernel].cuda->orderedBy));
  skim_order_arguments order = {};
  order.items = counting.items;
  order.ordered = setupKernel(kernel).items;
  order.groups = counting.item_groups;
  // The setup has written the groups of the requests that there are, not of all that were planned.
  order.group_count = counting.groups * static_cast<int32_t>(args.requests);
  if (order.group_count == 0)
    return Status::ok();
  void *parameters[] = {&order};
  const SetupFunctions &functions = program.device().setup();
  for (Function function : {functions.longestItems, functions.orderItems})
    if (Status status =
            launch(function, "ordering work items", static_cast<unsigned>(order.group_count), 1,
                   SKIM_ORDER_THREADS, 0, parameters);
        !status)
      return status;
  return Status::ok();
}

Status Launch::enqueuePackedKeys(const PackedKeys &packed) const {
  if (args.requests == 0)
    return Status::ok();
  const skim_buffer &input = tables.inputs()[static_cast<size_t>(packed.input)];
  const BufferPlacement &bits = layout.placements[static_cast<size_t>(packed.buffer)];
  const int64_t keys = std::min(mostKeys(), input.extents[3]);
  skim_pack_arguments pack = {};
  pack.truths = static_cast<const uint8_t *>(input.data);
  pack.request_stride = input.strides[0];
  pack.head_stride = input.strides[1];
  pack.key_stride = input.strides[3];
  pack.bits = reinterpret_cast<uint8_t *>(workspace + bits.offset);
  pack.request_bytes = bits.strides[0];
  pack.head_bytes = bits.strides[1];
  pack.kv_lens = args.kv_lens;
  pack.max_kv_length = atMostInt(keys);
  pack.requests = atMostInt(args.requests);
  void *parameters[] = {&pack};
  const DriverApi &api = program.device().api();
  const unsigned shares = gridFor(keys, SKIM_PACK_SHARE, 8 * program.device().multiprocessors());
  const unsigned requests = gridFor(args.requests, 1, kMostBlocksAcross);
  return api.check(api.launchKernel(program.device().setup().packKeys, shares,
                                    static_cast<unsigned>(bits.extents[1]), requests,
                                    SKIM_PACK_THREADS, 1, 1, 0, stream, parameters, nullptr),
                   "packing an input");
}

Status Launch::enqueueKernels() const {
  auto *arguments = workspace + layout.arguments;
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const CudaLaunch &description = *plan.kernels[i].cuda;
    const KernelRegion &region = layout.kernels[i];
    if (region.mostItems == 0 || countsInVain(i))
      continue;
    if (isOrdered(i))
      if (Status status = enqueueOrder(i); !status)
        return status;
    if (description.keyNorms)
      if (Status status = enqueueKeyNorms(*description.keyNorms); !status)
        return status;
    for (const PackedKeys &packed : description.packedKeys)
      if (Status status = enqueuePackedKeys(packed); !status)
        return status;
    auto *items = workspace + region.items;
    auto *itemCount = workspace + region.itemCount;
    auto *nextItem = workspace + region.nextItem;
    TensorMaps kernelMaps = maps[i];
    void *parameters[] = {static_cast<void *>(&arguments),
                          static_cast<void *>(&items),
                          static_cast<void *>(&itemCount),
                          static_cast<void *>(&nextItem),
                          &kernelMaps.query,
                          &kernelMaps.key,
                          &kernelMaps.value};
    const std::string what = "launching kernel '" + plan.kernels[i].symbol + "'";
    if (Status status =
            launch(program.function(i), what.c_str(),
                   gridFor(region.mostItems, 1, program.residentBlocks(description)), 1,
                   static_cast<unsigned>(description.threads), description.sharedBytes, parameters);
        !status)
      return status;
  }
  return Status::ok();
}

} // namespace skim::cuda
