#ifndef SKIM_PASSES_ALGEBRA_ELIMINATION_H
#define SKIM_PASSES_ALGEBRA_ELIMINATION_H

#include "passes/algebra/Conjunction.h"
#include "passes/algebra/LinearForm.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace skim {

/// Which variables of a space are to go.
struct EliminationProblem {
  /// The space receives the divisions that the results need.
  LinearSpace &space;
  /// Variables that exist in the integers; all others are given. No division of the space mentions
  /// one of them.
  llvm::SmallBitVector eliminated;
  /// A given variable that divisions of the results avoid where there is a choice.
  unsigned avoidedInDivisions;
  unsigned largestCount;
};

/// Writes "there are integers for the eliminated variables such that the conjunction holds" as
/// conjunctions without them, of which at least one holds. Exact over the integers.
///
/// Equalities are solved by Euclid's algorithm. A variable x between a * x >= l and b * x <= u goes
/// by Fourier-Motzkin where that is exact (a or b is 1, or the gap always holds a multiple), else
/// by ceildiv(l, a) <= u floordiv b where one of the divisions is over given variables, else by
/// dark shadow and splinters (W. Pugh, The Omega test, 1991). Returns nothing when that takes more
/// than `largestCount` conjunctions.
std::optional<Disjuncts> eliminateVariables(EliminationProblem problem, Conjunction conjunction);

} // namespace skim

#endif // SKIM_PASSES_ALGEBRA_ELIMINATION_H
