// Selections: `top_k`, `top_p` (rule 8) and `cover`, which rounds visible pairs
// up to blocks.
#ifndef SKIM_REFERENCE_SELECT_H
#define SKIM_REFERENCE_SELECT_H

#include "reference/Map.h"

namespace skim::reference {

/// Rule 8: `top_k` takes as many of the largest cells of each row as `amount` says,
/// `top_p` the largest that hold the share `amount` of the row's sum. Ties go to
/// the smaller axis value.
class SelectMap : public LazyMap {
public:
  enum class Kind { TopK, TopP };
  SelectMap(Kind kind, MapPtr scores, MapPtr amount, Axes axes);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  Kind kind;
  MapPtr scores, amount;
};

/// The number of cells that `top_k(map, x)` takes of `existing` ones.
int64_t selectionCount(double x, int64_t existing);

/// `cover(q / A, k / B, set)`: the blocks that hold a visible pair of the set.
MapPtr coverBlocks(const Map &set, int64_t queryBlock, int64_t keyBlock);

/// Fills the errors of `cover`, which holds the blocks of `set`.
void addCoverErrors(const Map &set, DenseMap &cover);

/// `cover(k / B, set)`: the same for each row.
class CoverKeysMap : public LazyMap {
public:
  CoverKeysMap(MapPtr set, int64_t keyBlock);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  MapPtr set;
};

} // namespace skim::reference

#endif // SKIM_REFERENCE_SELECT_H
