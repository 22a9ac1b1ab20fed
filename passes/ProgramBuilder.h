// Builds one tile program of a launch plan.
#ifndef SKIM_PASSES_PROGRAMBUILDER_H
#define SKIM_PASSES_PROGRAMBUILDER_H

#include "passes/PatternFormula.h"
#include "passes/ScalarEmitter.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace skim {

/// One program whose body grows at its end; on construction it is added to the plan's module and
/// launches.
class ProgramBuilder {
public:
  struct Shape {
    llvm::StringRef name; ///< Made unique in the module.
    TileShape tile;
    tile::HeadKind head;
    tile::ItemAxis axis;
    /// Set: how a target with a pipeline runs it. Its tiles have the shape above.
    tile::ScheduleAttr schedule = {};
  };

  ProgramBuilder(ir::PatternOp pattern, tile::PlanOp plan, mlir::Location loc, const Shape &shape);
  ProgramBuilder(const ProgramBuilder &) = delete;
  ProgramBuilder &operator=(const ProgramBuilder &) = delete;

  mlir::Value item() const { return workItem; }
  mlir::OpBuilder &builder() { return itemBuilder; }
  ScalarEmitter &scalars() { return emitter; }
  mlir::Type index() { return itemBuilder.getIndexType(); }

  /// A formula whose symbols and literals stand in the program.
  struct Visible {
    llvm::SmallVector<mlir::Value> symbols;
    llvm::SmallVector<mlir::Value> literals;
  };
  Visible materialize(const PatternFormula &formulas);
  /// The formula as one truth value at (query, key), by operations at the end of `builder`'s block.
  static mlir::Value emit(const Formula &formula, const Visible &visible, mlir::OpBuilder &builder,
                          mlir::Location loc, mlir::Value query, mlir::Value key);

  /// A region of its own whose block has arguments of `types`; its values that are one for the
  /// item land before the operation that takes the region.
  struct DetachedRegion {
    DetachedRegion(llvm::ArrayRef<mlir::Type> types, mlir::Location loc);
    mlir::Region region;
    mlir::Block *block;
    mlir::OpBuilder builder;
  };

  /// `#tile.interval` attributes.
  mlir::ArrayAttr intervals(llvm::ArrayRef<TileInterval> list);

private:
  mlir::Value literal(const PatternLiteral &literal);

  tile::PlanOp plan;
  mlir::Location loc;
  mlir::OpBuilder itemBuilder;
  mlir::Value workItem;
  ScalarEmitter emitter;
};

} // namespace skim

#endif // SKIM_PASSES_PROGRAMBUILDER_H
