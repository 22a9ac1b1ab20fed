// Panels: what the rows of one work item make of all keys, computed where a program needs it.
#ifndef SKIM_PASSES_PANELS_H
#define SKIM_PASSES_PANELS_H

#include "passes/PatternFormula.h"
#include "passes/ScalarEmitter.h"

namespace skim {

/// Computes ahead, at the end of one block of a program, what a value needs there that takes more
/// than scalar operations at one position: products, reductions, selections for fine rows.
class PanelBuilder {
public:
  /// `rows` are the positions of the tile of rows of `item`; 0 where it has no query axis.
  PanelBuilder(ir::PatternOp pattern, tile::PlanOp plan, mlir::Value item, int64_t rows,
               mlir::OpBuilder &builder, ScalarEmitter &emitter)
      : pattern(pattern), plan(plan), item(item), rows(rows), builder(builder), emitter(emitter) {}

  /// Fails with a diagnostic at what cannot be computed.
  mlir::LogicalResult prepare(mlir::Value value);
  /// What the literals need.
  mlir::LogicalResult prepare(const PatternFormula &formulas);

  /// A `tile.contribute` of a map's cells at the end of `body`, where the emitter may write too: in
  /// cells of `axes`, as vectors of `elements` where that is not 0.
  void contribute(mlir::Value map, const ir::Axes &axes, int64_t elements);
  /// The region of a contribution, made ahead: the operation that will hold it may stand behind
  /// what the emitter writes for it. With `elementColumns` the second position is an element.
  void writeContribution(mlir::Value map, mlir::Region &region, int64_t elements,
                         bool elementColumns);
  /// What a cell is at one place.
  using EmitCell = llvm::function_ref<Scalar(ScalarEmitter &, ScalarEmitter::Place &)>;
  /// As `writeContribution`, of cells that `emit` gives; integers where `isIndex`.
  void writeCells(mlir::Location loc, const ir::Axes &axes, bool isIndex, int64_t elements,
                  bool elementColumns, EmitCell emit, mlir::Region &region);

  /// A panel of the map's cells, each computed at its place.
  mlir::FailureOr<mlir::Value> tabulate(mlir::Value map);
  mlir::LogicalResult buildSmooth(ir::SmoothOp smooth);

private:
  mlir::LogicalResult build(mlir::Operation *op);
  mlir::LogicalResult buildDot(ir::DotOp dot);
  mlir::LogicalResult buildReduction(ir::ReduceOp reduce);
  /// What vectors over rows and keys need that `reduce` joins over heads: a panel for each head.
  mlir::LogicalResult buildStacks(ir::ReduceOp reduce);
  mlir::LogicalResult buildCast(ir::CastOp cast);
  mlir::LogicalResult buildSelection(mlir::Operation *op);
  mlir::LogicalResult buildCover(ir::CoverOp cover);
  /// The vectors of the rows as a panel.
  mlir::FailureOr<mlir::Value> rowVectors(mlir::Value map);

  mlir::FailureOr<tile::PanelType> panelType(mlir::Location loc, const ir::Axes &axes,
                                             int64_t elements, mlir::Type element);

  ir::PatternOp pattern;
  tile::PlanOp plan;
  mlir::Value item;
  int64_t rows;
  mlir::OpBuilder &builder;
  ScalarEmitter &emitter;
};

/// An item inside of another, with an emitter of its own.
struct InnerItem {
  InnerItem(ir::PatternOp pattern, tile::PlanOp plan, mlir::Block &block)
      : builder(mlir::OpBuilder::atBlockEnd(&block)),
        emitter(pattern, plan, block.getArgument(0), builder) {}

  mlir::OpBuilder builder;
  ScalarEmitter emitter;
};

/// The reduction that the tile dialect names.
tile::Reduction reductionOf(ir::ReduceKind kind);

} // namespace skim

#endif // SKIM_PASSES_PANELS_H
