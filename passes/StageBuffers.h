// Buffers and loops that the stages before attention are made of.
#ifndef SKIM_PASSES_STAGEBUFFERS_H
#define SKIM_PASSES_STAGEBUFFERS_H

#include "passes/ScalarEmitter.h"

namespace skim {

/// Adds a workspace buffer with these axes, whose cells hold `elements` elements each; returns its
/// slot. `name` is numbered when the plan has it already.
int64_t addCells(tile::PlanOp plan, mlir::Location loc, llvm::StringRef name, const ir::Axes &axes,
                 mlir::Type element, int64_t elements, bool zeroed);

/// A `tile.contribute` in cells of `axes`, whose region is taken.
void createContribution(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value item,
                        const ir::Axes &axes, int64_t elements, mlir::Region &region);
/// The heads of axis `from` that are joined into one of axis `to`.
tile::HeadGroup joinedHeads(ir::HeadAxis from, ir::HeadAxis to);
/// A loop over the heads of axis `from` that are joined into one of axis `to`; returns its block.
mlir::Block &createHeadLoop(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value item,
                            ir::HeadAxis from, ir::HeadAxis to);

/// A loop over tiles of `rows` positions, from `first` on where it is not null; returns its block.
mlir::Block &createRowLoop(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value item,
                           int64_t rows, mlir::Value first);

/// A count or mass as f64; NaN, which selects nothing, where it is undefined.
mlir::Value selectionAmount(mlir::OpBuilder &builder, mlir::Location loc, const Scalar &amount);

} // namespace skim

#endif // SKIM_PASSES_STAGEBUFFERS_H
