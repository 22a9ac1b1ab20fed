// Which elements of a thread's fragment a mask keeps.
#ifndef SKIM_CODEGEN_NVVM_MASKCONDITIONS_H
#define SKIM_CODEGEN_NVVM_MASKCONDITIONS_H

#include "codegen/nvvm/Device.h"
#include "codegen/nvvm/MaskShape.h"

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
  /// Position of the key in column `column`, to which the thread's first column is added, moved to
  /// the nearest existing one.
  mlir::Value keyOfThread(mlir::Value column);
  mlir::Value keyOfRegister(size_t i);
  /// Whether the key in such a column of a list exists.
  mlir::Value existsListed(mlir::Value column);
  /// The column of register i less the thread's first column.
  static int64_t columnOfRegister(size_t i) { return static_cast<int64_t>(8 * (i / 4) + i % 2); }

  /// Positions as columns less the thread's first column, in 32 bits.
  mlir::Value toColumn(mlir::Value key);
  /// Whether the keys are a list: then no key is a function of its column.
  bool areListed() const { return listed != nullptr; }
  /// Keys of the visit that exist.
  mlir::Value count() const { return existing; }
  /// The last key that exists, as such a column.
  mlir::Value lastColumn() { return toColumn(lastKey); }

  Device &device;
  tile::ItemRecordOp item;
  mlir::Value firstKey;
  int64_t rows, keys; ///< of a tile

private:
  mlir::Value queries[2];
  mlir::Value lastKey, firstColumn, listed, existing;
  mlir::Value listedKey(mlir::Value column);
};

/// Evaluates the region of a `tile.mask` for the registers of a fragment. What is affine in the key
/// becomes two bounds on the column for each row; what is the same for a cell of keys is evaluated
/// once a cell. Where something must be evaluated key by key, a loop does that, a few columns at a
/// time, and leaves a bit for each register: nothing of it is alive beside the scores.
class MaskConditions {
public:
  MaskConditions(FragmentPositions &positions, mlir::Region &region)
      : positions(positions), device(positions.device), region(region),
        shape(region, positions.keys, positions.areListed()) {}

  /// For each of `count` registers, whether it is kept and its key exists.
  llvm::FailureOr<cpu::Code::Values> keptRegisters(size_t count);
  /// The same as bits of words, register 0 first.
  llvm::FailureOr<cpu::Code::Values> keptWords(size_t count);

private:
  /// A column at which conditions are evaluated: `offset` in the fragment, or behind the column
  /// `start` that the loop has reached.
  struct Column {
    int64_t offset;
    mlir::Value start; ///< null: outside of the loop
    mlir::Value key;   ///< once something has asked for it
  };
  mlir::Value numberOf(const Column &column);
  mlir::Value keyOf(Column &column);
  llvm::FailureOr<mlir::Value> keeps(size_t row, Column &column);
  llvm::FailureOr<cpu::Code::Values> wordsInLoop(size_t count);
  /// Columns [lower, upper] of a row.
  struct Bounds {
    mlir::Value lower, upper; ///< null: no bound
  };
  Bounds bounds(tile::ContainsOp op, size_t row);
  /// Of a mask that is nothing but bounds.
  llvm::FailureOr<Bounds> boundsOfMask(mlir::Value value, size_t row);
  Bounds intersect(const Bounds &a, const Bounds &b);
  mlir::Value contains(const Bounds &bounds, const Column &column);
  llvm::FailureOr<mlir::Value> literal(tile::LiteralValueOp op, size_t row, Column &column);

  FragmentPositions &positions;
  Device &device;
  mlir::Region &region;
  MaskShape shape;
  llvm::DenseMap<std::pair<mlir::Operation *, size_t>, Bounds> boundsOf;
  llvm::DenseMap<std::pair<mlir::Operation *, std::pair<size_t, int64_t>>, mlir::Value> literals;
  mlir::Value lastColumn;
};

/// Registers whose bits one word holds.
constexpr size_t kWordBits = 32;
/// Bit i of `words` as a truth, for each i below `count`.
cpu::Code::Values unpackBits(Device &device, mlir::ValueRange words, size_t count);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_MASKCONDITIONS_H
