// Truths of keys of which the runtime makes bits ahead of the kernel.
#ifndef SKIM_CODEGEN_NVVM_PACKEDKEYS_H
#define SKIM_CODEGEN_NVVM_PACKEDKEYS_H

#include "codegen/nvvm/Device.h"
#include "runtime/LaunchPlan.h"

#include <optional>
#include <vector>

namespace skim::nvvm {

/// Keys whose bits stand together in a packed row, as 16 bytes.
inline constexpr int64_t kPackedKeys = 128;

/// The attribute of a `tile.load_cell` of an input that names the buffer of its bits.
inline constexpr llvm::StringLiteral kPackedKeysAttr = "hopper.packed_keys";

/// The load that a literal consists of, where it is one byte for each key, the same for all of the
/// `rows` rows of a tile.
tile::LoadCellOp byteOfKey(tile::LiteralOp literal, int64_t rows);

/// The inputs that a program reads as bits, and the buffers of these.
std::vector<PackedKeys> packedKeysOf(tile::ProgramOp program);

/// Where the bits of the item's row start, computed beside the item; null where the runtime does
/// not pack the load's input.
mlir::Value packedRow(tile::LoadCellOp load, tile::ItemRecordOp item);
/// The 16 bytes of block `number` of such a row.
mlir::Value loadPacked(Device &device, mlir::Value row, mlir::Value number);
/// Those as a number of 128 bits.
mlir::Value packedBits(Device &device, mlir::Value loaded);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_PACKEDKEYS_H
