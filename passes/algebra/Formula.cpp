#include "passes/algebra/Formula.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::AffineExpr;
using mlir::IntegerSet;

namespace skim {

struct Formula::Node {
  explicit Node(Kind kind) : kind(kind) {}

  Kind kind;
  SmallVector<Formula, 2> operands;
  IntegerSet set;
  unsigned literal = 0;
  SmallVector<unsigned, 2> caseLiterals;
  bool hasLiterals = false;
};

Formula Formula::getTrue() {
  static const Formula formula(std::make_shared<Node>(Kind::True));
  return formula;
}

Formula Formula::getFalse() {
  static const Formula formula(std::make_shared<Node>(Kind::False));
  return formula;
}

Formula Formula::affine(IntegerSet set) {
  assert(set.getNumDims() == 2 && "expected a set over (q, k)");
  bool allHold = true;
  for (auto [expression, isEquality] : llvm::zip(set.getConstraints(), set.getEqFlags())) {
    auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expression);
    if (!constant) {
      allHold = false;
      continue;
    }
    if (isEquality ? constant.getValue() != 0 : constant.getValue() < 0)
      return getFalse();
  }
  if (allHold)
    return getTrue();
  auto node = std::make_shared<Node>(Kind::Affine);
  node->set = set;
  return Formula(std::move(node));
}

Formula Formula::literal(unsigned id) {
  auto node = std::make_shared<Node>(Kind::Literal);
  node->literal = id;
  node->hasLiterals = true;
  return Formula(std::move(node));
}

Formula Formula::conjunction(ArrayRef<Formula> operands) { return combine(Kind::And, operands); }

Formula Formula::disjunction(ArrayRef<Formula> operands) { return combine(Kind::Or, operands); }

Formula Formula::combine(Kind kind, ArrayRef<Formula> operands) {
  Kind neutral = kind == Kind::And ? Kind::True : Kind::False;
  Kind absorbing = kind == Kind::And ? Kind::False : Kind::True;
  auto node = std::make_shared<Node>(kind);
  llvm::SmallPtrSet<const void *, 8> present;
  auto add = [&](const Formula &operand) {
    if (present.insert(operand.getIdentity()).second)
      node->operands.push_back(operand);
  };
  for (const Formula &operand : operands) {
    if (operand.getKind() == absorbing)
      return operand;
    if (operand.getKind() == neutral)
      continue;
    if (operand.getKind() == kind)
      llvm::for_each(operand.getOperands(), add);
    else
      add(operand);
    node->hasLiterals |= operand.hasLiterals();
  }
  if (node->operands.empty())
    return kind == Kind::And ? getTrue() : getFalse();
  if (node->operands.size() == 1)
    return node->operands.front();
  return Formula(std::move(node));
}

Formula Formula::negation(const Formula &operand) {
  switch (operand.getKind()) {
  case Kind::True:
    return getFalse();
  case Kind::False:
    return getTrue();
  case Kind::Not:
    return operand.getOperands().front();
  default:
    break;
  }
  auto node = std::make_shared<Node>(Kind::Not);
  node->operands.push_back(operand);
  node->hasLiterals = operand.hasLiterals();
  return Formula(std::move(node));
}

Formula Formula::choice(ArrayRef<Case> cases) {
  assert(!cases.empty() && "exactly one of no literals cannot hold");
  // Equal constant cases decide without the literals.
  Kind first = cases.front().second.getKind();
  if ((first == Kind::True || first == Kind::False) &&
      llvm::all_of(cases, [&](const Case &entry) { return entry.second.getKind() == first; }))
    return cases.front().second;
  auto node = std::make_shared<Node>(Kind::Choice);
  node->hasLiterals = true;
  for (const Case &entry : cases) {
    node->caseLiterals.push_back(entry.first);
    node->operands.push_back(entry.second);
  }
  return Formula(std::move(node));
}

Formula::Kind Formula::getKind() const { return node->kind; }

ArrayRef<Formula> Formula::getOperands() const { return node->operands; }

