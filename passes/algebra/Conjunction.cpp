#include "passes/algebra/Conjunction.h"

#include "mlir/Analysis/Presburger/Fraction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

#include <algorithm>
#include <cassert>

using llvm::ArrayRef;
using llvm::SmallBitVector;
using llvm::SmallVector;
using mlir::presburger::Fraction;
using mlir::presburger::Simplex;

namespace skim {

void Conjunction::append(const Conjunction &other) {
  llvm::append_range(inequalities, other.inequalities);
  llvm::append_range(equalities, other.equalities);
  for (const LiteralRef &literal : other.literals)
    if (!llvm::is_contained(literals, literal))
      literals.push_back(literal);
  llvm::sort(literals, [](const LiteralRef &left, const LiteralRef &right) {
    return std::pair(left.id, left.negated) < std::pair(right.id, right.negated);
  });
}

void Conjunction::substitute(unsigned variable, const LinearForm &value) {
  for (LinearForm &form : inequalities)
    form.substitute(variable, value);
  for (LinearForm &form : equalities)
    form.substitute(variable, value);
}

/// Divides the variables' coefficients by their common factor; the caller has dealt with the
/// constant.
static LinearForm divided(const LinearForm &form, const Integer &factor, const Integer &constant) {
  LinearForm result(constant);
  for (unsigned variable = form.getNumVariables(); variable-- > 0;)
    if (Integer coefficient = form.getCoefficient(variable); coefficient != 0)
      result.setCoefficient(variable, coefficient / factor);
  return result;
}

bool Conjunction::tighten() {
  std::vector<LinearForm> oldEqualities = std::move(equalities);
  equalities.clear();
  for (LinearForm &form : oldEqualities) {
    if (form.isConstant()) {
      if (form.getConstant() != 0)
        return false;
      continue;
    }
    Integer factor = form.getCoefficientGcd();
    if (mod(form.getConstant(), factor) != 0)
      return false;
    // The sign of the first coefficient is fixed, so that equal constraints look equal.
    unsigned first = 0;
    while (form.getCoefficient(first) == 0)
      ++first;
    if (form.getCoefficient(first) < 0)
      factor = -factor;
    LinearForm reduced = divided(form, factor, form.getConstant() / factor);
    if (!llvm::is_contained(equalities, reduced))
      equalities.push_back(std::move(reduced));
  }

  std::vector<LinearForm> oldInequalities = std::move(inequalities);
  inequalities.clear();
  for (LinearForm &form : oldInequalities) {
    if (form.isConstant()) {
      if (form.getConstant() < 0)
        return false;
      continue;
    }
    Integer factor = form.getCoefficientGcd();
    LinearForm reduced = divided(form, factor, floorDiv(form.getConstant(), factor));
    bool parallel = false;
    for (LinearForm &kept : inequalities) {
      if (reduced.isParallelTo(kept, /*opposite=*/false)) {
        if (reduced.getConstant() < kept.getConstant())
          kept = reduced;
        parallel = true;
        break;
      }
      if (reduced.isParallelTo(kept, /*opposite=*/true) &&
          reduced.getConstant() + kept.getConstant() < 0)
        return false;
    }
    if (!parallel)
      inequalities.push_back(std::move(reduced));
  }
  return true;
}

Tableau::Tableau(const LinearSpace &space, ArrayRef<const Conjunction *> parts,
                 ArrayRef<const Conjunction *> asked) {
  mentioned.resize(space.size());
  auto markAll = [&](const Conjunction &part) {
    for (const LinearForm &form : part.inequalities)
      space.markVariables(form, mentioned);
    for (const LinearForm &form : part.equalities)
      space.markVariables(form, mentioned);
  };
  for (const Conjunction *part : parts)
    markAll(*part);
  for (const Conjunction *part : asked)
    markAll(*part);

  columnOf.assign(space.size(), 0);
  for (unsigned variable : mentioned.set_bits())
    columnOf[variable] = columns++;
  simplex = Simplex(columns);
  for (unsigned variable : mentioned.set_bits()) {
    const auto &division = space.getDivision(variable);
    if (!division)
      continue;
    // 0 <= numerator - denominator * variable <= denominator - 1
    LinearForm remainder = division->numerator;
    remainder.addScaled(LinearForm::variable(variable), -division->denominator);
    simplex.addInequality(row(remainder));
    simplex.addInequality(row(LinearForm(division->denominator - 1) - remainder));
  }
  for (const Conjunction *part : parts) {
    for (const LinearForm &form : part->equalities)
      simplex.addEquality(row(form));
    for (const LinearForm &form : part->inequalities)
      simplex.addInequality(row(form));
  }
}

SmallVector<Integer, 16> Tableau::row(const LinearForm &form) const {
  SmallVector<Integer, 16> coefficients(columns + 1, Integer(0));
  for (unsigned variable = 0; variable < form.getNumVariables(); ++variable)
    if (Integer coefficient = form.getCoefficient(variable); coefficient != 0)
      coefficients[columnOf[variable]] = coefficient;
  coefficients.back() = form.getConstant();
  return coefficients;
}

bool Tableau::impliesInequality(const LinearForm &form) {
  if (simplex.isEmpty())
    return true;
  if (form.isConstant())
    return form.getConstant() >= 0;
  auto optimum = simplex.computeOptimum(Simplex::Direction::Down, row(form));
  // The form is an integer, so more than -1 is at least 0.
  return optimum.isBounded() && *optimum > Fraction(-1, 1);
}

bool Tableau::impliesConstraints(const Conjunction &conjunction) {
  return llvm::all_of(conjunction.inequalities,
                      [&](const LinearForm &form) { return impliesInequality(form); }) &&
         llvm::all_of(conjunction.equalities,
                      [&](const LinearForm &form) { return impliesEquality(form); });
}

bool Tableau::mentions(const LinearForm &form) const {
  return !form.anyVariable([&](unsigned variable) { return !mentioned.test(variable); });
}

bool Tableau::mayImplyConstraints(const Conjunction &conjunction) {
  return llvm::all_of(
             conjunction.inequalities,
             [&](const LinearForm &form) { return !mentions(form) || impliesInequality(form); }) &&
         llvm::all_of(conjunction.equalities, [&](const LinearForm &form) {
           return !mentions(form) || impliesEquality(form);
         });
}

bool removeRedundant(const LinearSpace &space, Conjunction &conjunction,
                     const Conjunction &context) {
  if (!conjunction.tighten())
    return false;
  Tableau tableau(space, {&context, &conjunction});
  if (tableau.isEmpty())
    return false;
  unsigned count = conjunction.inequalities.size();
  unsigned offset = tableau.simplex.getNumConstraints() - count;
  tableau.simplex.detectRedundant(offset, count);
  std::vector<LinearForm> kept;
  for (unsigned index = 0; index < count; ++index)
    if (!tableau.simplex.isMarkedRedundant(offset + index))
      kept.push_back(std::move(conjunction.inequalities[index]));
  conjunction.inequalities = std::move(kept);
  return true;
}

static bool literalsInclude(ArrayRef<LiteralRef> outer, ArrayRef<LiteralRef> inner) {
  return llvm::all_of(
      inner, [&](const LiteralRef &literal) { return llvm::is_contained(outer, literal); });
}

bool liesWithinAny(const LinearSpace &space, const Conjunction &inner,
                   ArrayRef<const Conjunction *> others, const Conjunction &context) {
  if (others.empty())
    return false;
  // Most others differ already in the variables that `inner` mentions itself.
  Tableau filter(space, {&context, &inner});
  return llvm::any_of(others, [&](const Conjunction *other) {
    return filter.mayImplyConstraints(*other) &&
           Tableau(space, {&context, &inner}, other).impliesConstraints(*other);
  });
}

static SmallVector<const Conjunction *> othersWithin(const Disjuncts &disjuncts, unsigned index,
                                                     const SmallBitVector &left) {
  SmallVector<const Conjunction *> others;
  for (unsigned other = 0; other < disjuncts.size(); ++other)
    if (other != index && !left.test(other) &&
        literalsInclude(disjuncts[index].literals, disjuncts[other].literals))
      others.push_back(&disjuncts[other]);
  return others;
}

void weakenByNeighbours(const LinearSpace &space, Disjuncts &disjuncts,
                        const Conjunction &context) {
  SmallBitVector none(disjuncts.size());
  for (unsigned index = 0; index < disjuncts.size(); ++index) {
    SmallVector<const Conjunction *> others = othersWithin(disjuncts, index, none);
    Conjunction &disjunct = disjuncts[index];
    for (unsigned row = 0; !others.empty() && row < disjunct.inequalities.size();) {
      Conjunction beyond = disjunct;
      beyond.inequalities[row] = LinearForm(Integer(-1)) - beyond.inequalities[row];
      if (liesWithinAny(space, beyond, others, context))
        disjunct.inequalities.erase(disjunct.inequalities.begin() + row);
      else
        ++row;
    }
  }
}

void removeContained(const LinearSpace &space, Disjuncts &disjuncts, const Conjunction &context) {
  SmallBitVector removed(disjuncts.size());
  for (unsigned inner = 0; inner < disjuncts.size(); ++inner) {
    SmallVector<const Conjunction *> others = othersWithin(disjuncts, inner, removed);
    if (liesWithinAny(space, disjuncts[inner], others, context))
      removed.set(inner);
  }
  unsigned kept = 0;
  for (unsigned index = 0; index < disjuncts.size(); ++index) {
    if (removed.test(index))
      continue;
    if (kept != index)
      disjuncts[kept] = std::move(disjuncts[index]);
    ++kept;
  }
  disjuncts.resize(kept);
}

} // namespace skim
