// Which elements of a thread's fragment a mask keeps.
#ifndef SKIM_CODEGEN_NVVM_MASKCONDITIONS_H
#define SKIM_CODEGEN_NVVM_MASKCONDITIONS_H

#include "codegen/nvvm/Device.h"

#include "llvm/ADT/DenseMap.h"

namespace skim::nvvm {

/// The positions of a thread's elements in a visit.
class FragmentPositions {
public:
  FragmentPositions(Device &device, tile::ItemRecordOp item, tile::VisitRecordOp visit);

  /// Position of the thread's row `row` (0 or 1), moved to the nearest existing one.
  mlir::Value query(size_t row) const { return queries[row]; }
  /// Position of the key in column `column` of the tile.
  mlir::Value key(mlir::Value column);
  /// Column 8 (i / 4) + i % 2, to which the thread's first column is added: register i's key, moved
  /// to the nearest existing one.
  mlir::Value keyOfRegister(size_t i);
  /// The column of register i less the thread's first column.
  static int64_t columnOfRegister(size_t i) { return static_cast<int64_t>(8 * (i / 4) + i % 2); }

  /// Positions as columns less the thread's first column, in 32 bits.
  mlir::Value toColumn(mlir::Value key);

  Device &device;
  tile::ItemRecordOp item;
  mlir::Value firstKey;
  int64_t rows, keys; ///< of a tile

private:
  mlir::Value queries[2];
  mlir::Value lastKey, firstColumn;
};

/// Evaluates the region of a `tile.mask` for the registers of a fragment. What is affine in the key
/// becomes two bounds on the column for each row; what is the same for a cell of keys is evaluated
/// once a cell.
class MaskConditions {
public:
  MaskConditions(FragmentPositions &positions, mlir::Region &region)
      : positions(positions), device(positions.device), region(region) {}

  /// Whether register `i` is kept.
  llvm::FailureOr<mlir::Value> keeps(size_t i);

private:
  /// Columns [lower, upper] of a row.
  struct Bounds {
    mlir::Value lower, upper; ///< null: no bound
  };
  /// The bounds that a set puts on the columns of row `row`, unless it is not affine in the key.
  std::optional<Bounds> bounds(tile::ContainsOp op, size_t row);
  mlir::Value contains(const Bounds &bounds, size_t i);
  llvm::FailureOr<mlir::Value> literal(tile::LiteralValueOp op, size_t i);

  FragmentPositions &positions;
  Device &device;
  mlir::Region &region;
  llvm::DenseMap<std::pair<mlir::Operation *, size_t>, std::optional<Bounds>> boundsOf;
  llvm::DenseMap<std::pair<mlir::Operation *, std::pair<size_t, int64_t>>, mlir::Value> literals;
};

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_MASKCONDITIONS_H
