// Where the cells of a map go in its reduction.
#ifndef SKIM_REFERENCE_REDUCECELLS_H
#define SKIM_REFERENCE_REDUCECELLS_H

#include "reference/Map.h"

namespace skim::reference {

class Destination {
public:
  Destination(const Map &map, const Axes &target)
      : map(map), request(map.request), target(target) {}

  int64_t head(int64_t head) const {
    if (target.head == map.axes.head)
      return head;
    return target.head == HeadAxis::KvHead ? request.kvHeadOf(head) : 0;
  }
  int64_t query(int64_t query) const {
    return target.query ? floorDiv(query * map.axes.query, target.query) : 0;
  }
  /// -1 for pairs that lie on no diagonal (causality hides them).
  int64_t key(int64_t query, int64_t key) const {
    if (!target.hasKeyLike())
      return 0;
    if (!target.diagonal)
      return floorDiv(key * map.axes.key, target.key);
    if (map.axes.diagonal)
      return key;
    int64_t cell = query - key - request.firstDiagonal();
    return cell >= 0 && cell < request.keyCells(target) ? cell : -1;
  }

private:
  const Map &map;
  const Request &request;
  Axes target;
};

/// Calls `visit(first, values, errors)` for every cell of `map` in ascending order of head, query
/// and key; `first` is the place in the result's data of the cell that it goes to. Errors are empty
/// unless asked for.
template <typename Visit>
void forEachCell(const Map &map, const DenseMap &result, bool withErrors, Visit visit) {
  const Request &request = map.request;
  Destination to(map, result.axes);
  int64_t first = request.firstQueryCell(map.axes.query);
  int64_t last = first + request.queryCells(map.axes.query);
  for (int64_t head = 0; head < request.headCount(map.axes.head); ++head) {
    for (int64_t q = first; q < last; ++q) {
      llvm::ArrayRef<double> values = map.row(head, q), errors;
      if (withErrors)
        errors = map.errors(head, q);
      int64_t row = result.offset(to.head(head), to.query(q));
      for (int64_t cell = 0, end = map.cells(); cell < end; ++cell)
        if (int64_t key = to.key(q, cell); key >= 0)
          visit(row + key * map.dim, values.slice(cell * map.dim, map.dim),
                withErrors ? errors.slice(cell * map.dim, map.dim) : errors);
    }
  }
}

} // namespace skim::reference

#endif // SKIM_REFERENCE_REDUCECELLS_H
