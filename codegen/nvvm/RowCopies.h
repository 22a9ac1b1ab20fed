// Copies of keys or values row by row, for rows that no tensor map describes.
#ifndef SKIM_CODEGEN_NVVM_ROWCOPIES_H
#define SKIM_CODEGEN_NVVM_ROWCOPIES_H

#include "codegen/nvvm/Copies.h"

namespace skim::nvvm {

/// Copies the rows of a tile, or of a list of keys, into slot `number` of its ring and hands it on,
/// all lanes of a warp together. Rows that do not exist become 0. `positions` is the offset of the
/// list in shared memory, -1 in it stands for no key; null for the consecutive keys of the tile.
/// Where the rows lie is found first; then `takeSlot` waits for the slot.
void copyRowsOfTile(Device &device, const SharedLayout &layout, KeyTile &tile, mlir::Value number,
                    mlir::Value positions, llvm::function_ref<void()> takeSlot);

/// The same for means of blocks, of which `tile` names the first, from the buffers of `source`. The
/// loader waits until they are there and readable for the tensor cores.
void copyMeans(Device &device, const SharedLayout &layout, KeyTile &tile, mlir::Value number,
               tile::SourceAttr source, llvm::function_ref<void()> takeSlot);

/// Makes what such copies wrote readable for the tensor cores; for those who waited for it.
void fenceRowCopies(Device &device);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_ROWCOPIES_H
