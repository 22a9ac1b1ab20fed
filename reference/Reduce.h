// Reductions, softmax and smoothing (rules 2, 3, 5 and 6).
#ifndef SKIM_REFERENCE_REDUCE_H
#define SKIM_REFERENCE_REDUCE_H

#include "reference/Map.h"

namespace skim::reference {

enum class Reduction { Sum, Mean, Max, Min, Var };

/// Gathers the cells of `map` into the cells of `target`, whose axes are those of
/// `map` removed, coarsened, or (`q - k`) joined into diagonals, all together.
/// Undefined cells do not contribute; a cell to which nothing contributes is
/// undefined. Cells are summed in f64, in ascending order of head, query and key; `Var` is the mean
/// square less the squared mean, at least 0. Vectors go by component.
MapPtr reduce(Reduction kind, const Map &map, const Axes &target);

/// Fills the errors of `result`, which is `map` reduced.
void addErrors(Reduction kind, const Map &map, DenseMap &result);

/// exp(x - max) / sum over the defined cells of each row's key-like axis.
class SoftmaxMap : public LazyMap {
public:
  explicit SoftmaxMap(MapPtr operand);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  MapPtr operand;
};

/// The mean of the defined cells at most `width / 2` away along the key axis, for each
/// defined cell. The width is odd.
class SmoothMap : public LazyMap {
public:
  SmoothMap(MapPtr operand, MapPtr width, Axes axes);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  /// Cells on each side, no more than there are.
  static int64_t reachOf(double width, int64_t cells);
  MapPtr operand, width;
};

} // namespace skim::reference

#endif // SKIM_REFERENCE_REDUCE_H
