// What the scalar region of an operation costs where it is evaluated over rows, keys and elements.
#ifndef SKIM_CODEGEN_REPORT_REGIONCOST_H
#define SKIM_CODEGEN_REPORT_REGIONCOST_H

#include "codegen/report/ItemValues.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace skim::report {

/// What an argument of a region runs over: cells of `step` positions, as far as they touch `range`;
/// one value where `step` is 0.
struct Extent {
  Range range;
  int64_t step = 1;

  int64_t count() const { return range.blocks(step); }
};

/// Counts a region evaluated once for each combination of its arguments, which run over `extents`.
/// Exponentials and products count each time; of what it loads each cell counts once. `integer`
/// tells the integers that are known.
Cost regionCost(mlir::Region &region, llvm::ArrayRef<Extent> extents, tile::PlanOp plan,
                llvm::function_ref<std::optional<int64_t>(mlir::Value)> integer);

} // namespace skim::report

#endif // SKIM_CODEGEN_REPORT_REGIONCOST_H
