#include "passes/algebra/LinearForm.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace skim {

LinearForm LinearForm::variable(unsigned index) {
  LinearForm form;
  form.setCoefficient(index, Integer(1));
  return form;
}

Integer LinearForm::getCoefficient(unsigned variable) const {
  return variable < coefficients.size() ? coefficients[variable] : Integer(0);
}

Integer LinearForm::getCoefficientGcd() const {
  Integer result(0);
  for (const Integer &coefficient : coefficients)
    if (coefficient != 0)
      result = gcd(result, abs(coefficient));
  return result;
}

bool LinearForm::anyVariable(llvm::function_ref<bool(unsigned)> predicate) const {
  for (unsigned variable = 0; variable < coefficients.size(); ++variable)
    if (coefficients[variable] != 0 && predicate(variable))
      return true;
  return false;
}

bool LinearForm::isParallelTo(const LinearForm &other, bool opposite) const {
  return std::equal(coefficients.begin(), coefficients.end(), other.coefficients.begin(),
                    other.coefficients.end(), [&](const Integer &left, const Integer &right) {
                      return opposite ? left == -right : left == right;
                    });
}

void LinearForm::setCoefficient(unsigned variable, const Integer &value) {
  if (variable >= coefficients.size())
    coefficients.resize(variable + 1, Integer(0));
  coefficients[variable] = value;
  dropTrailingZeros();
}

LinearForm &LinearForm::addScaled(const LinearForm &other, const Integer &factor) {
  constant += other.constant * factor;
  if (other.coefficients.size() > coefficients.size())
    coefficients.resize(other.coefficients.size(), Integer(0));
  for (unsigned variable = 0; variable < other.coefficients.size(); ++variable)
    if (other.coefficients[variable] != 0)
      coefficients[variable] += other.coefficients[variable] * factor;
  dropTrailingZeros();
  return *this;
}

void LinearForm::substitute(unsigned variable, const LinearForm &value) {
  Integer coefficient = getCoefficient(variable);
  if (coefficient == 0)
    return;
  setCoefficient(variable, Integer(0));
  addScaled(value, coefficient);
}

void LinearForm::dropTrailingZeros() {
  while (!coefficients.empty() && coefficients.back() == 0)
    coefficients.pop_back();
}

unsigned LinearSpace::addFreeVariable() {
  variables.emplace_back();
  return variables.size() - 1;
}

LinearForm LinearSpace::floorDivide(const LinearForm &numerator, Integer denominator) {
  assert(denominator > 0 && "expected a positive denominator");
  LinearForm quotient;
  LinearForm rest;
  for (unsigned variable = 0; variable < numerator.getNumVariables(); ++variable) {
    Integer coefficient = numerator.getCoefficient(variable);
    // Rounds towards zero: -k / 64 is not to become -k + (63 * k) / 64.
    quotient.setCoefficient(variable, coefficient / denominator);
    rest.setCoefficient(variable, coefficient % denominator);
  }
  quotient.setConstant(floorDiv(numerator.getConstant(), denominator));
  rest.setConstant(mod(numerator.getConstant(), denominator));
  if (rest.isConstant())
    return quotient;

  Integer common = gcd(rest.getCoefficientGcd(), denominator);
  if (common != 1) {
    LinearForm reduced(floorDiv(rest.getConstant(), common));
    for (unsigned variable = 0; variable < rest.getNumVariables(); ++variable)
      reduced.setCoefficient(variable, rest.getCoefficient(variable) / common);
    rest = std::move(reduced);
    denominator /= common;
  }
  auto found = std::find_if(variables.begin(), variables.end(), [&](const auto &division) {
    return division && division->denominator == denominator && division->numerator == rest;
  });
  unsigned index = found - variables.begin();
  if (found == variables.end())
    variables.push_back(Division{std::move(rest), denominator});
  return quotient + LinearForm::variable(index);
}

bool LinearSpace::dependsOn(unsigned variable, unsigned target) const {
  if (variable == target)
    return true;
  const std::optional<Division> &division = variables[variable];
  return division && dependsOn(division->numerator, target);
}

bool LinearSpace::dependsOn(const LinearForm &form, unsigned target) const {
  return form.anyVariable([&](unsigned variable) { return dependsOn(variable, target); });
}

void LinearSpace::markVariables(const LinearForm &form, llvm::SmallBitVector &marked) const {
  for (unsigned variable = 0; variable < form.getNumVariables(); ++variable) {
    if (form.getCoefficient(variable) == 0 || marked.test(variable))
      continue;
    marked.set(variable);
    if (const std::optional<Division> &division = variables[variable])
      markVariables(division->numerator, marked);
  }
}

} // namespace skim
