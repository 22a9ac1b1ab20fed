// Reductions into panels and buffers, and what contributes to them, as loops.
#include "codegen/cpu/ContributionLowering.h"
#include "codegen/cpu/PanelAccess.h"
#include "codegen/cpu/TargetPass.h"

#include <limits>

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERREDUCTIONS
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

static Value undefined(Code &code, Type element, unsigned lanes) {
  Value nan = arith::ConstantOp::create(
      code, code.getFloatAttr(element, std::numeric_limits<double>::quiet_NaN()));
  return lanes == 1 ? nan : code.splat(nan, lanes);
}

/// Every accumulator of the item holds nothing.
static void clearAccumulators(Code &code, const Target &target, const ReductionCells &cells,
                              Accumulator accumulator) {
  cells.forEachRun(code, target, [&](Value row, Value column, Value element, unsigned lanes) {
    for (auto [plane, value] : llvm::enumerate(accumulator.identity(lanes)))
      code.store(value, cells.accumulator(code, plane, row, column, element));
  });
}

static void finishCells(Code &code, const Target &target, const ReductionCells &cells,
                        Accumulator accumulator) {
  cells.forEachRun(code, target, [&](Value row, Value column, Value element, unsigned lanes) {
    Type f64 = code.getF64Type(), type = lanes == 1 ? f64 : code.vectorType(lanes, f64);
    Code::Values planes;
    for (unsigned plane = 0; plane < accumulator.planes(); ++plane)
      planes.push_back(code.load(type, cells.accumulator(code, plane, row, column, element)));
    code.store(accumulator.finish(planes), cells.result(code, row, column, element));
  });
}

/// Cells to which nothing will contribute.
static void clearResults(Code &code, const Target &target, const ReductionCells &cells) {
  cells.forEachRun(code, target, [&](Value row, Value column, Value element, unsigned lanes) {
    code.store(undefined(code, cells.element, lanes), cells.result(code, row, column, element));
  });
}

template <typename Op> static LogicalResult lower(Op op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<ReductionCells> cells = ReductionCells::of(op, code);
  if (failed(cells))
    return failure();
  // The body of a panel holds no other reduction; those inside of it are lowered before.
  tile::ContributeOp contribution;
  if constexpr (std::is_same_v<Op, tile::ReduceCellsOp>)
    contribution = op.getContribution();
  else
    op.getBody().walk([&](tile::ContributeOp inside) { contribution = inside; });
  std::optional<Accumulator> accumulator;
  if (std::optional<tile::Reduction> kind = op.getKind())
    accumulator.emplace(code, *kind, cells->element);

  ContributionLowering lowering(contribution, *cells, op.getKind(), op.getCausal(), target);
  // Where nothing is joined, most cells are finished where they are computed.
  bool joined = contribution->getParentOp() != op;
  bool direct = !joined && lowering.finishesCells();
  if (direct) {
    if (lowering.leavesCells())
      clearResults(code, target, *cells);
  } else if (accumulator) {
    clearAccumulators(code, target, *cells, *accumulator);
  } else {
    clearResults(code, target, *cells);
  }
  if (failed(lowering.run(direct)))
    return failure();
  Block &body = op.getBody().front();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  if (!direct && accumulator) {
    Code end = Code::before(op);
    finishCells(end, target, *cells, Accumulator(end, *op.getKind(), cells->element));
  }
  if constexpr (std::is_same_v<Op, tile::ReducePanelOp>) {
    Code end = Code::before(op);
    Value zero = end.index(0);
    Value data = cells->result(end, cells->tileBegin, zero, {});
    replacePanel(end, op.getPanel(), data);
  }
  op->erase();
  return success();
}

namespace {

struct LowerReductionsPass : skim::cpu::impl::LowerReductionsBase<LowerReductionsPass> {
  using LowerReductionsBase::LowerReductionsBase;

  void runOnOperation() override {
    if (failed(lowerOperations<tile::ReducePanelOp, tile::ReduceCellsOp>(
            *this, getOperation(), target,
            [](auto op, const Target &cpu) { return lower(op, cpu); })))
      signalPassFailure();
  }
};

} // namespace
