// The cells that a reduction writes, and their accumulators: of a panel or of a workspace buffer.
#ifndef SKIM_CODEGEN_CPU_REDUCTIONCELLS_H
#define SKIM_CODEGEN_CPU_REDUCTIONCELLS_H

#include "codegen/cpu/Accumulator.h"
#include "codegen/cpu/Target.h"

namespace skim::cpu {

/// Cells (row, column, element): `row` is a row cell, floor(position / A), or 0 without a query
/// axis; `column` a key cell, an element of a panel, or a distance counted from the first.
class ReductionCells {
public:
  static llvm::FailureOr<ReductionCells> of(tile::ReducePanelOp op, Code &code);
  static llvm::FailureOr<ReductionCells> of(tile::ReduceCellsOp op, Code &code);

  int64_t queryCell, keyCell; ///< positions of a cell; 0: no such axis
  bool diagonal = false, noncausal = false;
  int64_t elements = 1;    ///< of a cell
  bool ofPanel = false;    ///< rows lie side by side, in whole vectors
  bool ofElements = false; ///< columns are elements
  tile::ItemRecordOp item;
  mlir::Type element; ///< f32 or f64

  /// The cells that belong to the item.
  mlir::Value rowsBegin, rowsEnd, columnsBegin, columnsEnd;
  /// The row cell that lies first in a panel.
  mlir::Value tileBegin;
  /// The distance of column 0.
  mlir::Value firstDistance;

  mlir::Value row(Code &code, mlir::Value position) const;
  mlir::Value column(Code &code, mlir::Value position, mlir::Value key) const;

  /// Addresses of a cell's result and of its value in one plane of the accumulators.
  mlir::Value result(Code &code, mlir::Value row, mlir::Value column, mlir::Value element) const;
  mlir::Value accumulator(Code &code, unsigned plane, mlir::Value row, mlir::Value column,
                          mlir::Value element) const;

  /// Calls `body(row, column, element, lanes)` so that every cell of the item is in one call: with
  /// consecutive elements of columns or, in a panel, consecutive rows. A panel's calls may go
  /// beyond the rows that exist.
  void forEachRun(Code &code, const Target &target,
                  llvm::function_ref<void(mlir::Value row, mlir::Value column, mlir::Value element,
                                          unsigned lanes)>
                      body) const;

private:
  /// Elements from `origin`, of `bytes` each.
  struct Array {
    mlir::Value origin;
    mlir::Value rowStride, columnStride, planeStride;
    int64_t bytes = 8;
  };
  mlir::Value address(Code &code, const Array &array, unsigned plane, mlir::Value row,
                      mlir::Value column, mlir::Value element) const;

  Array results, accumulators;
};

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_REDUCTIONCELLS_H
