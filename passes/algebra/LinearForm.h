#ifndef SKIM_PASSES_ALGEBRA_LINEAR_FORM_H
#define SKIM_PASSES_ALGEBRA_LINEAR_FORM_H

#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <vector>

namespace skim {

/// Integers of set algebra do not overflow: eliminating a variable multiplies coefficients.
using Integer = llvm::DynamicAPInt;

/// constant + sum of coefficient * variable, variables being numbered by a `LinearSpace`.
class LinearForm {
public:
  LinearForm() = default;
  explicit LinearForm(const Integer &constant) : constant(constant) {}
  static LinearForm variable(unsigned index);

  const Integer &getConstant() const { return constant; }
  Integer getCoefficient(unsigned variable) const;
  /// Variables from this number on have coefficient 0.
  unsigned getNumVariables() const { return coefficients.size(); }
  bool isConstant() const { return coefficients.empty(); }
  /// Greatest common divisor of the coefficients, 0 where there are none.
  Integer getCoefficientGcd() const;
  bool anyVariable(llvm::function_ref<bool(unsigned)> predicate) const;

  /// The coefficients are equal, or equal but for their sign.
  bool isParallelTo(const LinearForm &other, bool opposite) const;

  void setConstant(const Integer &value) { constant = value; }
  void setCoefficient(unsigned variable, const Integer &value);
  LinearForm &addScaled(const LinearForm &other, const Integer &factor);
  /// Puts `value` in the place of `variable`.
  void substitute(unsigned variable, const LinearForm &value);

  friend LinearForm operator+(LinearForm left, const LinearForm &right) {
    return std::move(left.addScaled(right, Integer(1)));
  }
  friend LinearForm operator-(LinearForm left, const LinearForm &right) {
    return std::move(left.addScaled(right, Integer(-1)));
  }
  friend LinearForm operator*(const LinearForm &form, const Integer &factor) {
    return std::move(LinearForm().addScaled(form, factor));
  }
  friend LinearForm operator+(LinearForm form, int64_t value) {
    form.constant += value;
    return form;
  }
  bool operator==(const LinearForm &) const = default;

private:
  void dropTrailingZeros();

  Integer constant;
  /// Without trailing zeros, so that equal forms compare equal.
  llvm::SmallVector<Integer, 6> coefficients;
};

/// Numbers variables. A variable is free or stands for floor(numerator / denominator).
class LinearSpace {
public:
  struct Division {
    LinearForm numerator;
    Integer denominator;
  };

  explicit LinearSpace(unsigned freeVariables) : variables(freeVariables) {}

  unsigned size() const { return variables.size(); }
  unsigned addFreeVariable();
  /// floor(numerator / denominator) for denominator > 0. Multiples of the denominator are taken
  /// out; what remains becomes a variable, the same for the same division.
  LinearForm floorDivide(const LinearForm &numerator, Integer denominator);
  const std::optional<Division> &getDivision(unsigned variable) const {
    return variables[variable];
  }
  /// True when the variable is `target` or its numerator depends on it.
  bool dependsOn(unsigned variable, unsigned target) const;
  bool dependsOn(const LinearForm &form, unsigned target) const;
  /// Marks the variables of `form`, and those that their divisions are made of.
  void markVariables(const LinearForm &form, llvm::SmallBitVector &marked) const;

private:
  std::vector<std::optional<Division>> variables;
};

} // namespace skim

#endif // SKIM_PASSES_ALGEBRA_LINEAR_FORM_H
