#ifndef SKIM_PASSES_ALGEBRA_FORMULA_H
#define SKIM_PASSES_ALGEBRA_FORMULA_H

#include "mlir/IR/IntegerSet.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <utility>

namespace skim {

/// A boolean formula over the query position q and the key position k. Its leaves are
///
/// - affine atoms: an `IntegerSet` with the dims (q, k) and the symbols of the pattern, numbered
/// alike in
///   every atom of one formula; `floordiv` and `mod` by positive constants are allowed;
/// - literals: predicates of (q, k) that are known only at run time, named by a number.
///
/// A formula is immutable and cheap to copy: copies share their nodes. So a formula may stand for
/// an expression that is exponentially larger, and what walks one must remember the nodes it has
/// seen. The functions that make formulas absorb true and false, flatten nested conjunctions and
/// disjunctions, and drop repeated operands.
class Formula {
public:
  enum class Kind { True, False, And, Or, Not, Affine, Literal, Choice };

  /// One case of a choice: where the literal holds, the formula decides.
  using Case = std::pair<unsigned, Formula>;

  static Formula getTrue();
  static Formula getFalse();
  /// Sets whose constraints are all constants become true or false.
  static Formula affine(mlir::IntegerSet set);
  static Formula literal(unsigned id);
  static Formula conjunction(mlir::ArrayRef<Formula> operands);
  static Formula disjunction(mlir::ArrayRef<Formula> operands);
  static Formula negation(const Formula &operand);
  /// The caller promises that at every (q, k) exactly one of the literals holds (the cases of a
  /// `match`, the default among them). Then the negation of a choice is the choice among the
  /// negated cases, and no two cases ever meet, which keeps disjunctive forms small.
  static Formula choice(mlir::ArrayRef<Case> cases);

  Kind getKind() const;
  bool isTrue() const { return getKind() == Kind::True; }
  bool isFalse() const { return getKind() == Kind::False; }
  /// Operands of And, Or and Not; the formulas of a Choice's cases, in order.
  mlir::ArrayRef<Formula> getOperands() const;
  /// The set of an Affine leaf.
  mlir::IntegerSet getSet() const;
  /// The number of a Literal leaf.
  unsigned getLiteral() const;
  /// The literals of a Choice's cases, in order.
  mlir::ArrayRef<unsigned> getCaseLiterals() const;

  /// The node, the same for all copies, as a key of what is known about it. Valid as long as one
  /// of them lives.
  const void *getIdentity() const { return node.get(); }

  /// True when some leaf is a literal or some node is a choice.
  bool hasLiterals() const;

  /// An equal formula in which Not stands on literals only. Affine leaves are negated over the
  /// integers: `e >= 0` to `-e - 1 >= 0`, `e == 0` to `e - 1 >= 0 or -e - 1 >= 0`.
  Formula negationNormalForm() const;

  /// `choice (literal 3: ...) ...`, `(... and ...)`; for tests and reports.
  void print(mlir::raw_ostream &stream) const;

private:
  struct Node;
  explicit Formula(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  static Formula combine(Kind kind, mlir::ArrayRef<Formula> operands);

  std::shared_ptr<const Node> node;
};

} // namespace skim

#endif // SKIM_PASSES_ALGEBRA_FORMULA_H
