// Visits of a set's tiles, whatever it takes to find them.
#ifndef SKIM_PASSES_VISITS_H
#define SKIM_PASSES_VISITS_H

#include "passes/PatternFormula.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace skim {

/// A set as formula, and its tiles in closed form.
struct VisitedSet {
  /// The set as far as causality admits it: what the mask of a visit must test.
  Formula mask;
  TileVisits visits;
  /// The closed form of the set was too large: every pair that causality admits is tested.
  bool testsEveryPair = false;
};

/// Fails with a diagnostic when an operation has no formula. A set whose closed form is too large
/// becomes one literal, with a warning at `loc` that says why unless `warns` is false: who only
/// asks leaves the warning to who plans.
mlir::FailureOr<VisitedSet> visitSet(mlir::Location loc, PatternFormula &formulas, mlir::Value set,
                                     TileShape shape, bool warns = true);

/// Runs `action` with its errors and warnings unheard: whether it succeeded is all that counts. The
/// text of the first goes to `reason`, where that is not null.
bool succeedsQuietly(mlir::MLIRContext *context, llvm::function_ref<mlir::LogicalResult()> action,
                     std::string *reason = nullptr);

/// Warns that a set is not in closed form; `reason` becomes a note.
void warnOfFallback(mlir::Location loc, llvm::StringRef consequence, llvm::StringRef reason);

} // namespace skim

#endif // SKIM_PASSES_VISITS_H
