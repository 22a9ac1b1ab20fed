// Access to the structures of the binary contract (skim/abi.h) from generated code.
#ifndef SKIM_CODEGEN_CPU_KERNELARGUMENTS_H
#define SKIM_CODEGEN_CPU_KERNELARGUMENTS_H

#include "codegen/cpu/Code.h"

namespace skim::cpu {

/// A field of skim_kernel_args.
enum class Argument {
  Layer,
  CuSeqlensQ,
  KvLens,
  CuSeqlensKv,
  BlockTable,
  BlockTableStride,
  PageSize,
  QueryData,
  QueryTokenStride,
  QueryHeadStride,
  KeyData,
  KeyPageStride,
  KeyTokenStride,
  KeyHeadStride,
  ValueData,
  ValuePageStride,
  ValueTokenStride,
  ValueHeadStride,
  OutData,
  OutTokenStride,
  OutHeadStride,
  Lse,
  LseTokenStride,
  LseHeadStride,
  SoftmaxScale,
  Parameters,
  Inputs,
  Buffers,
  Status,
  Statistics,
  Kept,
  KeptRowStride,
  KeptHeadStride,
  CompactPositions,
  CompactPositionsRequestStride,
  CompactPositionsHeadStride,
  CompactCounts,
  CompactCountsRequestStride,
  CompactCountsHeadStride,
};

/// Loads a field: a pointer, an index (64-bit integers), or an f64.
mlir::Value loadArgument(Code &code, mlir::Value arguments, Argument field);

/// An input or a workspace buffer: its data and the strides of its axes, in elements.
struct BufferView {
  mlir::Value data;
  mlir::Value strides[4];
};
BufferView loadBuffer(Code &code, mlir::Value arguments, tile::Space space, int64_t slot);
/// The extent of its last axis.
mlir::Value loadBufferCapacity(Code &code, mlir::Value arguments, tile::Space space, int64_t slot);

/// The address of values[entry] of a parameter.
mlir::Value parameterAddress(Code &code, mlir::Value arguments, int64_t slot, mlir::Value entry);

/// Fields of items[ordinal].
struct WorkItem {
  mlir::Value request, head, tile;
};
WorkItem loadWorkItem(Code &code, mlir::Value items, mlir::Value ordinal);

/// The address of statistics[ordinal], whose counters are four consecutive i64.
mlir::Value statisticsAddress(Code &code, mlir::Value statistics, mlir::Value ordinal);
/// Positions of the counters.
enum class Counter { TilesVisited, TilesMasked, PairsKept, RestEntries };

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_KERNELARGUMENTS_H
