#include "passes/algebra/TileVisits.h"

#include "passes/algebra/DisjunctiveForm.h"
#include "passes/algebra/TileProjection.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using llvm::FailureOr;
using llvm::SmallVector;
using mlir::AffineExpr;
using mlir::AffineMap;
using mlir::IntegerSet;
using mlir::MLIRContext;

namespace skim {
namespace {

/// One side of the relation, touched or hidden.
class IntervalBuilder {
public:
  IntervalBuilder(mlir::Location location, const FormulaSymbols &symbols, TileShape shape,
                  unsigned largestCount)
      : location(location), symbols(symbols), shape(shape), largestCount(largestCount),
        positions(kFirstSymbol + symbols.count) {}

  FailureOr<SmallVector<TileInterval>> build(const Formula &formula);

private:
  Conjunction existingPairs() const;
  Conjunction existingTiles(const TileProjection &projection) const;
  FailureOr<TileInterval> makeInterval(const LinearSpace &space, const Conjunction &tiles) const;

  mlir::Location location;
  FormulaSymbols symbols;
  TileShape shape;
  unsigned largestCount;
  LinearSpace positions;
};

} // namespace

/// base <= q < kvLength, and 0 <= k up to the end of the last key tile.
Conjunction IntervalBuilder::existingPairs() const {
  LinearForm query = LinearForm::variable(kQueryPosition);
  LinearForm key = LinearForm::variable(kKeyPosition);
  LinearForm base = LinearForm::variable(kFirstSymbol + symbols.base);
  LinearForm length = LinearForm::variable(kFirstSymbol + symbols.kvLength);
  Conjunction pairs;
  pairs.inequalities = {query - base, length - query + -1, key, length - key + (shape.keys - 2)};
  return pairs;
}

/// 0 <= u < ceil(kvLength / keys), and the rows again: they join the tiles to `base`.
Conjunction IntervalBuilder::existingTiles(const TileProjection &projection) const {
  LinearForm keyTile = LinearForm::variable(kKeyTile);
  LinearForm length = LinearForm::variable(kFirstSymbol + symbols.kvLength);
  Conjunction tiles;
  tiles.inequalities = {keyTile, length - keyTile * Integer(shape.keys) + -1};
  for (const LinearForm &form : existingPairs().inequalities)
    tiles.inequalities.push_back(projection.map(form));
  return tiles;
}

/// Sorts the constraints on tiles into bounds, guards and guards of single tiles.
FailureOr<TileInterval> IntervalBuilder::makeInterval(const LinearSpace &space,
                                                      const Conjunction &tiles) const {
  auto dividesKeyTile = [&](const LinearForm &form) {
    return form.anyVariable([&](unsigned variable) {
      return variable != kKeyTile && space.dependsOn(variable, kKeyTile);
    });
  };
  // Conditions on single tiles must not be what makes a bound redundant.
  Conjunction perTile;
  Conjunction perInterval;
  for (const LinearForm &form : tiles.inequalities)
    (dividesKeyTile(form) ? perTile : perInterval).inequalities.push_back(form);
  for (const LinearForm &form : tiles.equalities)
    (dividesKeyTile(form) ? perTile : perInterval).equalities.push_back(form);
  (void)removeRedundant(space, perInterval, Conjunction());
  (void)removeRedundant(space, perTile, perInterval);

  MLIRContext *context = location.getContext();
  ExpressionWriter writer(space, mlir::getAffineDimExpr(0, context),
                          mlir::getAffineDimExpr(1, context));
  for (const Conjunction *part : {&perTile, &perInterval}) {
    auto tooLarge = [&](const LinearForm &form) { return !writer.fits(form); };
    if (llvm::any_of(part->inequalities, tooLarge) || llvm::any_of(part->equalities, tooLarge)) {
      mlir::emitError(location) << "the set's constants are too large: expected tile bounds that "
                                   "fit 62 bits";
      return mlir::failure();
    }
  }

  SmallVector<AffineExpr> lowers;
  SmallVector<AffineExpr> uppers;
  SmallVector<AffineExpr> guards;
  SmallVector<bool> guardIsEquality;
  auto addBound = [&](const LinearForm &form) {
    Integer coefficient = form.getCoefficient(kKeyTile);
    LinearForm rest = form;
    rest.setCoefficient(kKeyTile, Integer(0));
    if (coefficient > 0)
      lowers.push_back(writer.write(rest * Integer(-1)).ceilDiv(int64_t(coefficient)));
    else
      uppers.push_back(writer.write(rest).floorDiv(int64_t(-coefficient)) + 1);
  };
  for (const LinearForm &form : perInterval.inequalities) {
    if (form.getCoefficient(kKeyTile) != 0) {
      addBound(form);
      continue;
    }
    guards.push_back(writer.write(form));
    guardIsEquality.push_back(false);
  }
  for (const LinearForm &form : perInterval.equalities) {
    if (form.getCoefficient(kKeyTile) != 0) {
      addBound(form);
      addBound(form * Integer(-1));
      continue;
    }
    guards.push_back(writer.write(form));
    guardIsEquality.push_back(true);
  }
  if (lowers.empty())
    lowers.push_back(mlir::getAffineConstantExpr(0, context));
  if (uppers.empty())
    uppers.push_back(mlir::getAffineSymbolExpr(symbols.kvLength, context).ceilDiv(shape.keys));

  SmallVector<AffineExpr> tileGuards;
  SmallVector<bool> tileGuardIsEquality;
  for (const LinearForm &form : perTile.inequalities)
    tileGuards.push_back(writer.write(form));
  tileGuardIsEquality.assign(tileGuards.size(), false);
  for (const LinearForm &form : perTile.equalities)
    tileGuards.push_back(writer.write(form));
  tileGuardIsEquality.resize(tileGuards.size(), true);

  auto makeSet = [&](unsigned dims, SmallVector<AffineExpr> &constraints,
                     SmallVector<bool> &isEquality) {
    if (constraints.empty()) {
      constraints.push_back(mlir::getAffineConstantExpr(0, context));
      isEquality.push_back(true);
    }
    return IntegerSet::get(dims, symbols.count, constraints, isEquality);
  };
  return TileInterval{.lower = AffineMap::get(1, symbols.count, lowers, context),
                      .upper = AffineMap::get(1, symbols.count, uppers, context),
                      .guard = makeSet(1, guards, guardIsEquality),
                      .tileGuard = makeSet(2, tileGuards, tileGuardIsEquality),
                      .literals = tiles.literals};
}

FailureOr<SmallVector<TileInterval>> IntervalBuilder::build(const Formula &formula) {
  auto pairs = computeDisjunctiveForm(location, formula, positions, existingPairs(), largestCount);
  if (failed(pairs))
    return mlir::failure();

  TileProjection projection(positions, symbols, shape, largestCount);
  Conjunction domain = existingTiles(projection);
  Disjuncts tiles;
  for (const Conjunction &conjunction : *pairs) {
    if (failed(projection.project(conjunction, domain, tiles))) {
      mlir::emitError(location) << "the set cannot be projected on tiles exactly: expected at most "
                                << largestCount << " conjunctions of moderate size but got more";
      return mlir::failure();
    }
  }
  for (Conjunction &conjunction : tiles)
    projection.openKeyTileDivisions(conjunction);
  llvm::erase_if(tiles, [&](Conjunction &conjunction) {
    return !removeRedundant(projection.getSpace(), conjunction, Conjunction());
  });
  removeContained(projection.getSpace(), tiles, Conjunction());
  if (tiles.size() > largestCount) {
    mlir::emitError(location) << "the set has too many disjoint parts: expected at most "
                              << largestCount << " intervals of key tiles but got " << tiles.size();
    return mlir::failure();
  }

  SmallVector<TileInterval> intervals;
  for (const Conjunction &conjunction : tiles) {
    FailureOr<TileInterval> interval = makeInterval(projection.getSpace(), conjunction);
    if (failed(interval))
      return mlir::failure();
    intervals.push_back(std::move(*interval));
  }
  return intervals;
}

bool holdsAlways(IntegerSet set) {
  if (set.getNumConstraints() != 1 || !set.isEq(0))
    return false;
  auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(set.getConstraint(0));
  return constant && constant.getValue() == 0;
}

/// A key exists when 0 <= k < kvLength.
static Formula existingKey(MLIRContext *context, const FormulaSymbols &symbols) {
  AffineExpr key = mlir::getAffineDimExpr(kKeyPosition, context);
  AffineExpr length = mlir::getAffineSymbolExpr(symbols.kvLength, context);
  return Formula::affine(
      IntegerSet::get(2, symbols.count, {key, length - key - 1}, {false, false}));
}

FailureOr<TileVisits> computeTileVisits(mlir::Location location, const Formula &visible,
                                        TileShape shape, const FormulaSymbols &symbols,
                                        unsigned largestCount) {
  if (shape.rows <= 0 || shape.keys <= 0) {
    mlir::emitError(location) << "expected tiles of at least 1 x 1 positions but got " << shape.rows
                              << " x " << shape.keys;
    return mlir::failure();
  }
  Formula seen = Formula::conjunction({visible, existingKey(location.getContext(), symbols)});
  auto build = [&](const Formula &side) {
    return IntervalBuilder(location, symbols, shape, largestCount).build(side);
  };
  auto touched = build(seen);
  if (failed(touched))
    return mlir::failure();
  auto hidden = build(Formula::negation(seen));
  if (failed(hidden))
    return mlir::failure();
  return TileVisits{.touched = std::move(*touched), .hidden = std::move(*hidden)};
}

static void printInterval(const TileInterval &interval, llvm::raw_ostream &stream) {
  stream << "lower affine_map<" << interval.lower << "> upper affine_map<" << interval.upper << '>';
  auto printCondition = [&](llvm::StringRef name, IntegerSet set) {
    if (holdsAlways(set))
      return;
    stream << ' ' << name << " affine_set<";
    set.print(stream);
    stream << '>';
  };
  printCondition("guard", interval.guard);
  printCondition("tile_guard", interval.tileGuard);
  if (!interval.literals.empty()) {
    stream << " literals(";
    llvm::interleaveComma(interval.literals, stream, [&](const LiteralRef &literal) {
      stream << (literal.negated ? "not " : "") << literal.id;
    });
    stream << ')';
  }
  stream << '\n';
}

void TileVisits::print(llvm::raw_ostream &stream) const {
  for (const TileInterval &interval : touched) {
    stream << "touched ";
    printInterval(interval, stream);
  }
  for (const TileInterval &interval : hidden) {
    stream << "hidden ";
    printInterval(interval, stream);
  }
}

} // namespace skim
