// Where few keys of a tile are kept: which ones, and their lists.
#ifndef SKIM_CODEGEN_NVVM_KEYLISTER_H
#define SKIM_CODEGEN_NVVM_KEYLISTER_H

#include "codegen/cpu/VisitWalk.h"
#include "codegen/nvvm/Batches.h"

namespace skim::nvvm {

/// Tests the keys of a stretch, thirty-two a lane as the bits of a word. Tiles of which more than
/// half is kept are visited as they are; the kept keys of the others are listed.
class KeyLister {
public:
  KeyLister(Device &device, const SharedLayout &layout, cpu::VisitWalk &walk,
            tile::ForEachVisitOp op, tile::ItemRecordOp item);

  /// The tiles [bottom, top), from the last to the first.
  llvm::LogicalResult walkKeys(mlir::Value bottom, mlir::Value top);

private:
  /// The keys [firstKey, firstKey + 32), as far as they exist: kept by some row, left out by some.
  llvm::FailureOr<cpu::Code::Values> testWord(mlir::Value firstKey);
  llvm::FailureOr<cpu::Code::Values> testLiteral(tile::LiteralOp literal, mlir::Value firstKey);
  /// Visits the tiles of which more than half is kept, and says what is left to be listed.
  mlir::Value visitDenseTiles(mlir::Value word, mlir::Value firstKey, mlir::Value kept,
                              mlir::Value leftOut);
  void listKeys(mlir::Value firstKey, mlir::Value kept, mlir::Value leftOut);
  /// The same where there are many: a key of each lane at a time.
  void listOneByOne(mlir::Value firstKey, mlir::Value kept, mlir::Value leftOut);

  Device &device;
  const SharedLayout &layout;
  cpu::VisitWalk &walk;
  tile::ForEachVisitOp op;
  tile::ItemRecordOp item;
  int64_t keys; ///< of a tile
};

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_KEYLISTER_H
