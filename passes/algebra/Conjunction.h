#ifndef SKIM_PASSES_ALGEBRA_CONJUNCTION_H
#define SKIM_PASSES_ALGEBRA_CONJUNCTION_H

#include "passes/algebra/LinearForm.h"
#include "passes/algebra/TileVisits.h"

#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace skim {

/// Linear constraints and literals that hold together.
struct Conjunction {
  /// Each form is at least 0.
  std::vector<LinearForm> inequalities;
  /// Each form is 0.
  std::vector<LinearForm> equalities;
  /// Sorted by id, each once.
  llvm::SmallVector<LiteralRef, 2> literals;

  void append(const Conjunction &other);
  void substitute(unsigned variable, const LinearForm &value);

  /// Divides constraints by common factors, rounding constants to the integers, and keeps the
  /// tightest of parallel inequalities. Returns false when a constraint contradicts itself.
  bool tighten();
};

/// Conjunctions of which at least one holds.
using Disjuncts = std::vector<Conjunction>;

/// Answers questions about conjunctions by the simplex method over the rationals, rounded to the
/// integers where that is free. What it calls empty or implied is so; it may miss some.
class Tableau {
public:
  /// Takes the constraints of all `parts`, and the definitions of the divisions that they and
  /// `asked` mention.
  Tableau(const LinearSpace &space, llvm::ArrayRef<const Conjunction *> parts,
          llvm::ArrayRef<const Conjunction *> asked = {});

  bool isEmpty() const { return simplex.isEmpty(); }
  /// The form is at least 0 wherever the constraints hold. Its variables must be mentioned in
  /// `parts` or `asked`.
  bool impliesInequality(const LinearForm &form);
  bool impliesConstraints(const Conjunction &conjunction);
  /// False when a constraint, all of whose variables are mentioned, is not implied.
  bool mayImplyConstraints(const Conjunction &conjunction);

private:
  friend bool removeRedundant(const LinearSpace &, Conjunction &, const Conjunction &);

  llvm::SmallVector<Integer, 16> row(const LinearForm &form) const;

  bool mentions(const LinearForm &form) const;
  bool impliesEquality(const LinearForm &form) {
    return impliesInequality(form) && impliesInequality(form * Integer(-1));
  }

  llvm::SmallBitVector mentioned;
  llvm::SmallVector<unsigned, 16> columnOf;
  unsigned columns = 0;
  mlir::presburger::Simplex simplex{0};
};

/// Removes inequalities that the others and `context` imply. Returns false when the conjunction is
/// empty within `context`.
bool removeRedundant(const LinearSpace &space, Conjunction &conjunction,
                     const Conjunction &context);

/// True when the constraints of `inner` imply those of one of the others, all within `context`.
/// Literals are not looked at.
bool liesWithinAny(const LinearSpace &space, const Conjunction &inner,
                   llvm::ArrayRef<const Conjunction *> others, const Conjunction &context);

/// Drops an inequality where all that it cuts off lies within another conjunction of the list. The
/// union stays, in fewer and larger parts after `removeContained`.
void weakenByNeighbours(const LinearSpace &space, Disjuncts &disjuncts, const Conjunction &context);

/// Removes each conjunction that lies within another one of the list, all within `context`.
void removeContained(const LinearSpace &space, Disjuncts &disjuncts, const Conjunction &context);

} // namespace skim

#endif // SKIM_PASSES_ALGEBRA_CONJUNCTION_H
