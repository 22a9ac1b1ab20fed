#include "passes/algebra/Elimination.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>
#include <utility>

using llvm::SmallBitVector;
using llvm::SmallVector;

namespace skim {
namespace {

/// coefficient * x + rest >= 0 (a lower bound of x) or rest - coefficient * x >= 0 (an upper
/// bound); coefficient > 0.
struct Bound {
  Integer coefficient;
  LinearForm rest;
};

/// How a lower and an upper bound of x are joined into a condition without x.
enum class PairRule {
  /// Fourier-Motzkin, exact for this pair.
  Combine,
  /// lower.coefficient * floor(upper.rest / upper.coefficient) + lower.rest >= 0
  DivideUpper,
  /// upper.rest + upper.coefficient * floor(lower.rest / lower.coefficient) >= 0
  DivideLower,
  /// Only the dark shadow is known to hold an integer.
  Inexact
};

struct Plan {
  unsigned variable = 0;
  std::vector<Bound> lowers;
  std::vector<Bound> uppers;
  /// By lower bound, then by upper bound.
  SmallVector<PairRule> rules;
  unsigned avoidedDivisions = 0;
  unsigned divisions = 0;
  /// Conjunctions needed beside the dark shadow; 0 when the plan is exact.
  Integer splinters;
  bool splinterLowers = true;

  PairRule getRule(unsigned lower, unsigned upper) const {
    return rules[lower * uppers.size() + upper];
  }
  auto getCost() const {
    return std::tuple(splinters, avoidedDivisions, divisions,
                      int(lowers.size() * uppers.size()) - int(lowers.size() + uppers.size()));
  }
};

/// Inequalities and variables of one conjunction. Patterns stay below; where much more comes up, as
/// between remainders of coprime moduli, the work grows without bound.
constexpr size_t kLargestSize = 56;

class Eliminator {
public:
  explicit Eliminator(EliminationProblem problem) : problem(std::move(problem)) {}

  std::optional<Disjuncts> run(Conjunction start);

private:
  bool isEliminated(unsigned variable) const {
    return variable < problem.eliminated.size() && problem.eliminated.test(variable);
  }
  bool mentionsEliminated(const LinearForm &form) const {
    return form.anyVariable([&](unsigned variable) { return isEliminated(variable); });
  }
  bool solveEquality(Conjunction &conjunction);
  SmallVector<unsigned> findVariables(const Conjunction &conjunction) const;
  std::optional<unsigned> costOfDivision(const LinearForm &numerator,
                                         const Integer &denominator) const;
  Plan makePlan(const Conjunction &conjunction, unsigned variable,
                std::optional<Tableau> &tableau) const;
  void countSplinters(Plan &plan) const;
  Conjunction applyPlan(const Conjunction &conjunction, const Plan &plan);
  void addSplinters(const Conjunction &conjunction, const Plan &plan, Disjuncts &pending) const;

