// The loops in which one contribution is evaluated and taken into the cells of its reduction.
#ifndef SKIM_CODEGEN_CPU_CONTRIBUTIONLOWERING_H
#define SKIM_CODEGEN_CPU_CONTRIBUTIONLOWERING_H

#include "codegen/cpu/ReductionCells.h"
#include "codegen/cpu/RegionEvaluator.h"

namespace skim::cpu {

/// Sums take in values in ascending order of (query, key); where values come from scores, those of
/// one query cell and several keys may come key by key.
class ContributionLowering {
public:
  ContributionLowering(tile::ContributeOp op, const ReductionCells &cells,
                       std::optional<tile::Reduction> kind, bool causal, const Target &target);

  /// Whether the loops meet all values of a cell one after the other, so that nothing need be
  /// carried in memory.
  bool finishesCells() const { return way != Way::OneByOne && way != Way::Diagonals; }
  /// Whether loops that finish cells leave some as they are.
  bool leavesCells() const { return way == Way::Copies && causal; }

  /// Writes the loops in place of the operation. With `finishCells`, which needs `finishesCells()`,
  /// they write results; else, where there is a kind, accumulators.
  llvm::LogicalResult run(bool finishCells);

private:
  enum class Way {
    RowLanes,   ///< rows of their own cells, on vectors of rows
    AcrossRows, ///< vectors of rows that lie in one cell
    Diagonals,  ///< vectors of rows, each of its own distance from a key
    Copies,     ///< one value a cell, one by one
    OneByOne,
  };
  Way chooseWay();
  /// Whether a vector of rows lies in one query cell of the result.
  bool vectorsInOneCell();
  /// Whether several cells along keys go to one column.
  bool joinsKeys();
  bool readsScores();

  void rowLanes();
  void acrossRows();
  void diagonals();
  void oneByOne();

  /// The end of the keys that may contribute.
  mlir::Value keyLimit();
  /// Contributing cells [first, second) of a column, or of all.
  std::pair<mlir::Value, mlir::Value> cellsOf(mlir::Value column);
  /// The columns [first, second) to which anything contributes.
  std::pair<mlir::Value, mlir::Value> columns();
  mlir::Value keyOf(mlir::Value cell);

  mlir::Value evaluate(mlir::Value position, mlir::Value key, mlir::Value element, unsigned lanes,
                       const RowLanes *rows, const ElementLanes *elements);
  mlir::Value evaluateRows(mlir::Value row, mlir::Value cell);
  /// Undefined in the lanes of rows that do not exist.
  mlir::Value hideMissingRows(mlir::Value values, mlir::Value row);
  /// Stores a value a lane at consecutive row cells from `row` on, of which those of existing rows
  /// belong to the item; and loads them. Plane -1 stands for the results.
  void storeLanes(mlir::Value values, mlir::Value row, mlir::Value column, int plane);
  mlir::Value loadLanes(mlir::Value row, mlir::Value column, unsigned plane);
  void forEachExistingLane(mlir::Value row,
                           llvm::function_ref<void(mlir::Value lane, mlir::Value row)> body);
  void takeOne(mlir::Value row, mlir::Value column, mlir::Value element, mlir::Value value);
  mlir::Value undefined(unsigned lanes);

  tile::ContributeOp op;
  const ReductionCells &cells;
  std::optional<tile::Reduction> kind;
  bool causal;
  const Target &target;
  Code code;
  std::optional<Accumulator> accumulator;
  tile::ItemRecordOp item;
  int64_t queryCell, keyCell;
  Way way = Way::OneByOne;
  bool direct = false; ///< the loops write results
  llvm::LogicalResult evaluated = mlir::success();
};

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_CONTRIBUTIONLOWERING_H
