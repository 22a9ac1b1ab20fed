// Programs that count the visits of attention's work items, ahead of it.
#include "codegen/nvvm/HopperOps.h"
#include "codegen/nvvm/KernelFunction.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallSet.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_COUNTVISITS
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

/// Where a tile has more cells to test, counting would take a share of attention that no order
/// repays.
static constexpr int64_t kMostCells = 16;

/// The most cells of `size` positions that a tile of `tile` positions meets; 0: one for all.
static int64_t cellsAcross(int64_t tile, int64_t size) {
  if (size == 0 || size % tile == 0)
    return 1;
  return tile % size == 0 ? tile / size : tile / size + 2;
}

/// How many cells are tested for a tile before it is known to be visited.
static int64_t cellsToTest(tile::ForEachVisitOp walk, tile::ScheduleAttr schedule) {
  llvm::SmallSet<int64_t, 8> ids;
  for (auto interval : walk.getTouched().getAsRange<tile::IntervalAttr>())
    for (const tile::LiteralUse &use : interval.getLiterals())
      ids.insert(use.id);
  int64_t cells = 0;
  for (int64_t id : ids) {
    auto literal = walk.getLiterals()[id].getDefiningOp<tile::LiteralOp>();
    cells += literal ? cellsAcross(schedule.getRows(), literal.getQueryCell()) *
                           cellsAcross(schedule.getKeys(), literal.getKeyCell())
                     : kMostCells + 1;
  }
  return cells;
}

/// Means of the rest are few beside tokens: walks over them are not counted.
static bool walksTokens(tile::ForEachVisitOp walk) { return !walk.getSource().getPooled(); }

/// Whether counting is possible, tells more than positions do, and is cheap.
static bool isWorthCounting(tile::ProgramOp program) {
  if (!isAttention(program) || program.getSchedule().getGatherKeys())
    return false;
  int64_t cells = 0;
  program.walk([&](tile::ForEachVisitOp walk) {
    if (walksTokens(walk))
      cells += cellsToTest(walk, program.getSchedule());
  });
  return cells > 0 && cells <= kMostCells;
}

static void countVisitsOf(tile::ForEachVisitOp walk) {
  OpBuilder builder(walk);
  auto counting = tile::ForEachVisitOp::create(
      builder, walk.getLoc(), TypeRange(), walk.getItem(), walk.getSymbols(), walk.getLiterals(),
      ValueRange(), walk.getTouched(), builder.getArrayAttr({}), walk.getSource());
  Block *body = builder.createBlock(&counting.getBody(), {},
                                    tile::VisitType::get(builder.getContext()), walk.getLoc());
  hopper::CountOp::create(builder, walk.getLoc(), body->getArgument(0));
  tile::YieldOp::create(builder, walk.getLoc(), ValueRange());
}

/// A program beside `attention` that counts what its items visit.
static tile::ProgramOp createCounting(tile::ProgramOp attention) {
  OpBuilder builder(attention);
  auto program = cast<tile::ProgramOp>(builder.clone(*attention));
  program.setSymName((attention.getSymName() + "_visits").str());
  program->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  auto items = cast<tile::ForEachWorkItemOp>(program.getBody().front().front());
  for (auto walk : llvm::to_vector(items.getBody().getOps<tile::ForEachVisitOp>()))
    if (walksTokens(walk))
      countVisitsOf(walk);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(items.getBody().front()))) {
    auto walk = dyn_cast<tile::ForEachVisitOp>(op);
    bool attends =
        isa<tile::LoadQueriesOp, tile::EmptyStateOp, tile::FinishOp, tile::RaiseStatusOp>(op) ||
        (walk && walk.getBody().getOps<hopper::CountOp>().empty());
    if (op.use_empty() && (attends || isOpTriviallyDead(&op)))
      op.erase();
  }
  return program;
}

namespace {

struct CountVisitsPass : skim::nvvm::impl::CountVisitsBase<CountVisitsPass> {
  void runOnOperation() override {
    for (auto plan : getOperation().getOps<tile::PlanOp>())
      for (auto launch : llvm::to_vector(plan.getBody().getOps<tile::LaunchOp>())) {
        auto attention =
            SymbolTable::lookupNearestSymbolFrom<tile::ProgramOp>(plan, launch.getProgramAttr());
        if (!attention || !isWorthCounting(attention))
          continue;
        tile::ProgramOp counting = createCounting(attention);
        auto symbol = FlatSymbolRefAttr::get(counting.getSymNameAttr());
        attention->setAttr(kOrderedByAttr, symbol);
        OpBuilder builder(launch);
        tile::LaunchOp::create(builder, launch.getLoc(), symbol);
      }
  }
};

} // namespace