IntegerSet Formula::getSet() const {
  assert(getKind() == Kind::Affine);
  return node->set;
}

unsigned Formula::getLiteral() const {
  assert(getKind() == Kind::Literal);
  return node->literal;
}

ArrayRef<unsigned> Formula::getCaseLiterals() const { return node->caseLiterals; }

bool Formula::hasLiterals() const { return node->hasLiterals; }

static Formula negatedAffine(IntegerSet set) {
  SmallVector<Formula> alternatives;
  auto addAlternative = [&](AffineExpr expression) {
    alternatives.push_back(Formula::affine(
        IntegerSet::get(set.getNumDims(), set.getNumSymbols(), expression, /*eqFlags=*/false)));
  };
  for (auto [expression, isEquality] : llvm::zip(set.getConstraints(), set.getEqFlags())) {
    addAlternative(-expression - 1);
    if (isEquality)
      addAlternative(expression - 1);
  }
  return Formula::disjunction(alternatives);
}

namespace {

/// Writes each node, negated or not, once: formulas share parts.
class NormalForms {
public:
  Formula get(const Formula &formula, bool negated) {
    auto &known = negated ? negatedForms : forms;
    if (auto found = known.find(formula.getIdentity()); found != known.end())
      return found->second;
    Formula form = make(formula, negated);
    known.try_emplace(formula.getIdentity(), form);
    return form;
  }

private:
  Formula make(const Formula &formula, bool negated);

  llvm::DenseMap<const void *, Formula> forms;
  llvm::DenseMap<const void *, Formula> negatedForms;
};

} // namespace

Formula NormalForms::make(const Formula &formula, bool negated) {
  auto normalOperands = [&] {
    return llvm::map_to_vector(formula.getOperands(),
                               [&](const Formula &operand) { return get(operand, negated); });
  };
  switch (formula.getKind()) {
  case Formula::Kind::True:
  case Formula::Kind::False:
  case Formula::Kind::Literal:
    return negated ? Formula::negation(formula) : formula;
  case Formula::Kind::Affine:
    return negated ? negatedAffine(formula.getSet()) : formula;
  case Formula::Kind::Not:
    return get(formula.getOperands().front(), !negated);
  case Formula::Kind::And:
  case Formula::Kind::Or: {
    bool isAnd = (formula.getKind() == Formula::Kind::And) != negated;
    SmallVector<Formula> operands = normalOperands();
    return isAnd ? Formula::conjunction(operands) : Formula::disjunction(operands);
  }
  case Formula::Kind::Choice: {
    SmallVector<Formula::Case> cases;
    for (auto [literal, operand] : llvm::zip(formula.getCaseLiterals(), normalOperands()))
      cases.emplace_back(literal, operand);
    return Formula::choice(cases);
  }
  }
  llvm_unreachable("every kind of formula is handled above");
}

Formula Formula::negationNormalForm() const { return NormalForms().get(*this, /*negated=*/false); }

void Formula::print(llvm::raw_ostream &stream) const {
  auto printJoined = [&](llvm::StringRef word) {
    stream << '(';
    llvm::interleave(
        getOperands(), stream, [&](const Formula &operand) { operand.print(stream); }, word);
    stream << ')';
  };
  switch (getKind()) {
  case Kind::True:
    stream << "true";
    return;
  case Kind::False:
    stream << "false";
    return;
  case Kind::Literal:
    stream << "literal " << getLiteral();
    return;
  case Kind::Affine:
    stream << "affine_set<";
    getSet().print(stream);
    stream << '>';
    return;
  case Kind::Not:
    stream << "not ";
    getOperands().front().print(stream);
    return;
  case Kind::And:
    printJoined(" and ");
    return;
  case Kind::Or:
    printJoined(" or ");
    return;
  case Kind::Choice:
    stream << "choice";
    for (auto [literal, operand] : llvm::zip(getCaseLiterals(), getOperands())) {
      stream << " (literal " << literal << ": ";
      operand.print(stream);
      stream << ')';
    }
    return;
  }
}

} // namespace skim
