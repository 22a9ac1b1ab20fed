// Values that are the same for a whole work item, found by folding: lengths, parameters, and what
// is computed of them.
#ifndef SKIM_CODEGEN_REPORT_ITEMVALUES_H
#define SKIM_CODEGEN_REPORT_ITEMVALUES_H

#include "dialect/Tile/TileOps.h"
#include <skim/Report.h>

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace skim::report {

/// Positions or cells [begin, end).
struct Range {
  int64_t begin = 0, end = 0;

  int64_t size() const { return std::max<int64_t>(end - begin, 0); }
  /// How many blocks of `block` positions it touches; 1 where there is no such axis (0).
  int64_t blocks(int64_t block) const;
};

/// A work item, or the part of one that a loop runs over: its rows, its keys and its head.
struct Item {
  int64_t tile = 0;
  Range rows; ///< existing positions; all of the request without a query axis
  Range keys; ///< existing keys
  bool hasRows = false;
  int64_t head = 0; ///< query head
};

class ItemValues {
public:
  ItemValues(tile::PlanOp plan, const ReportOptions &options) : plan(plan), options(options) {}

  /// From now on `argument`, which stands for a work item in the program, is `item`.
  void bind(mlir::Value argument, const Item &item);
  /// The integer `value`; none where only the device knows it.
  std::optional<int64_t> integer(mlir::Value value);
  /// Whether the values of a program may differ from head to head.
  bool dependOnHead(tile::ProgramOp program);

private:
  mlir::Attribute find(mlir::Value value);
  mlir::Attribute compute(mlir::Operation *op, unsigned result);
  mlir::Attribute uniform(tile::UniformOp uniform);
  mlir::Attribute parameter(tile::ParameterOp parameter);
  llvm::ArrayRef<double> valuesOf(tile::PlanParameterOp parameter);
  tile::PlanParameterOp declarationOf(tile::ParameterOp parameter);

  tile::PlanOp plan;
  const ReportOptions &options;
  llvm::DenseMap<mlir::Value, Item> items;
  llvm::DenseMap<mlir::Value, mlir::Attribute> known;
};

} // namespace skim::report

#endif // SKIM_CODEGEN_REPORT_ITEMVALUES_H
