#ifndef SKIM_PASSES_ALGEBRA_DISJUNCTIVE_FORM_H
#define SKIM_PASSES_ALGEBRA_DISJUNCTIVE_FORM_H

#include "passes/algebra/Conjunction.h"
#include "passes/algebra/Formula.h"
#include "passes/algebra/LinearForm.h"

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

namespace skim {

/// Variables of a space of positions: q, k, then the symbols, then divisions.
constexpr unsigned kQueryPosition = 0;
constexpr unsigned kKeyPosition = 1;
constexpr unsigned kFirstSymbol = 2;

/// Writes a formula as conjunctions of which at least one holds, exactly, wherever `context` holds.
/// Divisions of the atoms become variables of `space`. Conjunctions that are empty within
/// `context`, or lie within another, are left out.
///
/// Fails with a diagnostic when a part of the formula has more than twice `largestCount`, or when
/// finding them takes too many comparisons.
mlir::FailureOr<Disjuncts> computeDisjunctiveForm(mlir::Location location, const Formula &formula,
                                                  LinearSpace &space, const Conjunction &context,
                                                  unsigned largestCount);

} // namespace skim

#endif // SKIM_PASSES_ALGEBRA_DISJUNCTIVE_FORM_H
