// Values that a launch gives by name: arrays, and lists of indices (rules 2 and
// 15). Their layout is `[request, head, query-like, key-like]`; the query-like axis starts at
// the block of the request's first row.
#ifndef SKIM_REFERENCE_INPUTS_H
#define SKIM_REFERENCE_INPUTS_H

#include "reference/Map.h"
#include "reference/Problem.h"

#include <optional>
#include <string>

namespace skim::reference {

/// Where the cells of one request lie in an input's array.
struct InputLayout {
  int64_t offset = 0;            ///< Of the request.
  int64_t headStride = 0;        ///< 0 without a head axis.
  int64_t queryStride = 0;       ///< 0 without a query-like axis.
  int64_t keyExtent = 1;         ///< Entries of the key-like axis; the capacity of a list.
  std::vector<int64_t> trailing; ///< Extents after the axes: a vector's dimension, a matrix.
};

/// Checks the shape of an input against its axes and the number of `trailing`
/// extents, and finds where `request` lies. Returns what is wrong, or an empty string.
std::string layoutInput(const InputValue &value, const Axes &axes, const Request &request,
                        int64_t requests, int64_t trailing, bool isList, InputLayout &layout);

/// `input name: bool | index | f32 | vec`.
class InputMap : public LazyMap {
public:
  InputMap(const Request &request, Axes axes, Element element, const InputValue &value,
           InputLayout layout);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  const InputValue &value;
  InputLayout layout;
};

/// `input name: list[...]`: the set of cells whose index is listed. -1 is padding;
/// entries outside the axis select nothing and are noted.
class ListMap : public LazyMap {
public:
  /// `counts` may be null: then every entry counts.
  ListMap(const Request &request, Axes axes, const InputValue &entries, InputLayout layout,
          const InputValue *counts, InputLayout countLayout);

  /// The first entry or count of this request that lies outside its axis.
  struct OutOfRange {
    bool isCount;
    std::string text; ///< What was expected and what is there.
  };
  std::optional<OutOfRange> findOutOfRange() const;

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  /// Of one row; the whole capacity where there are no counts.
  double countOf(int64_t head, int64_t query) const;
  /// None where the count lies outside its range.
  llvm::ArrayRef<double> entriesOf(int64_t head, int64_t query) const;
  const InputValue &entries;
  InputLayout layout;
  const InputValue *counts;
  InputLayout countLayout;
};

} // namespace skim::reference

#endif // SKIM_REFERENCE_INPUTS_H
