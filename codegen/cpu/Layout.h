// How tiles lie in memory on the CPU: sizes are padded to whole register blocks.
#ifndef SKIM_CODEGEN_CPU_LAYOUT_H
#define SKIM_CODEGEN_CPU_LAYOUT_H

#include "codegen/cpu/Target.h"
#include "dialect/Tile/TileOps.h"

#include "llvm/Support/MathExtras.h"

namespace skim::cpu {

class Layout {
public:
  explicit Layout(const Target &target) : target(target) {}

  int64_t lanes() const { return target.lanes; }
  /// Rows of one register block of the score product: lanes run along rows.
  int64_t rowBlock() const {
    return static_cast<int64_t>(target.lanes) * target.vectorsInRegisters;
  }
  /// Both products work on whole blocks of rows, the softmax on whole vectors.
  int64_t paddedRows(int64_t rows) const {
    return llvm::alignTo(
        std::max(llvm::alignTo(rows, rowBlock()), llvm::alignTo(rows, target.rowsInRegisters)),
        target.lanes);
  }
  int64_t paddedKeys(int64_t keys) const { return llvm::alignTo(keys, target.keysInRegisters); }
  int64_t paddedColumns(int64_t columns) const { return llvm::alignTo(columns, target.lanes); }

  /// Queries are stored transposed: [head_dim][rows].
  mlir::MemRefType queries(tile::SharedType type) const {
    return f32(type.getContext(), {type.getColumns(), spread(paddedRows(type.getRows()))});
  }
  /// [keys][head_dim]
  mlir::MemRefType keys(tile::SharedType type) const {
    return f32(type.getContext(), {paddedKeys(type.getRows()), type.getColumns()});
  }
  /// [keys][value_dim]
  mlir::MemRefType values(tile::SharedType type) const {
    return f32(type.getContext(), {type.getRows(), spread(paddedColumns(type.getColumns()))});
  }
  /// Scores and probabilities are stored key by key: [keys][rows].
  mlir::MemRefType scores(tile::FragmentType type) const {
    return f32(type.getContext(),
               {paddedKeys(type.getColumns()), spread(paddedRows(type.getRows()))});
  }
  /// Accumulators [rows][value_dim], then maxima, sums and due scales, one a row each.
  mlir::MemRefType state(tile::StateType type) const {
    return f32(type.getContext(), {scales(type) + paddedRows(type.getRows())});
  }
  int64_t maxima(tile::StateType type) const {
    return paddedRows(type.getRows()) * paddedColumns(type.getColumns());
  }
  int64_t sums(tile::StateType type) const { return maxima(type) + paddedRows(type.getRows()); }
  int64_t scales(tile::StateType type) const { return sums(type) + paddedRows(type.getRows()); }

private:
  /// A register block walks down a few columns. At a distance of many cache lines in a power of
  /// two, the lines of all rows would fall into few sets of the first-level cache: one more line
  /// spreads them.
  static int64_t spread(int64_t columns) { return columns % 64 == 0 ? columns + 16 : columns; }

  static mlir::MemRefType f32(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape) {
    return mlir::MemRefType::get(shape, mlir::Float32Type::get(context));
  }

  const Target &target;
};

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_LAYOUT_H
