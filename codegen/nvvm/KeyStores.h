// Positions of keys, from the bits that stand for them to a list in shared memory.
#ifndef SKIM_CODEGEN_NVVM_KEYSTORES_H
#define SKIM_CODEGEN_NVVM_KEYSTORES_H

#include "codegen/nvvm/Device.h"

namespace skim::nvvm {

/// Stores the positions of a lane's keys in ascending order: bit i of word w is key `firstKey` +
/// 32 w + i. The key of rank r among those of all lanes, `total`, belongs at address `start` + 4 r;
/// the lane's start at rank `before`, and only those below rank `end`, the same for all lanes, are
/// stored. All lanes turn as often as some word has keys. What is left of the words.
cpu::Code::Values storeKeys(Device &device, mlir::Value firstKey, mlir::Value start,
                            mlir::Value before, mlir::Value end, mlir::Value total,
                            mlir::ValueRange words);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_KEYSTORES_H
