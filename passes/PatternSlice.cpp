#include "passes/PatternSlice.h"

#include "passes/MapAnalysis.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <algorithm>

namespace skim {

llvm::SmallVector<mlir::Operation *> neededOperations(ir::PatternOp pattern) {
  llvm::SmallPtrSet<mlir::Operation *, 32> needed;
  llvm::SmallVector<mlir::Operation *> list;
  for (mlir::Operation &op : llvm::reverse(pattern.getBody().front())) {
    bool isClause = op.getNumResults() == 0;
    if (!isClause && !needed.contains(&op))
      continue;
    list.push_back(&op);
    for (mlir::Value operand : op.getOperands())
      if (mlir::Operation *source = operand.getDefiningOp())
        needed.insert(source);
  }
  std::reverse(list.begin(), list.end());
  return list;
}

llvm::SmallVector<ir::CoverOp> coversWithin(mlir::Value set) {
  llvm::SmallVector<ir::CoverOp> covers;
  llvm::SetVector<mlir::Operation *> reached;
  auto reach = [&](mlir::Value value) {
    if (mlir::Operation *op = value.getDefiningOp())
      reached.insert(op);
  };
  reach(set);
  for (size_t next = 0; next != reached.size(); ++next) {
    mlir::Operation *op = reached[next];
    if (auto cover = llvm::dyn_cast<ir::CoverOp>(op); cover && !isPanelSet(op))
      covers.push_back(cover);
    else
      llvm::for_each(op->getOperands(), reach);
  }
  llvm::sort(covers, [](ir::CoverOp a, ir::CoverOp b) { return a->isBeforeInBlock(b); });
  return covers;
}

ir::PatternOp lookupPattern(ir::AttendOp attend) {
  return mlir::SymbolTable::lookupNearestSymbolFrom<ir::PatternOp>(attend, attend.getPatternAttr());
}

mlir::FailureOr<PlannedPattern> lookupPlanned(ir::AttendOp attend) {
  auto plans = attend->getParentOfType<mlir::ModuleOp>().getOps<tile::PlanOp>();
  auto plan = llvm::find_if(
      plans, [&](tile::PlanOp plan) { return plan.getPattern() == attend.getPattern(); });
  if (plan == plans.end())
    return attend.emitError("expected a 'tile.plan' for '")
           << attend.getPattern() << "'; 'skim-create-plan' makes it";
  auto schedule = attend->getAttrOfType<tile::ScheduleAttr>(kScheduleAttr);
  if (!schedule)
    return attend.emitError("expected a '") << kScheduleAttr << "' of '" << attend.getPattern()
                                            << "'; 'skim-choose-schedule' writes it";
  return PlannedPattern{lookupPattern(attend), *plan, schedule, attend->hasAttr(kPacksHeadsAttr)};
}

} // namespace skim
