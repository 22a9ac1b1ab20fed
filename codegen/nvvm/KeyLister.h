// Where few keys of a tile are kept: which ones, and their lists.
#ifndef SKIM_CODEGEN_NVVM_KEYLISTER_H
#define SKIM_CODEGEN_NVVM_KEYLISTER_H

#include "codegen/cpu/VisitWalk.h"
#include "codegen/nvvm/Batches.h"
#include "codegen/nvvm/KeyBytes.h"
#include "codegen/nvvm/PackedKeys.h"

#include <optional>

namespace skim::nvvm {

/// Tests the keys of a stretch, 128 a lane as the bits of a number. Tiles of which more than half
/// is kept are visited as they are; the kept keys of the others are listed in ascending order.
class KeyLister {
public:
  /// Keys that a lane tests in one step: whole tiles.
  static constexpr int64_t kKeysOfLane = kPackedKeys;

  KeyLister(Device &device, const SharedLayout &layout, cpu::VisitWalk &walk,
            tile::ForEachVisitOp op, tile::ItemRecordOp item);

  /// The tiles [bottom, top), from the first to the last.
  llvm::LogicalResult walkKeys(mlir::Value bottom, mlir::Value top);

private:
  /// A literal that the runtime packs: where the bits of the item's row start, and those of the
  /// lane's keys in the step that is written.
  struct BitRow {
    tile::LiteralOp literal;
    mlir::Value address, bits;
  };
  /// The keys of lane `number` that lie in a stretch: without the first `below` of lane 0, and up
  /// to the first `ofLast` of lane `last`.
  mlir::Value keysBetween(mlir::Value number, mlir::Value below, mlir::Value last,
                          mlir::Value ofLast);
  /// Those that are kept by some row and left out by some, if they exist. The buffer `number` holds
  /// the bytes that were copied for them.
  llvm::FailureOr<cpu::Code::Values> testKeys(mlir::Value firstKey, mlir::Value number);
  llvm::FailureOr<cpu::Code::Values> testLiteral(tile::LiteralOp literal, mlir::Value firstKey,
                                                 mlir::Value number);
  llvm::FailureOr<cpu::Code::Values> testKeyByKey(tile::LiteralOp literal, mlir::Value firstKey);
  /// Visits the tiles of which more than half is kept, and lists the other keys.
  void listKeys(mlir::Value firstKey, mlir::Value kept, mlir::Value leftOut);
  /// The first of these, of tiles with `counts` kept keys each. `words`, and what is returned, are
  /// the bits of the keys and then their number, of all and of those that are left.
  cpu::Code::Values visitTiles(mlir::Value firstKey, cpu::Code::Values words,
                               mlir::ValueRange counts, mlir::Value leftOut);

  mlir::Value bits(int64_t value);
  /// All bits of a truth.
  mlir::Value toBits(mlir::Value truth);
  /// Those of a lane's tile `number`.
  mlir::Value bitsOfTile(mlir::Value all, int64_t number);
  /// The 32 bits from bit 32 `number` on.
  mlir::Value wordOf(mlir::Value all, int64_t number);

  Device &device;
  const SharedLayout &layout;
  cpu::VisitWalk &walk;
  tile::ForEachVisitOp op;
  tile::ItemRecordOp item;
  int64_t keys;  ///< of a tile
  int64_t tiles; ///< of a lane
  /// The literal whose bytes are copied ahead.
  std::optional<ByteRow> aheadRow;
  llvm::SmallVector<BitRow, 2> bitRows;
};

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_KEYLISTER_H
