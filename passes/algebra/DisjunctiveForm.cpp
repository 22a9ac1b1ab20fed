#include "passes/algebra/DisjunctiveForm.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <utility>

using llvm::ArrayRef;
using llvm::FailureOr;
using llvm::SmallVector;
using mlir::AffineBinaryOpExpr;
using mlir::AffineConstantExpr;
using mlir::AffineDimExpr;
using mlir::AffineExpr;
using mlir::AffineExprKind;
using mlir::AffineSymbolExpr;

namespace skim {
namespace {

constexpr int64_t kLargestConstant = int64_t(1) << 61;
/// How many pairs of conjunctions may be compared: about a second of work.
constexpr uint64_t kMostComparisons = uint64_t(1) << 17;

class DisjunctiveFormBuilder {
public:
  DisjunctiveFormBuilder(mlir::Location location, LinearSpace &space, const Conjunction &context,
                         unsigned largestCount)
      : location(location), space(space), context(context), largestCount(largestCount) {}

  void collectExclusiveLiterals(const Formula &formula);
  FailureOr<Disjuncts> build(const Formula &formula);

private:
  FailureOr<LinearForm> linearize(AffineExpr expression);
  FailureOr<Disjuncts> buildNode(const Formula &formula);
  FailureOr<Disjuncts> buildAtom(mlir::IntegerSet set);
  FailureOr<Disjuncts> buildAnd(ArrayRef<Formula> operands);
  FailureOr<Disjuncts> buildOr(ArrayRef<Formula> operands);
  FailureOr<Disjuncts> buildChoice(const Formula &choice);
  FailureOr<Disjuncts> intersect(const Disjuncts &left, const Disjuncts &right);
  mlir::LogicalResult dropContained(Disjuncts &disjuncts);
  mlir::LogicalResult spend(uint64_t count);
  bool literalsContradict(ArrayRef<LiteralRef> literals) const;

