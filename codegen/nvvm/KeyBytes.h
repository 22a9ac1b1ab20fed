// Truths of keys that lie in memory as bytes: copied ahead of the search, packed to bits by it.
#ifndef SKIM_CODEGEN_NVVM_KEYBYTES_H
#define SKIM_CODEGEN_NVVM_KEYBYTES_H

#include "codegen/nvvm/Device.h"

#include <optional>

namespace skim::nvvm {

/// A literal that is one byte for each key, the same for all rows of a tile: where the bytes of the
/// item's row start, and whether they stand side by side on a boundary of 16.
struct ByteRow {
  tile::LiteralOp literal;
  mlir::Value address, aligned;
};
/// The row of `item`, computed beside it; none where the literal is something else.
std::optional<ByteRow> byteRow(tile::LiteralOp literal, tile::ItemRecordOp item);

/// Starts to copy 128 bytes for each of the first `lanes` lanes, all lanes together, into buffer
/// `number`: `firstKey` is lane 0's.
void copyAhead(Device &device, const SharedLayout &layout, const ByteRow &row, mlir::Value firstKey,
               mlir::Value lanes, mlir::Value number);

// A bit for each of a lane's 128 bytes, whether it is not 0.
/// Those of the keys [firstKey, firstKey + 128), of an aligned row.
mlir::Value packBytes(Device &device, const ByteRow &row, mlir::Value firstKey);
/// Those that were copied into buffer `number` for this lane.
mlir::Value packCopiedBytes(Device &device, const SharedLayout &layout, mlir::Value number);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_KEYBYTES_H
