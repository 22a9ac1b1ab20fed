// Bulk tensor copies of queries, keys and values into their rings.
#ifndef SKIM_CODEGEN_NVVM_COPIES_H
#define SKIM_CODEGEN_NVVM_COPIES_H

#include "codegen/nvvm/Device.h"

namespace skim::nvvm {

/// Keys [firstKey, firstKey + count) of an item's request and KV head; `count` is at most a tile.
struct KeyTile {
  tile::Operand operand;
  tile::ItemRecordOp item;
  mlir::Value firstKey, count;
  mlir::Value firstKeyToken; ///< where the request's keys start, as i32; contiguous keys alone
};

/// Copies rows [token, token + rows) of query heads from `head` on, as many as a tile holds, into
/// slot `number` of the queries, all i32. For one lane.
void copyQueryTile(Device &device, const SharedLayout &layout, mlir::Value number,
                   mlir::Value token, mlir::Value head);

/// Copies a tile through a tensor map into slot `number` of its ring and hands it on. For all lanes
/// of a warp. Values of keys that do not exist become 0. `takeSlot` waits until the slot is free:
/// the pages of the tile have been looked up by then.
void copyKeyTile(Device &device, const SharedLayout &layout, KeyTile &tile, mlir::Value number,
                 llvm::function_ref<void()> takeSlot);

/// The page size that the kernel is compiled for, 0 for contiguous keys and values.
int64_t pageSize(Device &device);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_COPIES_H
