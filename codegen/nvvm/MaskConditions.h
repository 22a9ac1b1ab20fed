// Which elements of a thread's fragment a mask keeps.
#ifndef SKIM_CODEGEN_NVVM_MASKCONDITIONS_H
#define SKIM_CODEGEN_NVVM_MASKCONDITIONS_H

#include "codegen/nvvm/Device.h"

#include "llvm/ADT/DenseMap.h"

namespace skim::nvvm {

/// The positions of a thread's elements in a visit; of block means, a key is the number of a block.
class FragmentPositions {
public:
  /// `listed`: the offset in shared memory of the positions of the visit's keys, where they are a
  /// list.
  FragmentPositions(Device &device, tile::ItemRecordOp item, tile::VisitRecordOp visit,
                    mlir::Value listed = {});

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
  /// Whether the keys are a list: then no key is a function of its column.
  bool areListed() const { return listed != nullptr; }
  /// Whether register i's key exists.
  mlir::Value existsKeyOfRegister(size_t i);
  /// The last key that exists, as such a column.
  mlir::Value lastColumn() { return toColumn(lastKey); }

  Device &device;
  tile::ItemRecordOp item;
  mlir::Value firstKey;
  int64_t rows, keys; ///< of a tile

private:
  mlir::Value queries[2];
  mlir::Value lastKey, firstColumn, listed;
  llvm::DenseMap<int64_t, mlir::Value> listedKeys; ///< by column
  mlir::Value listedKey(size_t i);
};

/// Evaluates the region of a `tile.mask` for the registers of a fragment. What is affine in the key
/// becomes two bounds on the column for each row; what is the same for a cell of keys is evaluated
/// once a cell.
class MaskConditions {
public:
  MaskConditions(FragmentPositions &positions, mlir::Region &region)
      : positions(positions), device(positions.device), region(region) {}

  /// Whether register `i` is kept and its key exists.
  llvm::FailureOr<mlir::Value> keeps(size_t i);

private:
  /// Columns [lower, upper] of a row.
  struct Bounds {
    mlir::Value lower, upper; ///< null: no bound
  };
  /// The bounds that a set puts on the columns of row `row`, unless it is not affine in the key.
  std::optional<Bounds> bounds(tile::ContainsOp op, size_t row);
  /// The bounds that the whole mask puts on the columns of row `row`, where it is a conjunction of
  /// such bounds and of literals that hold for all keys of a tile or for none.
  llvm::FailureOr<std::optional<Bounds>> wholeMask(size_t row);
  std::optional<Bounds> boundsOfValue(mlir::Value value, size_t row, bool &failed);
  Bounds intersect(const Bounds &a, const Bounds &b);
  mlir::Value contains(const Bounds &bounds, size_t i);
  bool holdsWholeTiles(tile::LiteralOp literal) const;
  llvm::FailureOr<mlir::Value> literal(tile::LiteralValueOp op, size_t i);

  FragmentPositions &positions;
  Device &device;
  mlir::Region &region;
  llvm::DenseMap<std::pair<mlir::Operation *, size_t>, std::optional<Bounds>> boundsOf;
  /// Of the rows that were asked for.
  std::optional<std::optional<Bounds>> whole[2];
  llvm::DenseMap<std::pair<mlir::Operation *, std::pair<size_t, int64_t>>, mlir::Value> literals;
};

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_MASKCONDITIONS_H
