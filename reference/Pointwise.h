// Maps computed cell by cell: positions, arithmetic, comparisons, sets,
// `where` and `match` (rules 3, 4, 7 and 14).
#ifndef SKIM_REFERENCE_POINTWISE_H
#define SKIM_REFERENCE_POINTWISE_H

#include "reference/Map.h"

#include <optional>

namespace skim::reference {

/// The block index `q / block`, or `k / block`; the position itself with a block of 1.
class PositionMap : public LazyMap {
public:
  PositionMap(const Request &request, bool isQuery, int64_t block);
  /// `x / divisor` for a positive constant: a block index again.
  std::shared_ptr<PositionMap> dividedBy(int64_t divisor) const;

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
};

enum class Unary { Negate, Exp, Log, Relu, Abs, Tanh, Not };

class UnaryMap : public LazyMap {
public:
  UnaryMap(Unary op, MapPtr operand);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  Unary op;
  MapPtr operand;
};

enum class Binary { Add, Sub, Mul, Div, Mod, Min, Max, Lt, Le, Gt, Ge, Eq, Ne, And, Or };

/// Index operands are combined as integers (`/` floors, `%` is non-negative), and
/// become f32 beside an f32 one. A scalar meets every component of a vector.
class BinaryMap : public LazyMap {
public:
  BinaryMap(Binary op, MapPtr lhs, MapPtr rhs, Axes axes);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  Binary op;
  MapPtr lhs, rhs;
};

/// An index map as f32.
class ConvertMap : public LazyMap {
public:
  explicit ConvertMap(MapPtr operand);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  MapPtr operand;
};

/// `value where set`: other cells are undefined.
class WhereMap : public LazyMap {
public:
  WhereMap(MapPtr value, MapPtr set, Axes axes);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  MapPtr value, set;
};

/// Rule 14: for each head the arm that its selector names. The selector has no
/// position axes. An unlisted value without a default gives the empty set.
class MatchMap : public LazyMap {
public:
  struct Arm {
    std::optional<int64_t> label; ///< None for `_`.
    MapPtr value;
  };
  MatchMap(MapPtr selector, std::vector<Arm> arms, Axes axes, Element element);

  /// The arm for a value of the selector; null when none is listed.
  static const Arm *find(llvm::ArrayRef<Arm> arms, double label);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  MapPtr selector;
  std::vector<Arm> arms;
};

} // namespace skim::reference

#endif // SKIM_REFERENCE_POINTWISE_H
