// Sets that a kernel of their own writes as bytes, one a cell.
#ifndef SKIM_PASSES_BYTEMAPS_H
#define SKIM_PASSES_BYTEMAPS_H

#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"

namespace skim {

/// Adds a workspace buffer with these axes, whose cells hold `elements` elements each; returns its
/// slot.
int64_t addCells(tile::PlanOp plan, mlir::Location loc, llvm::StringRef name, const ir::Axes &axes,
                 mlir::Type element, int64_t elements, bool zeroed);
/// Adds a cleared workspace buffer of bytes with these axes; returns its slot.
int64_t addByteMap(tile::PlanOp plan, mlir::Location loc, llvm::StringRef name,
                   const ir::Axes &axes);

/// Adds a program that sets the bytes of the blocks which hold a visible pair of `set`, and their
/// buffer; returns its slot. Each row decides for itself where `queryBlock` is 0. Fails with a
/// diagnostic when the set has no formula.
mlir::FailureOr<int64_t> addCoverProgram(ir::PatternOp pattern, tile::PlanOp plan,
                                         mlir::Location loc, llvm::StringRef name, mlir::Value set,
                                         int64_t queryBlock, int64_t keyBlock);

} // namespace skim

#endif // SKIM_PASSES_BYTEMAPS_H
