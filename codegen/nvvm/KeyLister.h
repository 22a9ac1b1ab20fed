// Where few keys of a tile are kept: which ones, and their lists.
#ifndef SKIM_CODEGEN_NVVM_KEYLISTER_H
#define SKIM_CODEGEN_NVVM_KEYLISTER_H

#include "codegen/cpu/VisitWalk.h"
#include "codegen/nvvm/Batches.h"

#include <optional>

namespace skim::nvvm {

/// Tests the keys of a stretch, 128 a lane as the bits of a number. Tiles of which more than half
/// is kept are visited as they are; the kept keys of the others are listed in ascending order.
class KeyLister {
public:
  /// Keys that a lane tests in one step: whole tiles.
  static constexpr int64_t kKeysOfLane = 128;

  KeyLister(Device &device, const SharedLayout &layout, cpu::VisitWalk &walk,
            tile::ForEachVisitOp op, tile::ItemRecordOp item);

  /// The tiles [bottom, top), from the first to the last.
  llvm::LogicalResult walkKeys(mlir::Value bottom, mlir::Value top);

private:
  /// A literal that is one byte for each key, the same for all rows of a tile: where the bytes of
  /// the item's row start, and whether they stand side by side on a boundary of 16.
  struct ByteRow {
    tile::LiteralOp literal;
    mlir::Value address, aligned;
  };
  std::optional<ByteRow> byteRow(tile::LiteralOp literal);
  /// The bytes of the keys [firstKey, firstKey + 128), loaded `again` where that was done before.
  cpu::Code::Values loadBytes(const ByteRow &row, mlir::Value firstKey, bool again);
  /// Starts to copy those of the first `lanes` lanes, all lanes together, into buffer `number`:
  /// `firstKey` is lane 0's.
  void copyAhead(mlir::Value firstKey, mlir::Value lanes, mlir::Value number);
  /// What was copied there for this lane.
  cpu::Code::Values copiedBytes(mlir::Value number, bool again);
  /// A bit for each of the bytes that `load` gives, whether it is not 0.
  mlir::Value packBytes(llvm::function_ref<cpu::Code::Values(bool again)> load);
  /// Whether the 128 bytes from `firstKey` on can be loaded at once.
  mlir::Value isWhole(const ByteRow &row, mlir::Value firstKey);

  /// The keys [firstKey, firstKey + 128), as far as they exist in [bottom, top): kept by some row,
  /// left out by some. The buffer `number` holds the bytes that were copied for them.
  llvm::FailureOr<cpu::Code::Values> testKeys(mlir::Value firstKey, mlir::Value bottom,
                                              mlir::Value top, mlir::Value number);
  llvm::FailureOr<cpu::Code::Values> testLiteral(tile::LiteralOp literal, mlir::Value firstKey,
                                                 mlir::Value number);
  llvm::FailureOr<cpu::Code::Values> testKeyByKey(tile::LiteralOp literal, mlir::Value firstKey);
  /// Visits the tiles of which more than half is kept, and lists the other keys.
  void listKeys(mlir::Value firstKey, mlir::Value kept, mlir::Value leftOut);

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
};

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_KEYLISTER_H
