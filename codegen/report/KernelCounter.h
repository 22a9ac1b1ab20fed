// The walk over one program that counts what it costs. For the sources of this folder.
#ifndef SKIM_CODEGEN_REPORT_KERNELCOUNTER_H
#define SKIM_CODEGEN_REPORT_KERNELCOUNTER_H

#include "codegen/report/ItemValues.h"
#include "codegen/report/KernelCost.h"
#include "codegen/report/RegionCost.h"
#include "passes/algebra/Evaluate.h"

#include <algorithm>

namespace skim::report {

/// Bytes of an element in memory; truth values take one.
inline double bytesOf(mlir::Type type) {
  return type.isInteger(1) ? 1 : type.getIntOrFloatBitWidth() / 8.0;
}

/// The buffer of the plan in `slot`.
tile::BufferOp bufferOf(tile::PlanOp plan, int64_t slot);

/// Counts one program, item by item.
class KernelCounter {
public:
  KernelCounter(tile::PlanOp plan, tile::ProgramOp program, const ReportOptions &options,
                Bound bound)
      : plan(plan), program(program), options(options), bound(bound), values(plan, options),
        problem(plan.getProblem()), schedule(program.getSchedule()) {}

  KernelCount run();

private:
  void countItem(const Item &item, double times);
  void count(mlir::Block &block, const Item &item, double times);
  void count(mlir::Operation &op, const Item &item, double times);
  /// `loop` joins the heads, or keeps panels of each.
  void countHeads(mlir::Operation *loop, tile::HeadGroup joined, const Item &item, double times);
  void countRowTiles(tile::ForEachRowTileOp loop, const Item &item, double times);
  void countList(tile::ScatterListOp scatter, const Item &item, double times);
  void countVisits(tile::ForEachVisitOp visits, const Item &item, double times);
  void countVisited(mlir::Operation &op, const Item &item, double tiles, double keys, bool pooled,
                    double times);
  void countLiterals(tile::ForEachVisitOp visits, const Item &item, llvm::ArrayRef<int64_t> symbols,
                     llvm::ArrayRef<Stretch> visited, int64_t length, double times);
  void countDotPanel(tile::DotPanelOp dot, const Item &item, double times);
  void countContribution(tile::ContributeOp op, const Item &item, double times);
  void countReducedCells(tile::ReduceCellsOp op, const Item &item, double times);
  void countSelection(tile::SelectOp op, const Item &item, double times);
  void countPositions(tile::StorePositionsOp op, const Item &item, double times);

  /// Remembers an operation for which there is no rule, unless it costs nothing worth counting.
  void rememberUncounted(mlir::Operation *op);
  void add(const Cost &cost, double times) { result.cost += cost * times; }
  /// The rows of the item's tile, of all query heads that it holds.
  double rowsOf(const Item &item) const { return double(item.rows.size() * headsOfTile); }
  Cost region(mlir::Region &body, llvm::ArrayRef<Extent> extents) {
    return regionCost(body, extents, plan,
                      [&](mlir::Value value) { return values.integer(value); });
  }
  /// Of a causal pattern the keys before the last row of the item, else all of them.
  Range seenKeys(const Item &item, bool causal) {
    if (!causal || !item.hasRows)
      return item.keys;
    return {item.keys.begin, std::max(item.keys.begin, std::min(item.keys.end, item.rows.end))};
  }
  /// What `q - k` runs over.
  Range distances() { return {plan.getNoncausal() ? 1 - options.tokens : 0, options.context}; }
  double operandBytes() { return bytesOf(problem.getOperand()); }
  double columnsOf(tile::PanelType type) {
    if (type.getElements() != 0)
      return double(type.getElements());
    return double(Range{0, options.context}.blocks(type.getKey()));
  }
  double cellsOf(tile::PanelType type, const Item &item) {
    return double(item.rows.blocks(type.getQuery())) * columnsOf(type);
  }

  tile::PlanOp plan;
  tile::ProgramOp program;
  const ReportOptions &options;
  Bound bound;
  ItemValues values;
  tile::ProblemAttr problem;
  tile::ScheduleAttr schedule;
  bool headsDiffer = false;
  int64_t headsOfTile = 1;
  KernelCount result;
};

} // namespace skim::report

#endif // SKIM_CODEGEN_REPORT_KERNELCOUNTER_H
