#include "passes/algebra/Cover.h"

#include "passes/algebra/DisjunctiveForm.h"
#include "passes/algebra/TileProjection.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <utility>

using llvm::FailureOr;
using llvm::SmallVector;
using mlir::AffineExpr;
using mlir::IntegerSet;

namespace skim {

/// base <= q < kvLength and 0 <= k < kvLength
static Conjunction existingPairs(const FormulaSymbols &symbols) {
  LinearForm query = LinearForm::variable(kQueryPosition);
  LinearForm key = LinearForm::variable(kKeyPosition);
  LinearForm base = LinearForm::variable(kFirstSymbol + symbols.base);
  LinearForm length = LinearForm::variable(kFirstSymbol + symbols.kvLength);
  Conjunction pairs;
  pairs.inequalities = {query - base, length - query + -1, key, length - key + -1};
  return pairs;
}

FailureOr<Formula> coverFormula(mlir::Location location, const Formula &set, int64_t queryBlock,
                                int64_t keyBlock, const FormulaSymbols &symbols,
                                unsigned largestCount) {
  if (queryBlock < 0 || keyBlock <= 0) {
    mlir::emitError(location) << "expected blocks of at least 1 x 1 positions but got "
                              << queryBlock << " x " << keyBlock;
    return mlir::failure();
  }
  if (set.hasLiterals()) {
    mlir::emitError(location) << "expected a set of positions and parameters to cover but got one "
                                 "that depends on inputs or scores";
    return mlir::failure();
  }
  LinearSpace positions(kFirstSymbol + symbols.count);
  Conjunction existing = existingPairs(symbols);
  auto pairs = computeDisjunctiveForm(location, set, positions, existing, largestCount);
  if (failed(pairs))
    return mlir::failure();

  // Rows that decide for themselves are tiles of one row.
  TileShape shape{.rows = std::max<int64_t>(queryBlock, 1), .keys = keyBlock};
  TileProjection projection(positions, symbols, shape, largestCount);
  Conjunction domain;
  for (const LinearForm &form : existing.inequalities)
    domain.inequalities.push_back(projection.map(form));
  Disjuncts blocks;
  for (const Conjunction &conjunction : *pairs) {
    size_t most = 4 * size_t(largestCount);
    if (failed(projection.project(conjunction, domain, blocks)) || blocks.size() > most) {
      mlir::emitError(location) << "the set cannot be covered exactly: expected at most " << most
                                << " conjunctions of moderate size but got more";
      return mlir::failure();
    }
  }
  removeContained(projection.getSpace(), blocks, Conjunction());

  mlir::MLIRContext *context = location.getContext();
  AffineExpr query = mlir::getAffineDimExpr(kQueryPosition, context);
  AffineExpr key = mlir::getAffineDimExpr(kKeyPosition, context);
  ExpressionWriter writer(projection.getSpace(), query.floorDiv(shape.rows),
                          key.floorDiv(keyBlock));
  SmallVector<Formula> disjuncts;
  for (const Conjunction &conjunction : blocks) {
    SmallVector<AffineExpr> constraints;
    SmallVector<bool> isEquality;
    auto fits = [&](const LinearForm &form) { return writer.fits(form); };
    if (!llvm::all_of(conjunction.inequalities, fits) ||
        !llvm::all_of(conjunction.equalities, fits)) {
      mlir::emitError(location)
          << "the set's constants are too large: expected block bounds that fit 62 bits";
      return mlir::failure();
    }
    for (const LinearForm &form : conjunction.inequalities)
      constraints.push_back(writer.write(form));
    isEquality.assign(constraints.size(), false);
    for (const LinearForm &form : conjunction.equalities)
      constraints.push_back(writer.write(form));
    isEquality.resize(constraints.size(), true);
    disjuncts.push_back(constraints.empty() ? Formula::getTrue()
                                            : Formula::affine(IntegerSet::get(
                                                  2, symbols.count, constraints, isEquality)));
  }
  return Formula::disjunction(disjuncts);
}

} // namespace skim
