// How verifiers report a type rule. For the operation sources of this folder.
#ifndef SKIM_DIALECT_SKIM_VERIFY_H
#define SKIM_DIALECT_SKIM_VERIFY_H

#include "dialect/Skim/TypeRules.h"

#include "mlir/IR/Operation.h"

namespace skim::ir {

inline mlir::LogicalResult report(mlir::Operation *op, const RuleViolation &why) {
  mlir::InFlightDiagnostic diagnostic = op->emitOpError(why.message);
  if (!why.suggestion.empty())
    diagnostic.attachNote() << why.suggestion;
  return diagnostic;
}

inline mlir::LogicalResult expectType(mlir::Operation *op, mlir::Type actual, mlir::Type expected) {
  if (actual == expected)
    return mlir::success();
  return op->emitOpError("expected result type ") << expected << " but got " << actual;
}

/// The only result of `op` must have the type that a rule inferred.
template <typename TypeT>
mlir::LogicalResult expectResult(mlir::Operation *op, mlir::FailureOr<TypeT> inferred,
                                 const RuleViolation &why) {
  if (failed(inferred))
    return report(op, why);
  return expectType(op, op->getResult(0).getType(), *inferred);
}

/// As `expectResult`, where a result that is declared finer is right as well.
inline mlir::LogicalResult expectSetOrFiner(mlir::Operation *op, SetType inferred) {
  auto actual = mlir::cast<SetType>(op->getResult(0).getType());
  if (refineAxes(actual.getAxes(), inferred.getAxes()) == actual.getAxes())
    return mlir::success();
  return op->emitOpError("expected result type ")
         << inferred << ", or a finer one, but got " << actual;
}

} // namespace skim::ir

#endif // SKIM_DIALECT_SKIM_VERIFY_H