  EliminationProblem problem;
};

} // namespace

bool Eliminator::solveEquality(Conjunction &conjunction) {
  const LinearForm *equality = nullptr;
  unsigned solved = 0;
  for (const LinearForm &form : conjunction.equalities) {
    for (unsigned variable = 0; variable < form.getNumVariables(); ++variable) {
      if (!isEliminated(variable) || form.getCoefficient(variable) == 0)
        continue;
      if (!equality || abs(form.getCoefficient(variable)) < abs(equality->getCoefficient(solved))) {
        equality = &form;
        solved = variable;
      }
    }
  }
  if (!equality)
    return false;

  // coefficient * solved + rest == 0, coefficient > 0
  Integer sign(equality->getCoefficient(solved) < 0 ? -1 : 1);
  LinearForm rest = *equality * sign;
  Integer coefficient = rest.getCoefficient(solved);
  rest.setCoefficient(solved, Integer(0));
  if (coefficient == 1) {
    conjunction.substitute(solved, rest * Integer(-1));
    return true;
  }
  if (!mentionsEliminated(rest)) {
    // The equality itself becomes the condition that the division leaves no remainder.
    conjunction.substitute(solved, problem.space.floorDivide(rest * Integer(-1), coefficient));
    return true;
  }
  // A unimodular change of variables, one step of Euclid's algorithm on the coefficients.
  LinearForm replacement = LinearForm::variable(solved);
  for (unsigned variable = 0; variable < rest.getNumVariables(); ++variable)
    if (isEliminated(variable))
      replacement.addScaled(LinearForm::variable(variable),
                            -floorDiv(rest.getCoefficient(variable), coefficient));
  conjunction.substitute(solved, replacement);
  return true;
}

SmallVector<unsigned> Eliminator::findVariables(const Conjunction &conjunction) const {
  SmallBitVector found(problem.eliminated.size());
  for (const LinearForm &form : conjunction.inequalities)
    for (unsigned variable = 0; variable < form.getNumVariables(); ++variable)
      if (isEliminated(variable) && form.getCoefficient(variable) != 0)
        found.set(variable);
  return SmallVector<unsigned>(found.set_bits());
}

/// What floor(numerator / denominator) costs as a term without eliminated variables: 0 where it
/// leaves no division over variables, 2 where the division is over the variable to avoid, else 1;
/// nothing where it is impossible.
std::optional<unsigned> Eliminator::costOfDivision(const LinearForm &numerator,
                                                   const Integer &denominator) const {
  unsigned cost = 0;
  for (unsigned variable = 0; variable < numerator.getNumVariables(); ++variable) {
    if (numerator.getCoefficient(variable) % denominator == 0)
      continue;
    if (isEliminated(variable))
      return std::nullopt;
    bool avoided = problem.space.dependsOn(variable, problem.avoidedInDivisions);
    cost = std::max(cost, avoided ? 2U : 1U);
  }
  return cost;
}

static LinearForm combine(const Bound &lower, const Bound &upper) {
  return upper.rest * lower.coefficient + lower.rest * upper.coefficient;
}

/// Least value of the combination of two bounds that guarantees an integer between them.
static Integer darkShadowGap(const Bound &lower, const Bound &upper) {
  return (lower.coefficient - 1) * (upper.coefficient - 1);
}

Plan Eliminator::makePlan(const Conjunction &conjunction, unsigned variable,
                          std::optional<Tableau> &tableau) const {
  Plan plan;
  plan.variable = variable;
  for (const LinearForm &form : conjunction.inequalities) {
    Integer coefficient = form.getCoefficient(variable);
    if (coefficient == 0)
      continue;
    LinearForm rest = form;
    rest.setCoefficient(variable, Integer(0));
    if (coefficient > 0)
      plan.lowers.push_back({coefficient, std::move(rest)});
    else
      plan.uppers.push_back({-coefficient, std::move(rest)});
  }

  auto chooseRule = [&](const Bound &lower, const Bound &upper) {
    if (lower.coefficient == 1 || upper.coefficient == 1)
      return PairRule::Combine;
    std::optional<unsigned> upperCost = costOfDivision(upper.rest, upper.coefficient);
    std::optional<unsigned> lowerCost = costOfDivision(lower.rest, lower.coefficient);
    if (upperCost == 0U)
      return PairRule::DivideUpper;
    if (lowerCost == 0U)
      return PairRule::DivideLower;
    // Each integer point of the projection has the gap, as the combinations of all pairs stay.
    LinearForm surplus = combine(lower, upper) - LinearForm(darkShadowGap(lower, upper));
    if (!tableau)
      tableau.emplace(problem.space, llvm::ArrayRef<const Conjunction *>(&conjunction));
    if (tableau->impliesInequality(surplus))
      return PairRule::Combine;
    if (!upperCost && !lowerCost)
      return PairRule::Inexact;
    unsigned cost = std::min(upperCost.value_or(3), lowerCost.value_or(3));
    ++(cost == 2 ? plan.avoidedDivisions : plan.divisions);
    return upperCost == cost ? PairRule::DivideUpper : PairRule::DivideLower;
  };
  for (const Bound &lower : plan.lowers)
    for (const Bound &upper : plan.uppers)
      plan.rules.push_back(chooseRule(lower, upper));
  countSplinters(plan);
  return plan;
}

/// Largest c such that an integer point outside the dark shadow may have coefficient * x = bound +
/// c, for a bound whose inexact partners have at most `partner` as their coefficient.
static Integer largestSplinter(const Integer &coefficient, const Integer &partner) {
  return floorDiv(coefficient * partner - coefficient - partner, partner);
}

/// Largest coefficient among the bounds that meet bound `index` of one side inexactly; 0 where
/// there is none.
static Integer largestInexactPartner(const Plan &plan, bool isLower, unsigned index) {
  Integer largest(0);
  const std::vector<Bound> &partners = isLower ? plan.uppers : plan.lowers;
  for (unsigned partner = 0; partner < partners.size(); ++partner) {
    PairRule rule = isLower ? plan.getRule(index, partner) : plan.getRule(partner, index);
    if (rule == PairRule::Inexact)
      largest = std::max(largest, partners[partner].coefficient);
  }
  return largest;
}

void Eliminator::countSplinters(Plan &plan) const {
  auto countSide = [&](bool isLower) {
    Integer count(0);
    const std::vector<Bound> &bounds = isLower ? plan.lowers : plan.uppers;
    for (unsigned index = 0; index < bounds.size(); ++index)
      if (Integer partner = largestInexactPartner(plan, isLower, index); partner != 0)
        count += largestSplinter(bounds[index].coefficient, partner) + 1;
    return count;
  };
  Integer lowers = countSide(true);
  Integer uppers = countSide(false);
  plan.splinterLowers = lowers <= uppers;
  plan.splinters = std::min(lowers, uppers);
}

Conjunction Eliminator::applyPlan(const Conjunction &conjunction, const Plan &plan) {
  Conjunction result;
  result.literals = conjunction.literals;
  result.equalities = conjunction.equalities;
  for (const LinearForm &form : conjunction.inequalities)
    if (form.getCoefficient(plan.variable) == 0)
      result.inequalities.push_back(form);
  for (unsigned lowerIndex = 0; lowerIndex < plan.lowers.size(); ++lowerIndex) {
    for (unsigned upperIndex = 0; upperIndex < plan.uppers.size(); ++upperIndex) {
      const Bound &lower = plan.lowers[lowerIndex];
      const Bound &upper = plan.uppers[upperIndex];
      LinearForm condition;
      switch (plan.getRule(lowerIndex, upperIndex)) {
      case PairRule::Combine:
        condition = combine(lower, upper);
        break;
      case PairRule::DivideUpper:
        condition = lower.rest +
                    problem.space.floorDivide(upper.rest, upper.coefficient) * lower.coefficient;
        break;
      case PairRule::DivideLower:
        condition = upper.rest +
                    problem.space.floorDivide(lower.rest, lower.coefficient) * upper.coefficient;
        break;
      case PairRule::Inexact:
        condition = combine(lower, upper) - LinearForm(darkShadowGap(lower, upper));
        break;
      }
      result.inequalities.push_back(std::move(condition));
    }
  }
  return result;
}

void Eliminator::addSplinters(const Conjunction &conjunction, const Plan &plan,
                              Disjuncts &pending) const {
  bool isLower = plan.splinterLowers;
  const std::vector<Bound> &bounds = isLower ? plan.lowers : plan.uppers;
  for (unsigned index = 0; index < bounds.size(); ++index) {
    Integer partner = largestInexactPartner(plan, isLower, index);
    if (partner == 0)
      continue;
    const Bound &bound = bounds[index];
    Integer last = largestSplinter(bound.coefficient, partner);
    for (Integer distance(0); distance <= last; ++distance) {
      Conjunction splinter = conjunction;
      LinearForm equality = bound.rest - LinearForm(distance);
      equality.setCoefficient(plan.variable, isLower ? bound.coefficient : -bound.coefficient);
      splinter.equalities.push_back(std::move(equality));
      pending.push_back(std::move(splinter));
    }
  }
}

static size_t sizeOf(const LinearSpace &space, const Conjunction &conjunction) {
  SmallBitVector mentioned(space.size());
  for (const LinearForm &form : conjunction.inequalities)
    space.markVariables(form, mentioned);
  return conjunction.inequalities.size() + mentioned.count();
}

std::optional<Disjuncts> Eliminator::run(Conjunction start) {
  Disjuncts pending{std::move(start)};
  Disjuncts results;
  Integer created(1);
  while (!pending.empty()) {
    Conjunction conjunction = std::move(pending.back());
    pending.pop_back();
    while (true) {
      if (!conjunction.tighten())
        break;
      if (solveEquality(conjunction))
        continue;
      if (!removeRedundant(problem.space, conjunction, Conjunction()))
        break;
      SmallVector<unsigned> variables = findVariables(conjunction);
      if (variables.empty()) {
        results.push_back(std::move(conjunction));
        break;
      }
      std::optional<Tableau> tableau;
      Plan best;
      for (unsigned variable : variables) {
        Plan plan = makePlan(conjunction, variable, tableau);
        if (variable == variables.front() || plan.getCost() < best.getCost())
          best = std::move(plan);
      }
      if (best.splinters != 0) {
        created += best.splinters;
        if (created > int64_t(problem.largestCount))
          return std::nullopt;
        addSplinters(conjunction, best, pending);
      }
      conjunction = applyPlan(conjunction, best);
      if (sizeOf(problem.space, conjunction) > kLargestSize)
        return std::nullopt;
    }
  }
  return results;
}

std::optional<Disjuncts> eliminateVariables(EliminationProblem problem, Conjunction conjunction) {
  return Eliminator(std::move(problem)).run(std::move(conjunction));
}

} // namespace skim
