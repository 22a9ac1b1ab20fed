#include "codegen/cpu/KernelArguments.h"

#include <skim/abi.h>

#include <cstddef>

using namespace mlir;
using namespace skim::cpu;

namespace {

enum class Kind { Pointer, I64, F64 };

struct Field {
  Argument argument;
  size_t offset;
  Kind kind;
};

// The generated code and the C compiler must agree on the layout.
static_assert(SKIM_ABI_VERSION == 3, "the table below describes version 3");
static_assert(sizeof(void *) == 8 && sizeof(skim_scalar) == 8 && sizeof(skim_parameter) == 8);
static_assert(sizeof(skim_buffer) == 72 && offsetof(skim_buffer, extents) == 8 &&
              offsetof(skim_buffer, strides) == 40);
static_assert(sizeof(skim_work_item) == 16 && offsetof(skim_work_item, request) == 0 &&
              offsetof(skim_work_item, head) == 4 && offsetof(skim_work_item, tile) == 8);
static_assert(sizeof(skim_statistics) == 32 && offsetof(skim_statistics, tiles_visited) == 0 &&
              offsetof(skim_statistics, tiles_masked) == 8 &&
              offsetof(skim_statistics, pairs_kept) == 16 &&
              offsetof(skim_statistics, rest_entries) == 24);

constexpr Field fields[] = {
    {Argument::Layer, offsetof(skim_kernel_args, layer), Kind::I64},
    {Argument::CuSeqlensQ, offsetof(skim_kernel_args, cu_seqlens_q), Kind::Pointer},
    {Argument::KvLens, offsetof(skim_kernel_args, kv_lens), Kind::Pointer},
    {Argument::CuSeqlensKv, offsetof(skim_kernel_args, cu_seqlens_kv), Kind::Pointer},
    {Argument::BlockTable, offsetof(skim_kernel_args, block_table), Kind::Pointer},
    {Argument::BlockTableStride, offsetof(skim_kernel_args, block_table_stride), Kind::I64},
    {Argument::PageSize, offsetof(skim_kernel_args, page_size), Kind::I64},
    {Argument::QueryData, offsetof(skim_kernel_args, query.data), Kind::Pointer},
    {Argument::QueryTokenStride, offsetof(skim_kernel_args, query.token_stride), Kind::I64},
    {Argument::QueryHeadStride, offsetof(skim_kernel_args, query.head_stride), Kind::I64},
    {Argument::KeyData, offsetof(skim_kernel_args, key.data), Kind::Pointer},
    {Argument::KeyPageStride, offsetof(skim_kernel_args, key.page_stride), Kind::I64},
    {Argument::KeyTokenStride, offsetof(skim_kernel_args, key.token_stride), Kind::I64},
    {Argument::KeyHeadStride, offsetof(skim_kernel_args, key.head_stride), Kind::I64},
    {Argument::ValueData, offsetof(skim_kernel_args, value.data), Kind::Pointer},
    {Argument::ValuePageStride, offsetof(skim_kernel_args, value.page_stride), Kind::I64},
    {Argument::ValueTokenStride, offsetof(skim_kernel_args, value.token_stride), Kind::I64},
    {Argument::ValueHeadStride, offsetof(skim_kernel_args, value.head_stride), Kind::I64},
    {Argument::OutData, offsetof(skim_kernel_args, out.data), Kind::Pointer},
    {Argument::OutTokenStride, offsetof(skim_kernel_args, out.token_stride), Kind::I64},
    {Argument::OutHeadStride, offsetof(skim_kernel_args, out.head_stride), Kind::I64},
    {Argument::Lse, offsetof(skim_kernel_args, lse), Kind::Pointer},
    {Argument::LseTokenStride, offsetof(skim_kernel_args, lse_token_stride), Kind::I64},
    {Argument::LseHeadStride, offsetof(skim_kernel_args, lse_head_stride), Kind::I64},
    {Argument::SoftmaxScale, offsetof(skim_kernel_args, softmax_scale), Kind::F64},
    {Argument::Parameters, offsetof(skim_kernel_args, parameters), Kind::Pointer},
    {Argument::Inputs, offsetof(skim_kernel_args, inputs), Kind::Pointer},
    {Argument::Buffers, offsetof(skim_kernel_args, buffers), Kind::Pointer},
    {Argument::Status, offsetof(skim_kernel_args, status), Kind::Pointer},
    {Argument::Statistics, offsetof(skim_kernel_args, statistics), Kind::Pointer},
    {Argument::Kept, offsetof(skim_kernel_args, kept), Kind::Pointer},
    {Argument::KeptRowStride, offsetof(skim_kernel_args, kept_row_stride), Kind::I64},
    {Argument::KeptHeadStride, offsetof(skim_kernel_args, kept_head_stride), Kind::I64},
    {Argument::CompactPositions, offsetof(skim_kernel_args, compact_positions), Kind::Pointer},
    {Argument::CompactPositionsRequestStride,
     offsetof(skim_kernel_args, compact_positions_request_stride), Kind::I64},
    {Argument::CompactPositionsHeadStride,
     offsetof(skim_kernel_args, compact_positions_head_stride), Kind::I64},
    {Argument::CompactCounts, offsetof(skim_kernel_args, compact_counts), Kind::Pointer},
    {Argument::CompactCountsRequestStride,
     offsetof(skim_kernel_args, compact_counts_request_stride), Kind::I64},
    {Argument::CompactCountsHeadStride, offsetof(skim_kernel_args, compact_counts_head_stride),
     Kind::I64},
};

constexpr bool tableIsInOrder() {
  size_t position = 0;
  for (const Field &field : fields)
    if (static_cast<size_t>(field.argument) != position++)
      return false;
  return true;
}
static_assert(tableIsInOrder(), "a field is found by its position");

} // namespace

