#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/PanelLayout.h"
#include "dialect/Tile/ProgramOps.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

namespace skim {
#define GEN_PASS_DEF_ASSIGNSCRATCH
#include "passes/Passes.h.inc"

namespace {

/// Adds scratch to a plan, program by program.
class ScratchAssigner {
public:
  explicit ScratchAssigner(tile::PlanOp plan) : plan(plan), builder(plan.getContext()) {}

  void assign(tile::ProgramOp program) {
    taken.clear();
    program.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
      llvm::TypeSwitch<mlir::Operation *>(op)
          .Case<tile::LoadPanelOp, tile::DotPanelOp, tile::SmoothPanelOp>(
              [&](auto each) { assignPanel(each); })
          .Case<tile::ReducePanelOp, tile::SelectPanelOp>([&](auto each) {
            assignPanel(each);
            assignMore(each);
          })
          .Case([&](tile::StackPanelsOp stacks) { assignStacks(stacks); })
          .Case([&](tile::ReduceCellsOp reduce) { assignSums(reduce); });
    });
  }

private:
  mlir::AffineExpr constant(int64_t value) { return builder.getAffineConstantExpr(value); }
  mlir::AffineExpr keys() { return builder.getAffineSymbolExpr(2); }
  mlir::AffineExpr cellsOf(int64_t key) { return key ? keys().ceilDiv(key) : constant(1); }
  mlir::AffineExpr columnsOf(tile::PanelType type) {
    return type.getElements() ? constant(type.getElements()) : cellsOf(type.getKey());
  }

  mlir::Type elementOf(tile::PanelType type) {
    mlir::Type element = type.getElement();
    return element.isInteger(1)
               ? mlir::IntegerType::get(plan.getContext(), 8, mlir::IntegerType::Unsigned)
               : element;
  }

  template <typename Op> void assignPanel(Op op) {
    tile::PanelType type = op.getPanel().getType();
    if (!op.getScratch())
      op.setScratch(find(op.getLoc(), "panel", elementOf(type), 1, columnsOf(type) + 1,
                         constant(tile::paddedRows(type))));
  }

  void assignStacks(tile::StackPanelsOp op) {
    if (op.getScratch())
      return;
    int64_t heads = plan.getProblem().getQueryHeads();
    llvm::SmallVector<int64_t> slots;
    for (mlir::Type panel : op.getPanels().getTypes()) {
      auto type = llvm::cast<tile::PanelType>(panel);
      slots.push_back(static_cast<int64_t>(find(op.getLoc(), "panels", elementOf(type), 1,
                                                (columnsOf(type) + 1) * heads,
                                                constant(tile::paddedRows(type)))));
    }
    op.setScratch(slots);
  }

  void assignMore(tile::ReducePanelOp op) {
    tile::PanelType type = op.getPanel().getType();
    if (op.getKind() && !op.getAccumulators())
      op.setAccumulators(find(op.getLoc(), "panel_sums", builder.getF64Type(), 1,
                              (columnsOf(type) + 1) * tile::kAccumulatorPlanes,
                              constant(tile::paddedRows(type))));
  }

  void assignMore(tile::SelectPanelOp op) {
    // Scores and what is selected; the order of all cells where prefixes are summed.
    int64_t elements = op.getKind() == tile::Selection::TopK ? 2 : 3;
    if (!op.getRow())
      op.setRow(find(op.getLoc(), "row", builder.getF32Type(), elements, constant(1),
                     columnsOf(op.getPanel().getType())));
  }

  void assignSums(tile::ReduceCellsOp op) {
    if (!op.getKind() || op.getAccumulators())
      return;
    // The rows of results that the item has, each as long as those of the buffer. Distances of a
    // noncausal pattern are negative too, down to that of the first row and last key.
    std::optional<tile::ItemShape> item = tile::itemShape(op.getItem());
    auto queryCell = static_cast<int64_t>(op.getQueryCell());
    int64_t rows = item && queryCell ? std::max<int64_t>(item->rows / queryCell, 1) : 1;
    mlir::AffineExpr cells = op.getDiagonal() ? keys() + builder.getAffineSymbolExpr(1)
                                              : cellsOf(static_cast<int64_t>(op.getKeyCell()));
    int64_t elements =
        tile::kAccumulatorPlanes * static_cast<int64_t>(op.getElements().value_or(1));
    op.setAccumulators(
        find(op.getLoc(), "sums", builder.getF64Type(), elements, constant(rows), cells));
  }

  /// The first buffer of that shape that the program does not have yet; a new one where there is
  /// none.
  uint64_t find(mlir::Location loc, llvm::StringRef name, mlir::Type element, int64_t elements,
                mlir::AffineExpr columns, mlir::AffineExpr rows) {
    mlir::AffineMap extents =
        mlir::AffineMap::get(0, 3, {constant(1), constant(1), columns, rows}, plan.getContext());
    for (auto buffer : plan.getBody().getOps<tile::BufferOp>())
      if (buffer.getPerWorker() && buffer.getElement() == element &&
          static_cast<int64_t>(buffer.getCell()) == elements && buffer.getExtents() == extents &&
          taken.insert(buffer.getSlot()).second)
        return buffer.getSlot();
    uint64_t slot = plan.addBuffer(loc, name, element, elements, extents, /*zeroed=*/false,
                                   /*perWorker=*/true)
                        .getSlot();
    taken.insert(slot);
    return slot;
  }

  tile::PlanOp plan;
  mlir::Builder builder;
  llvm::SmallSet<uint64_t, 16> taken; ///< By the program that is at hand.
};

struct AssignScratchPass : impl::AssignScratchBase<AssignScratchPass> {
  void runOnOperation() override {
    mlir::SymbolTable symbols(getOperation());
    for (auto plan : getOperation().getOps<tile::PlanOp>()) {
      ScratchAssigner assigner(plan);
      for (auto launch : llvm::to_vector(plan.getBody().getOps<tile::LaunchOp>()))
        assigner.assign(symbols.lookup<tile::ProgramOp>(launch.getProgram()));
    }
  }
};

} // namespace
} // namespace skim
