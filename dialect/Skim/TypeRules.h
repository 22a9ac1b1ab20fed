// The type rules of the language: from the types of operands, the type of the result, or why there
// is none. The verifiers of the operations and the pattern builder both ask here, so that each rule
// stands once.
//
// A function that can fail fills `why` and returns failure. The label above a check (`dot_c1`) is
// the constraint that the operation's documentation states.
#ifndef SKIM_DIALECT_SKIM_TYPERULES_H
#define SKIM_DIALECT_SKIM_TYPERULES_H

#include "dialect/Skim/SkimEnums.h"
#include "dialect/Skim/SkimTypes.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace skim::ir {

struct RuleViolation {
  std::string message;
  /// How to repair it in the words of the language; may be empty.
  std::string suggestion;
};

//===-- Axes ----------------------------------------------------------------------------------===//

/// The axes of what is computed cell by cell from both: axes meet when they are equal or one is
/// absent.
mlir::FailureOr<Axes> meetAxes(const Axes &lhs, const Axes &rhs, RuleViolation &why);

/// The coarsest cells on which both are constant. Always exists.
Axes refineAxes(const Axes &lhs, const Axes &rhs);

/// Sums of products with constants, and of quotients and remainders by positive constants.
bool isQuasiAffine(mlir::AffineExpr expr);
/// On what a quasi-affine expression of (q, k) and symbols depends, in its coarsest blocks; no head
/// axis.
Axes getAxes(mlir::AffineMap map);
Axes getAxes(mlir::IntegerSet set);

/// The head axis that covers all `types` (maps or sets).
HeadAxis getHeadAxis(mlir::TypeRange types);
/// The axes of a map or a set.
Axes getAxes(mlir::Type type);

//===-- Maps ----------------------------------------------------------------------------------===//

MapType getUniformType(mlir::MLIRContext *context, UniformKind kind);
MapType getOperandType(mlir::MLIRContext *context, OperandKind kind);
MapType getScoreType(mlir::MLIRContext *context);

mlir::FailureOr<MapType> inferLast(MapType input, MapType count, RuleViolation &why);
/// `scale` may be null.
mlir::FailureOr<MapType> inferDot(MapType lhs, MapType rhs, mlir::Type scale, RuleViolation &why);
/// `scale` may be null.
mlir::FailureOr<MapType> inferCast(CastKind kind, MapType input, mlir::Type scale,
                                   RuleViolation &why);
mlir::FailureOr<MapType> inferLinear(MapType input, MapType weight, RuleViolation &why);
/// `add`, `sub`, `mul`, `div`, `mod`, `min`, `max`.
mlir::FailureOr<MapType> inferBinary(MapType lhs, MapType rhs, RuleViolation &why);
mlir::FailureOr<MapType> inferSoftmax(MapType input, PositionAxis axis, RuleViolation &why);
/// `constantWidth` is the value of the width, when that is known.
mlir::FailureOr<MapType> inferSmooth(MapType input, MapType width,
                                     std::optional<int64_t> constantWidth, RuleViolation &why);
mlir::FailureOr<MapType> inferReduce(ReduceKind kind, MapType input, const Axes &result,
                                     RuleViolation &why);
mlir::FailureOr<MapType> inferWhere(MapType input, SetType set, RuleViolation &why);

//===-- Sets ----------------------------------------------------------------------------------===//

mlir::FailureOr<SetType> inferCompare(MapType lhs, MapType rhs, RuleViolation &why);
/// `top_k` and `top_p`; `amount` is the count or the mass.
mlir::FailureOr<SetType> inferSelection(MapType input, MapType amount, RuleViolation &why);
mlir::FailureOr<SetType> inferCover(SetType set, std::optional<int64_t> query, int64_t key,
                                    RuleViolation &why);
/// `and` and `or`.
mlir::FailureOr<SetType> inferCombination(llvm::ArrayRef<mlir::Type> sets, RuleViolation &why);
/// `otherwise` may be null.
mlir::FailureOr<SetType> inferMatch(MapType selector, llvm::ArrayRef<int64_t> labels,
                                    llvm::ArrayRef<mlir::Type> arms, mlir::Type otherwise,
                                    RuleViolation &why);
mlir::FailureOr<SetType> inferInputList(SetType set, RuleViolation &why);

//===-- Clauses -------------------------------------------------------------------------------===//

mlir::LogicalResult checkLogit(MapType value, RuleViolation &why);
mlir::LogicalResult checkCompact(SetType set, RuleViolation &why);

} // namespace skim::ir

#endif // SKIM_DIALECT_SKIM_TYPERULES_H
