#include "passes/PatternFormula.h"

#include "dialect/Skim/IndexBounds.h"
#include "dialect/Skim/SkimOps.h"
#include "passes/MapAnalysis.h"
#include "passes/ScalarEmitter.h"
#include "passes/algebra/Cover.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"

using llvm::SmallVector;
using mlir::AffineExpr;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::Value;

namespace skim {

/// Closed forms are exact while symbols keep within kLargestSymbol.
static bool hasClosedForm(ir::AffineSetOp set) {
  ir::IndexBounds bounds;
  return llvm::all_of(set.getSymbols(),
                      [&](Value symbol) { return bounds.of(symbol) <= kLargestSymbol; });
}

PatternFormula::PatternFormula(Value root, bool noncausal)
    : context(root.getContext()), noncausal(noncausal) {
  llvm::DenseMap<Value, bool> seen;
  collectSymbols(root, seen);
}

void PatternFormula::collectSymbols(Value set, llvm::DenseMap<Value, bool> &seen) {
  if (!seen.try_emplace(set, true).second || !set.getDefiningOp())
    return;
  if (auto affine = set.getDefiningOp<ir::AffineSetOp>()) {
    for (Value operand : affine.getSymbols())
      symbolFor(operand);
    return;
  }
  // Maps and what they compare stay behind literals.
  for (Value operand : set.getDefiningOp()->getOperands())
    if (llvm::isa<ir::SetType>(operand.getType()))
      collectSymbols(operand, seen);
}

AffineExpr PatternFormula::query() const { return getAffineDimExpr(0, context); }
AffineExpr PatternFormula::key() const { return getAffineDimExpr(1, context); }
AffineExpr PatternFormula::symbol(unsigned number) const {
  return getAffineSymbolExpr(number, context);
}

AffineExpr PatternFormula::symbolFor(Value map) {
  if (auto known = symbolOf.find(map); known != symbolOf.end())
    return known->second;
  AffineExpr expr;
  if (auto uniform = map.getDefiningOp<ir::UniformOp>()) {
    if (uniform.getKind() == ir::UniformKind::KeyLength)
      expr = symbol(kKvLength);
    else if (uniform.getKind() == ir::UniformKind::QueryLength)
      expr = symbol(kKvLength) - symbol(kBase);
  }
  if (!expr) {
    expr = symbol(2 + sources.size());
    sources.push_back(map);
  }
  symbolOf[map] = expr;
  return expr;
}

FailureOr<Formula> PatternFormula::convert(Value set) {
  if (auto known = formulaOf.find(set); known != formulaOf.end())
    return known->second;
  FailureOr<Formula> formula = convertUncached(set);
  if (succeeded(formula))
    formulaOf.try_emplace(set, *formula);
  return formula;
}

FailureOr<Formula> PatternFormula::convertUncached(Value set) {
  mlir::Operation *op = set.getDefiningOp();
  if (isPanelSet(op))
    return literalFor(set);
  if (llvm::isa<ir::AffineSetOp>(op))
    return convertAffineSet(op);
  if (llvm::isa<ir::AndOp, ir::OrOp>(op)) {
    SmallVector<Formula> formulas;
    for (Value operand : op->getOperands()) {
      FailureOr<Formula> formula = convert(operand);
      if (failed(formula))
        return failure();
      formulas.push_back(*formula);
    }
    return llvm::isa<ir::AndOp>(op) ? Formula::conjunction(formulas)
                                    : Formula::disjunction(formulas);
  }
  if (auto complement = llvm::dyn_cast<ir::NotOp>(op)) {
    FailureOr<Formula> formula = convert(complement.getSet());
    if (failed(formula))
      return failure();
    return Formula::negation(*formula);
  }
  if (llvm::isa<ir::MatchOp>(op))
    return convertMatch(op);
  if (llvm::isa<ir::CoverOp>(op))
    return convertCover(op);
  if (std::optional<bool> constant = ir::getConstantSet(set))
    return *constant ? Formula::getTrue() : Formula::getFalse();
  if (llvm::isa<ir::InputListOp, ir::TopKOp, ir::TopPOp>(op)) {
    mlir::emitError(set.getLoc()) << "expected '" << op->getName()
                                  << "' to be planned as a kernel of its own before";
    return failure();
  }
  return literalFor(set);
}

Formula PatternFormula::convertAffineSet(mlir::Operation *op) {
  auto set = llvm::cast<ir::AffineSetOp>(op);
  if (!hasClosedForm(set))
    return literalFor(set);
  SmallVector<AffineExpr> replacements;
  SmallVector<Formula> parts;
  for (Value operand : set.getSymbols()) {
    replacements.push_back(symbolFor(operand));
    if (!mayBeUndefined(operand))
      continue;
    PatternLiteral defined;
    defined.kind = PatternLiteral::Kind::Defined;
    defined.source = operand;
    parts.push_back(Formula::literal(addLiteral(std::move(defined))));
  }
  parts.push_back(Formula::affine(
      set.getSet().replaceDimsAndSymbols({query(), key()}, replacements, 2, symbols().count)));
  return Formula::conjunction(parts);
}

Formula PatternFormula::literalFor(Value set) {
  ir::Axes axes = llvm::cast<ir::SetType>(set.getType()).getAxes();
  PatternLiteral literal;
  literal.source = set;
  literal.queryCell = axes.diagonal ? 1 : axes.query;
  literal.keyCell = axes.diagonal ? 1 : axes.key;
  return Formula::literal(addLiteral(std::move(literal)));
}

unsigned PatternFormula::addLiteral(PatternLiteral literal) {
  literalList.push_back(std::move(literal));
  return literalList.size() - 1;
}

FailureOr<Formula> PatternFormula::convertMatch(mlir::Operation *op) {
  auto match = llvm::cast<ir::MatchOp>(op);
  SmallVector<Formula::Case> cases;
  PatternLiteral unlisted;
  unlisted.kind = PatternLiteral::Kind::Unlisted;
  unlisted.source = match.getSelector();
  for (auto [label, arm] : llvm::zip_equal(match.getLabels(), match.getArms())) {
    FailureOr<Formula> formula = convert(arm);
    if (failed(formula))
      return failure();
    PatternLiteral equals;
    equals.kind = PatternLiteral::Kind::Equals;
    equals.source = match.getSelector();
    equals.label = label;
    cases.emplace_back(addLiteral(std::move(equals)), *formula);
    unlisted.labels.push_back(label);
  }
  Formula otherwise = Formula::getFalse();
  if (Value set = match.getOtherwise()) {
    FailureOr<Formula> formula = convert(set);
    if (failed(formula))
      return failure();
    otherwise = *formula;
  }
  cases.emplace_back(addLiteral(std::move(unlisted)), otherwise);
  return Formula::choice(cases);
}

FailureOr<Formula> PatternFormula::convertCover(mlir::Operation *op) {
  auto cover = llvm::cast<ir::CoverOp>(op);
  FailureOr<Formula> set = convert(cover.getSet());
  if (failed(set))
    return failure();
  return coverFormula(cover.getLoc(), causal(*set), cover.getQuery().value_or(0), cover.getKey(),
                      symbols());
}

Formula PatternFormula::atLeastZero(llvm::ArrayRef<AffineExpr> exprs) const {
  SmallVector<bool> equalities(exprs.size(), false);
  return Formula::affine(mlir::IntegerSet::get(2, symbols().count, exprs, equalities));
}

Formula PatternFormula::causal(const Formula &set) const {
  if (noncausal)
    return set;
  return Formula::conjunction({set, atLeastZero({query() - key()})});
}

Formula PatternFormula::visible(const Formula &set) const {
  AffineExpr end = symbol(kKvLength);
  return Formula::conjunction(
      {causal(set),
       atLeastZero({key(), end - 1 - key(), query() - symbol(kBase), end - 1 - query()})});
}

bool isAffine(Value set) {
  llvm::SetVector<Value> reached;
  reached.insert(set);
  for (size_t next = 0; next != reached.size(); ++next) {
    mlir::Operation *op = reached[next].getDefiningOp();
    if (auto affine = llvm::dyn_cast<ir::AffineSetOp>(op)) {
      if (!hasClosedForm(affine) || llvm::any_of(affine.getSymbols(), mayBeUndefined))
        return false;
    } else if (llvm::isa<ir::AndOp, ir::OrOp, ir::NotOp, ir::CoverOp>(op)) {
      reached.insert_range(op->getOperands());
    } else if (!ir::getConstantSet(reached[next])) {
      return false;
    }
  }
  return true;
}

} // namespace skim
