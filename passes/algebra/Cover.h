#ifndef SKIM_PASSES_ALGEBRA_COVER_H
#define SKIM_PASSES_ALGEBRA_COVER_H

#include "passes/algebra/Formula.h"
#include "passes/algebra/TileVisits.h"

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

#include <cstdint>

namespace skim {

/// Rounds a set up to whole blocks: the result holds at (q, k) when the block (q / queryBlock, k /
/// keyBlock) has a pair of `set`. Each query row decides for itself where `queryBlock` is 0. Only
/// pairs of existing rows and existing keys count, so intersect `set` with causality before the
/// call where it applies.
///
/// The result is exact, and affine again. Fails with a diagnostic at `location` when `set` has
/// literals, when it needs more than four times `largestCount` disjuncts, or when it cannot be
/// projected exactly.
mlir::FailureOr<Formula> coverFormula(mlir::Location location, const Formula &set,
                                      int64_t queryBlock, int64_t keyBlock,
                                      const FormulaSymbols &symbols, unsigned largestCount = 64);

} // namespace skim

#endif // SKIM_PASSES_ALGEBRA_COVER_H
