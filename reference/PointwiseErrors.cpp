// The errors of maps computed cell by cell: intervals of arithmetic, and sets that are open
// where an interval does not decide (rule 9).
#include "reference/Errors.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace skim::reference {

using What = Reader::What;

void UnaryMap::computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  llvm::ArrayRef<double> x = operand->row(head, query), errors = operand->errors(head, query),
                         result = row(head, query);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = errorOf(op, {x[i], errors[i]}, result[i]);
}

void BinaryMap::computeErrors(int64_t head, int64_t query,
                              llvm::MutableArrayRef<double> out) const {
  EstimateReader left(*lhs, axes), right(*rhs, axes);
  left.moveTo(head, query);
  right.moveTo(head, query);
  llvm::ArrayRef<double> result = row(head, query);
  if (element != Element::Vec) {
    for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
      double error = errorOf(op, left.at(cell), right.at(cell), result[cell]);
      // Index values are exact where they are known.
      out[cell] = element == Element::Index && error != unknown ? 0 : error;
    }
    return;
  }
  for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
    llvm::ArrayRef<double> x = left.values.at(cell), y = right.values.at(cell);
    llvm::ArrayRef<double> xErrors = left.errors.at(cell), yErrors = right.errors.at(cell);
    for (int64_t i = 0; i < dim && !x.empty() && !y.empty(); ++i) {
      int64_t a = x.size() == 1 ? 0 : i, b = y.size() == 1 ? 0 : i;
      out[cell * dim + i] =
          errorOf(op, {x[a], xErrors[a]}, {y[b], yErrors[b]}, result[cell * dim + i]);
    }
  }
}

void ConvertMap::computeErrors(int64_t head, int64_t query,
                               llvm::MutableArrayRef<double> out) const {
  llvm::copy(operand->errors(head, query), out.begin());
}

void WhereMap::computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  EstimateReader filter(*set, axes);
  Reader values(*value, axes), errors(*value, axes, What::Errors);
  filter.moveTo(head, query);
  values.moveTo(head, query);
  errors.moveTo(head, query);
  for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
    Estimate chosen = filter.at(cell);
    llvm::ArrayRef<double> x = values.at(cell), e = errors.at(cell);
    for (size_t i = 0; i < x.size(); ++i) {
      double &error = out[cell * dim + i];
      if (chosen.error == 0)
        error = isTrue(chosen.value) ? e[i] : 0;
      else // Undefined either way, or nobody knows.
        error = Estimate{x[i], e[i]}.isUndefined() ? 0 : unknown;
    }
  }
}

void MatchMap::computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  EstimateReader label(*selector, axes);
  label.moveTo(head, query);
  if (label.at(0).error != 0) {
    std::fill(out.begin(), out.end(), unknown);
    return;
  }
  const Arm *arm = find(arms, label.at(0).value);
  if (!arm)
    return;
  Reader chosen(*arm->value, axes, What::Errors);
  chosen.moveTo(head, query);
  for (int64_t cell = 0, end = cells(); cell < end; ++cell)
    llvm::copy(chosen.at(cell), out.begin() + cell * dim);
}

} // namespace skim::reference
