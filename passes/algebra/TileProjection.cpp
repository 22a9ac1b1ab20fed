#include "passes/algebra/TileProjection.h"

#include "passes/algebra/DisjunctiveForm.h"
#include "passes/algebra/Elimination.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

using mlir::AffineExpr;

namespace skim {

/// 0 <= form < size
static void addRange(Conjunction &conjunction, const LinearForm &form, const Integer &size) {
  conjunction.inequalities.push_back(form);
  conjunction.inequalities.push_back(LinearForm(size - 1) - form);
}

TileProjection::TileProjection(const LinearSpace &positions, const FormulaSymbols &symbols,
                               TileShape shape, unsigned largestCount)
    : largestCount(largestCount), shape(shape), space(kFirstSymbol + symbols.count) {
  rowOffset = addEliminated();
  keyOffset = addEliminated();
  addRange(definitions, LinearForm::variable(rowOffset), Integer(shape.rows));
  addRange(definitions, LinearForm::variable(keyOffset), Integer(shape.keys));

  images.push_back(LinearForm::variable(kQueryTile) * Integer(shape.rows) +
                   LinearForm::variable(rowOffset));
  images.push_back(LinearForm::variable(kKeyTile) * Integer(shape.keys) +
                   LinearForm::variable(keyOffset));
  for (unsigned symbol = 0; symbol < symbols.count; ++symbol)
    images.push_back(LinearForm::variable(kFirstSymbol + symbol));
  for (unsigned variable = images.size(); variable < positions.size(); ++variable)
    mapDivision(*positions.getDivision(variable));
}

unsigned TileProjection::addEliminated() {
  unsigned variable = space.addFreeVariable();
  eliminated.resize(space.size());
  eliminated.set(variable);
  return variable;
}

LinearForm TileProjection::map(const LinearForm &form) const {
  LinearForm image(form.getConstant());
  for (unsigned variable = 0; variable < form.getNumVariables(); ++variable)
    if (Integer coefficient = form.getCoefficient(variable); coefficient != 0)
      image.addScaled(images[variable], coefficient);
  return image;
}

void TileProjection::mapDivision(const LinearSpace::Division &division) {
  LinearForm numerator = map(division.numerator);
  const Integer &denominator = division.denominator;

  // A block of positions that is whole tiles, or a part of one that no offset leaves: the offsets
  // drop out. All else is a multiple of `step`, and the offsets and the constant stay within one
  // step.
  LinearForm whole = numerator;
  Integer smallest = numerator.getConstant();
  Integer largest = smallest;
  for (auto [offset, size] : {std::pair(rowOffset, shape.rows), std::pair(keyOffset, shape.keys)}) {
    Integer reach = numerator.getCoefficient(offset) * (size - 1);
    (reach < 0 ? smallest : largest) += reach;
    whole.setCoefficient(offset, Integer(0));
  }
  Integer step = gcd(whole.getCoefficientGcd(), denominator);
  Integer stepNumber = floorDiv(smallest, step);
  if (stepNumber == floorDiv(largest, step)) {
    whole.setConstant(stepNumber * step);
    numerator = whole;
  }

  bool divides = !numerator.anyVariable([&](unsigned variable) {
    return isEliminated(variable) && numerator.getCoefficient(variable) % denominator != 0;
  });
  if (divides) {
    images.push_back(space.floorDivide(numerator, denominator));
    return;
  }
  LinearForm quotient = LinearForm::variable(addEliminated());
  addRange(definitions, numerator - quotient * denominator, denominator);
  images.push_back(quotient);
}

mlir::LogicalResult TileProjection::project(const Conjunction &pairs, const Conjunction &domain,
                                            Disjuncts &tiles) {
  Conjunction conjunction = domain;
  conjunction.append(definitions);
  for (const LinearForm &form : pairs.inequalities)
    conjunction.inequalities.push_back(map(form));
  for (const LinearForm &form : pairs.equalities)
    conjunction.equalities.push_back(map(form));
  conjunction.literals = pairs.literals;

  auto results = eliminateVariables({.space = space,
                                     .eliminated = eliminated,
                                     .avoidedInDivisions = kKeyTile,
                                     .largestCount = largestCount},
                                    std::move(conjunction));
  if (!results)
    return mlir::failure();
  std::move(results->begin(), results->end(), std::back_inserter(tiles));
  return mlir::success();
}

bool TileProjection::openKeyTileDivision(LinearForm &form) {
  std::optional<unsigned> division;
  for (unsigned variable = 0; variable < form.getNumVariables(); ++variable) {
    if (form.getCoefficient(variable) == 0 || !space.dependsOn(variable, kKeyTile))
      continue;
    if (division || variable == kKeyTile)
      return false;
    division = variable;
  }
  if (!division)
    return false;
  auto [numerator, denominator] = *space.getDivision(*division);
  Integer coefficient = form.getCoefficient(*division);
  LinearForm rest = form;
  rest.setCoefficient(*division, Integer(0));
  LinearForm bound = space.floorDivide(rest, abs(coefficient)) * denominator;
  // floor(n / m) >= -b where n + m * b >= 0, floor(n / m) <= b where m * b + m - 1 - n >= 0.
  form = coefficient > 0 ? numerator + bound : bound + LinearForm(denominator - 1) - numerator;
  return true;
}

void TileProjection::openKeyTileDivisions(Conjunction &tiles) {
  std::vector<LinearForm> equalities;
  for (const LinearForm &form : tiles.equalities) {
    LinearForm atLeast = form;
    if (!openKeyTileDivision(atLeast)) {
      equalities.push_back(form);
      continue;
    }
    LinearForm atMost = form * Integer(-1);
    openKeyTileDivision(atMost);
    tiles.inequalities.push_back(std::move(atLeast));
    tiles.inequalities.push_back(std::move(atMost));
  }
  tiles.equalities = std::move(equalities);
  for (LinearForm &form : tiles.inequalities)
    while (openKeyTileDivision(form))
      ;
}

static unsigned countTerms(const LinearForm &form) {
  unsigned count = form.getConstant() != 0 ? 1 : 0;
  for (unsigned variable = 0; variable < form.getNumVariables(); ++variable)
    count += form.getCoefficient(variable) != 0 ? 1 : 0;
  return count;
}

AffineExpr ExpressionWriter::write(const LinearForm &form) const {
  mlir::MLIRContext *context = queryTile.getContext();
  AffineExpr result = mlir::getAffineConstantExpr(0, context);
  LinearForm linear = form;
  // n - m * floor(n / m) reads better as n mod m; divisions come after what they are made of.
  for (unsigned variable = form.getNumVariables(); variable-- > 0;) {
    Integer coefficient = linear.getCoefficient(variable);
    const auto &division = space.getDivision(variable);
    if (coefficient == 0 || !division || coefficient % division->denominator != 0)
      continue;
    Integer factor = coefficient / division->denominator;
    LinearForm replaced = linear + division->numerator * factor;
    replaced.setCoefficient(variable, Integer(0));
    if (countTerms(replaced) + 1 >= countTerms(linear))
      continue;
    linear = replaced;
    AffineExpr remainder = write(division->numerator) % int64_t(division->denominator);
    result = result + remainder * int64_t(-factor);
  }
  for (unsigned variable = 0; variable < linear.getNumVariables(); ++variable) {
    Integer coefficient = linear.getCoefficient(variable);
    if (coefficient == 0)
      continue;
    AffineExpr term;
    if (const auto &division = space.getDivision(variable))
      term = write(division->numerator).floorDiv(int64_t(division->denominator));
    else if (variable == kQueryTile)
      term = queryTile;
    else if (variable == kKeyTile)
      term = keyTile;
    else
      term = mlir::getAffineSymbolExpr(variable - kFirstSymbol, context);
    result = result + term * int64_t(coefficient);
  }
  return result + int64_t(linear.getConstant());
}

Integer ExpressionWriter::largestMagnitude(const LinearForm &form) const {
  Integer result = abs(form.getConstant());
  for (unsigned variable = 0; variable < form.getNumVariables(); ++variable) {
    Integer coefficient = abs(form.getCoefficient(variable));
    if (coefficient == 0)
      continue;
    const auto &division = space.getDivision(variable);
    Integer magnitude = division ? largestMagnitude(division->numerator) : Integer(kLargestSymbol);
    result += coefficient * magnitude;
  }
  return result;
}

bool ExpressionWriter::fits(const LinearForm &form) const {
  return largestMagnitude(form) < (int64_t(1) << 62);
}

} // namespace skim
