#include "passes/RestFormula.h"

#include "passes/algebra/Cover.h"

using llvm::SmallVector;
using mlir::AffineExpr;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;

namespace skim {
namespace {

/// The formula with `key` in place of the key position, in affine leaves; literals stay.
Formula replaceKey(const Formula &formula, AffineExpr key) {
  SmallVector<Formula> operands;
  switch (formula.getKind()) {
  case Formula::Kind::Affine: {
    mlir::IntegerSet set = formula.getSet();
    SmallVector<AffineExpr> symbols;
    for (unsigned i = 0; i != set.getNumSymbols(); ++i)
      symbols.push_back(getAffineSymbolExpr(i, set.getContext()));
    return Formula::affine(set.replaceDimsAndSymbols({getAffineDimExpr(0, set.getContext()), key},
                                                     symbols, 2, set.getNumSymbols()));
  }
  case Formula::Kind::And:
  case Formula::Kind::Or:
    for (const Formula &operand : formula.getOperands())
      operands.push_back(replaceKey(operand, key));
    return formula.getKind() == Formula::Kind::And ? Formula::conjunction(operands)
                                                   : Formula::disjunction(operands);
  case Formula::Kind::Not:
    return Formula::negation(replaceKey(formula.getOperands().front(), key));
  case Formula::Kind::True:
  case Formula::Kind::False:
  case Formula::Kind::Literal:
  case Formula::Kind::Choice: // A cover of affine sets holds none.
    return formula;
  }
  return formula;
}

} // namespace

FailureOr<Formula> restEntries(PatternFormula &formulas, ir::RestMeanOp rest, mlir::Value kept) {
  int64_t rows = rest.getQuery(), keys = rest.getKey();
  AffineExpr q = formulas.query(), block = formulas.key();
  AffineExpr base = formulas.symbol(PatternFormula::kBase);
  AffineExpr end = formulas.symbol(PatternFormula::kKvLength);

  FailureOr<Formula> covered = failure();
  if (auto slot = rest->getAttrOfType<mlir::IntegerAttr>(kCoveredAttr)) {
    PatternLiteral literal;
    literal.kind = PatternLiteral::Kind::Buffer;
    literal.slot = slot.getInt();
    literal.headsOf = kept;
    literal.queryCell = rows;
    literal.keyCell = 1;
    covered = Formula::literal(formulas.addLiteral(std::move(literal)));
  } else {
    FailureOr<Formula> set = formulas.convert(kept);
    if (failed(set))
      return failure();
    covered = coverFormula(rest.getLoc(), formulas.causal(*set), rows, keys, formulas.symbols());
    if (failed(covered))
      return failure();
    covered = replaceKey(*covered, block * keys);
  }

  SmallVector<Formula> conditions = {Formula::negation(*covered)};
  if (!formulas.isNoncausal()) {
    // The first row of the tile sees the last key of the block.
    SmallVector<Formula> seen;
    for (AffineExpr firstRow : {q.floorDiv(rows) * rows, base})
      for (AffineExpr lastKey : {block * keys + keys - 1, end - 1})
        seen.push_back(formulas.atLeastZero({firstRow - lastKey}));
    conditions.push_back(Formula::disjunction(seen));
  }
  return Formula::conjunction(conditions);
}

FailureOr<TileVisits> restVisits(PatternFormula &formulas, ir::RestMeanOp rest,
                                 const Formula &entries, TileShape shape) {
  AffineExpr q = formulas.query(), block = formulas.key();
  AffineExpr end = formulas.symbol(PatternFormula::kKvLength);
  Formula exists =
      formulas.atLeastZero({q - formulas.symbol(PatternFormula::kBase), end - 1 - q, block,
                            end - 1 - block * static_cast<int64_t>(rest.getKey())});
  return computeTileVisits(rest.getLoc(), Formula::conjunction({entries, exists}), shape,
                           formulas.symbols());
}

} // namespace skim
