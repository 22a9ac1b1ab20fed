// How far a target's numbers may lie from those of the reference (rule 9): intervals around the
// values that f64 gives, and what the operations of f32 do to them.
#ifndef SKIM_REFERENCE_ERRORS_H
#define SKIM_REFERENCE_ERRORS_H

#include "reference/Map.h"
#include "reference/Pointwise.h"

#include "llvm/ADT/STLExtras.h"

namespace skim::reference {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// A product of vectors is off by this share of the sum of |x_i y_i| at most.
constexpr double dotError = 0x1p-16;
/// The same where one of the vectors is fp8.
constexpr double fp8DotError = 0x1p-12;
/// What f32 rounds off.
constexpr double f32Rounding = 0x1p-24;
/// Of exp, log, tanh and division in f32, relative to the result.
constexpr double functionError = 0x1p-21;

/// A number of a target: within `error` of `value`, or unknown.
struct Estimate {
  double value;
  double error;

  bool isUnknown() const { return error == unknown; }
  bool isUndefined() const { return error == 0 && std::isnan(value); }
  double low() const { return error == 0 ? value : value - error; }
  double high() const { return error == 0 ? value : value + error; }
};

/// The error, or unknown where a number near `value` overflows f32 or is none.
double unlessTooLarge(double value, double error);

/// The error of a result near `value` after it has been rounded to f32; `error` is that before.
/// Numbers of f32 that come without error stay so.
double stored(double value, double error);

/// The error of `result`, which `op` made of the values of its operands.
double errorOf(Unary op, Estimate x, double result);
double errorOf(Binary op, Estimate x, Estimate y, double result);

/// A vector with the errors of its components: undefined, or unknown, when one of them is.
struct VectorEstimate {
  llvm::ArrayRef<double> values, errors;

  bool isExact() const {
    return llvm::all_of(errors, [](double e) { return e == 0; });
  }
  bool isUnknown() const { return llvm::is_contained(errors, unknown); }
  bool isUndefined() const {
    for (size_t i = 0; i < values.size(); ++i)
      if (Estimate{values[i], errors[i]}.isUndefined())
        return true;
    return false;
  }
};

/// Both readings of a map at once.
class EstimateReader {
public:
  EstimateReader(const Map &map, const Axes &axes)
      : values(map, axes), errors(map, axes, Reader::What::Errors) {}

  void moveTo(int64_t head, int64_t query) {
    values.moveTo(head, query);
    errors.moveTo(head, query);
  }
  Estimate at(int64_t key) const { return {values.scalar(key), errors.scalar(key)}; }
  VectorEstimate vectorAt(int64_t key) const { return {values.at(key), errors.at(key)}; }

  Reader values, errors;
};

} // namespace skim::reference

#endif // SKIM_REFERENCE_ERRORS_H