  mlir::Location location;
  LinearSpace &space;
  const Conjunction &context;
  unsigned largestCount;
  uint64_t comparisons = 0;
  /// What each node has become, and the node itself: formulas share parts.
  llvm::DenseMap<const void *, std::pair<Formula, Disjuncts>> built;
  llvm::DenseSet<const void *> searched;
  /// Pairs of literals that never hold together.
  llvm::DenseSet<std::pair<unsigned, unsigned>> exclusiveLiterals;
};

} // namespace

void DisjunctiveFormBuilder::collectExclusiveLiterals(const Formula &formula) {
  if (!searched.insert(formula.getIdentity()).second)
    return;
  for (unsigned first : formula.getCaseLiterals())
    for (unsigned second : formula.getCaseLiterals())
      if (first != second)
        exclusiveLiterals.insert({first, second});
  for (const Formula &operand : formula.getOperands())
    collectExclusiveLiterals(operand);
}

bool DisjunctiveFormBuilder::literalsContradict(ArrayRef<LiteralRef> literals) const {
  for (const LiteralRef &first : literals) {
    if (first.negated)
      continue;
    for (const LiteralRef &second : literals) {
      if (second.negated ? first.id == second.id
                         : exclusiveLiterals.contains({first.id, second.id}))
        return true;
    }
  }
  return false;
}

FailureOr<LinearForm> DisjunctiveFormBuilder::linearize(AffineExpr expression) {
  if (auto constant = llvm::dyn_cast<AffineConstantExpr>(expression)) {
    // Beyond, negating the atom may already have wrapped around.
    if (constant.getValue() > kLargestConstant || constant.getValue() < -kLargestConstant) {
      mlir::emitError(location) << "expected constants of at most " << kLargestConstant
                                << " in a set of positions but got " << constant.getValue();
      return mlir::failure();
    }
    return LinearForm(Integer(constant.getValue()));
  }
  if (auto dim = llvm::dyn_cast<AffineDimExpr>(expression))
    return LinearForm::variable(dim.getPosition());
  if (auto symbol = llvm::dyn_cast<AffineSymbolExpr>(expression))
    return LinearForm::variable(kFirstSymbol + symbol.getPosition());

  auto binary = llvm::cast<AffineBinaryOpExpr>(expression);
  FailureOr<LinearForm> left = linearize(binary.getLHS());
  FailureOr<LinearForm> right = linearize(binary.getRHS());
  if (failed(left) || failed(right))
    return mlir::failure();
  if (binary.getKind() == AffineExprKind::Add)
    return *left + *right;
  if (binary.getKind() == AffineExprKind::Mul && left->isConstant())
    std::swap(left, right);
  const Integer &factor = right->getConstant();
  if (!right->isConstant() || (binary.getKind() != AffineExprKind::Mul && factor <= 0)) {
    std::string text;
    llvm::raw_string_ostream(text) << expression;
    mlir::emitError(location) << "expected positions multiplied by constants and divided by "
                                 "positive constants but got '"
                              << text << "'";
    return mlir::failure();
  }
  switch (binary.getKind()) {
  case AffineExprKind::Mul:
    return *left * factor;
  case AffineExprKind::FloorDiv:
    return space.floorDivide(*left, factor);
  case AffineExprKind::CeilDiv:
    return space.floorDivide(*left + int64_t(factor - 1), factor);
  default:
    return *left - space.floorDivide(*left, factor) * factor;
  }
}

FailureOr<Disjuncts> DisjunctiveFormBuilder::buildAtom(mlir::IntegerSet set) {
  Conjunction conjunction;
  for (auto [expression, isEquality] : llvm::zip(set.getConstraints(), set.getEqFlags())) {
    FailureOr<LinearForm> form = linearize(expression);
    if (failed(form))
      return mlir::failure();
    if (isEquality)
      conjunction.equalities.push_back(std::move(*form));
    else
      conjunction.inequalities.push_back(std::move(*form));
  }
  if (!removeRedundant(space, conjunction, context))
    return Disjuncts{};
  return Disjuncts{std::move(conjunction)};
}

mlir::LogicalResult DisjunctiveFormBuilder::spend(uint64_t count) {
  comparisons += count;
  if (comparisons <= kMostComparisons)
    return mlir::success();
  mlir::emitError(location) << "the set is too large: expected its parts to be found by at most "
                            << kMostComparisons << " comparisons but it takes more";
  return mlir::failure();
}

mlir::LogicalResult DisjunctiveFormBuilder::dropContained(Disjuncts &disjuncts) {
  if (failed(spend(uint64_t(disjuncts.size()) * disjuncts.size())))
    return mlir::failure();
  removeContained(space, disjuncts, context);
  return mlir::success();
}

FailureOr<Disjuncts> DisjunctiveFormBuilder::intersect(const Disjuncts &left,
                                                       const Disjuncts &right) {
  if (failed(spend(uint64_t(left.size()) * right.size())))
    return mlir::failure();
  Disjuncts result;
  SmallVector<const Conjunction *> plain;
  for (const Conjunction &disjunct : right)
    if (disjunct.literals.empty())
      plain.push_back(&disjunct);
  for (const Conjunction &first : left) {
    // Where the right side adds nothing, one copy of `first` stands for all products.
    if (liesWithinAny(space, first, plain, context)) {
      result.push_back(first);
      continue;
    }
    for (const Conjunction &second : right) {
      Conjunction product = first;
      product.append(second);
      if (!literalsContradict(product.literals) && removeRedundant(space, product, context))
        result.push_back(std::move(product));
    }
  }
  if (failed(dropContained(result)))
    return mlir::failure();
  return result;
}

FailureOr<Disjuncts> DisjunctiveFormBuilder::buildAnd(ArrayRef<Formula> operands) {
  SmallVector<Disjuncts> factors;
  for (const Formula &operand : operands) {
    FailureOr<Disjuncts> factor = build(operand);
    if (failed(factor))
      return mlir::failure();
    factors.push_back(std::move(*factor));
  }
  // Small factors first: they make most products empty or contained early.
  llvm::stable_sort(factors, [](const Disjuncts &left, const Disjuncts &right) {
    return left.size() < right.size();
  });
  Disjuncts result{Conjunction()};
  for (const Disjuncts &factor : factors) {
    FailureOr<Disjuncts> product = intersect(result, factor);
    if (failed(product))
      return mlir::failure();
    result = std::move(*product);
    // Later factors may still remove disjuncts, but hardly so many.
    if (result.size() > 2 * size_t(largestCount))
      break;
  }
  return result;
}

FailureOr<Disjuncts> DisjunctiveFormBuilder::buildOr(ArrayRef<Formula> operands) {
  Disjuncts result;
  for (const Formula &operand : operands) {
    FailureOr<Disjuncts> disjuncts = build(operand);
    if (failed(disjuncts))
      return mlir::failure();
    llvm::append_range(result, *disjuncts);
  }
  if (failed(dropContained(result)))
    return mlir::failure();
  return result;
}

FailureOr<Disjuncts> DisjunctiveFormBuilder::buildChoice(const Formula &choice) {
  SmallVector<Formula> cases;
  for (auto [literal, operand] : llvm::zip(choice.getCaseLiterals(), choice.getOperands()))
    cases.push_back(Formula::conjunction({Formula::literal(literal), operand}));
  return build(Formula::disjunction(cases));
}

FailureOr<Disjuncts> DisjunctiveFormBuilder::buildNode(const Formula &formula) {
  switch (formula.getKind()) {
  case Formula::Kind::True:
    return Disjuncts{Conjunction()};
  case Formula::Kind::False:
    return Disjuncts{};
  case Formula::Kind::Affine:
    return buildAtom(formula.getSet());
  case Formula::Kind::And:
    return buildAnd(formula.getOperands());
  case Formula::Kind::Or:
    return buildOr(formula.getOperands());
  case Formula::Kind::Choice:
    return buildChoice(formula);
  case Formula::Kind::Literal:
  case Formula::Kind::Not:
    break;
  }
  bool negated = formula.getKind() == Formula::Kind::Not;
  const Formula &literal = negated ? formula.getOperands().front() : formula;
  Conjunction conjunction;
  conjunction.literals.push_back({literal.getLiteral(), negated});
  return Disjuncts{std::move(conjunction)};
}

FailureOr<Disjuncts> DisjunctiveFormBuilder::build(const Formula &formula) {
  if (auto known = built.find(formula.getIdentity()); known != built.end())
    return known->second.second;
  FailureOr<Disjuncts> result = buildNode(formula);
  if (failed(result))
    return mlir::failure();
  size_t most = 2 * size_t(largestCount);
  if (result->size() > most) {
    mlir::emitError(location) << "the set has too many disjoint parts: expected at most " << most
                              << " conjunctions but got " << result->size();
    return mlir::failure();
  }
  built.try_emplace(formula.getIdentity(), formula, *result);
  return result;
}

FailureOr<Disjuncts> computeDisjunctiveForm(mlir::Location location, const Formula &formula,
                                            LinearSpace &space, const Conjunction &context,
                                            unsigned largestCount) {
  Formula normalForm = formula.negationNormalForm();
  DisjunctiveFormBuilder builder(location, space, context, largestCount);
  builder.collectExclusiveLiterals(normalForm);
  FailureOr<Disjuncts> disjuncts = builder.build(normalForm);
  if (succeeded(disjuncts)) {
    weakenByNeighbours(space, *disjuncts, context);
    removeContained(space, *disjuncts, context);
  }
  return disjuncts;
}

} // namespace skim
