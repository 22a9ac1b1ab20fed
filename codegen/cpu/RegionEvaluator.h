// Evaluation of scalar regions on one position or on a vector of rows at once.
#ifndef SKIM_CODEGEN_CPU_REGIONEVALUATOR_H
#define SKIM_CODEGEN_CPU_REGIONEVALUATOR_H

#include "codegen/cpu/Code.h"
#include "codegen/cpu/Target.h"

#include "mlir/IR/IRMapping.h"

namespace skim::cpu {

/// Query positions of consecutive rows. Positions beyond the existing rows repeat the nearest
/// existing one, so that every lane may be evaluated.
struct RowLanes {
  mlir::Value positions; ///< vector of index
  mlir::Value lead;      ///< the first lane's position
  mlir::Value start;     ///< what `lead` would be if all rows existed
  bool aligned = false;  ///< `start` is a multiple of the number of lanes
};

/// The rows of `item` from `row` (counted within its query tile) on; `row` is a multiple of
/// `lanes`.
RowLanes makeRowLanes(Code &code, tile::ItemRecordOp item, mlir::Value row, unsigned lanes);

/// Consecutive elements of a vector, and addresses of vectors that are known before its elements
/// are looped over.
struct ElementLanes {
  mlir::Value elements; ///< vector of index
  mlir::Value lead;     ///< the first lane's element
  /// By the operation that loads.
  llvm::DenseMap<mlir::Operation *, mlir::Value> addresses;
};

class RegionEvaluator {
public:
  /// Evaluates on `lanes` rows, or on single positions when it is 1. Operands are read as `target`
  /// does, and not at all without one.
  RegionEvaluator(Code &code, unsigned lanes, const Target *target = nullptr)
      : code(code), lanes(lanes), target(target) {}
  /// Tells that the lanes of `rows.positions` are consecutive positions.
  void setRows(const RowLanes &value) { rows = value; }
  /// Tells that the lanes of `value.elements` are consecutive elements.
  void setElements(const ElementLanes &value) { elements = value; }

  /// Evaluates `region` with its arguments bound to `arguments`, each a scalar or a vector.
  /// The results are scalars where they depend on scalars alone.
  llvm::LogicalResult evaluate(mlir::Region &region, mlir::ValueRange arguments,
                               Code::Values &results);
  /// Evaluates one scalar operation whose operands are scalars in place.
  llvm::FailureOr<mlir::Value> evaluate(mlir::Operation &op);

  /// The vector that repeats a scalar; a vector as it is.
  mlir::Value toLanes(mlir::Value value);

private:
  mlir::Value lookup(mlir::Value value) { return mapping.lookupOrDefault(value); }
  /// Brings operands to one form: all scalars, or all vectors.
  Code::Values unify(mlir::ValueRange values);

  /// The item that `user` names, which a reduction over heads may have bound.
  llvm::FailureOr<tile::ItemRecordOp> itemOf(mlir::Operation &user, mlir::Value item);

  mlir::Value contains(tile::ContainsOp op);
  llvm::FailureOr<mlir::Value> loadCell(tile::LoadCellOp op);
  llvm::FailureOr<mlir::Value> panelValue(tile::PanelValueOp op);
  llvm::FailureOr<mlir::Value> loadElement(tile::LoadElementOp op);
  llvm::FailureOr<mlir::Value> reduceElements(tile::ReduceElementsOp op);
  llvm::FailureOr<mlir::Value> reducePositions(tile::ReducePositionsOp op);
  llvm::FailureOr<mlir::Value> elementwise(mlir::Operation &op);

  Code &code;
  unsigned lanes;
  const Target *target;
  RowLanes rows;
  ElementLanes elements;
  mlir::IRMapping mapping;
};

/// An affine expression over scalars or vectors of index.
mlir::Value evaluateAffine(Code &code, mlir::AffineExpr expression, mlir::ValueRange dims,
                           mlir::ValueRange symbols, unsigned lanes);
/// Whether all constraints of a set hold.
mlir::Value evaluateSet(Code &code, mlir::IntegerSet set, mlir::ValueRange dims,
                        mlir::ValueRange symbols, unsigned lanes);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_REGIONEVALUATOR_H