Value skim::cpu::loadArgument(Code &code, Value arguments, Argument argument) {
  const Field &field = fields[static_cast<size_t>(argument)];
  Value address = code.offset(arguments, static_cast<int64_t>(field.offset));
  switch (field.kind) {
  case Kind::Pointer:
    return code.load(code.pointerType(), address);
  case Kind::I64:
    return code.loadIndex(64, address);
  case Kind::F64:
    break;
  }
  return code.load(code.getF64Type(), address);
}

static Value descriptor(Code &code, Value arguments, skim::tile::Space space, int64_t slot) {
  bool input = space == skim::tile::Space::Input;
  Value table = loadArgument(code, arguments, input ? Argument::Inputs : Argument::Buffers);
  return code.offset(table, slot * static_cast<int64_t>(sizeof(skim_buffer)));
}

BufferView skim::cpu::loadBuffer(Code &code, Value arguments, tile::Space space, int64_t slot) {
  Value address = descriptor(code, arguments, space, slot);
  BufferView view;
  view.data = code.load(code.pointerType(), address);
  for (int64_t axis = 0; axis < 4; ++axis)
    view.strides[axis] = code.loadIndex(
        64, code.offset(address, static_cast<int64_t>(offsetof(skim_buffer, strides)) + 8 * axis));
  return view;
}

Value skim::cpu::loadBufferCapacity(Code &code, Value arguments, tile::Space space, int64_t slot) {
  Value address = descriptor(code, arguments, space, slot);
  return code.loadIndex(
      64, code.offset(address, static_cast<int64_t>(offsetof(skim_buffer, extents)) + 24));
}

Value skim::cpu::parameterAddress(Code &code, Value arguments, int64_t slot, Value entry) {
  Value table = loadArgument(code, arguments, Argument::Parameters);
  Value values = code.load(code.pointerType(),
                           code.offset(table, slot * static_cast<int64_t>(sizeof(skim_parameter))));
  return code.offset(values, code.mul(entry, code.index(sizeof(skim_scalar))));
}

WorkItem skim::cpu::loadWorkItem(Code &code, Value items, Value ordinal) {
  Value item = code.offset(items, code.mul(ordinal, code.index(sizeof(skim_work_item))));
  return {code.loadIndex(32, code.offset(item, offsetof(skim_work_item, request))),
          code.loadIndex(32, code.offset(item, offsetof(skim_work_item, head))),
          code.loadIndex(32, code.offset(item, offsetof(skim_work_item, tile)))};
}

Value skim::cpu::statisticsAddress(Code &code, Value statistics, Value ordinal) {
  return code.offset(statistics, code.mul(ordinal, code.index(sizeof(skim_statistics))));
}
