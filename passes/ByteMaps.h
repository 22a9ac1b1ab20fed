// Sets that a kernel of their own writes as bytes, one a cell.
#ifndef SKIM_PASSES_BYTEMAPS_H
#define SKIM_PASSES_BYTEMAPS_H

#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/algebra/TileVisits.h"

namespace skim {

/// Adds a cleared workspace buffer of bytes with these axes; returns its slot.
int64_t addByteMap(tile::PlanOp plan, mlir::Location loc, llvm::StringRef name,
                   const ir::Axes &axes);

/// Puts the bytes in buffer `slot` in the place of a set's operation, which goes away.
void replaceByStored(mlir::Operation *set, int64_t slot);

/// Adds a program that sets the bytes of the blocks which hold a visible pair of the set that is
/// `operand`, and their buffer; returns its slot. Each row decides for itself where `queryBlock` is
/// 0. Covers in the set are stored first where `storeCoversWithin` says so. Fails with a diagnostic
/// when the set has no formula.
mlir::FailureOr<int64_t> addCoverProgram(ir::PatternOp pattern, tile::PlanOp plan,
                                         mlir::Location loc, llvm::StringRef name,
                                         mlir::OpOperand &operand, int64_t queryBlock,
                                         int64_t keyBlock);

/// What the warning says of a cover that is stored though it is affine.
inline constexpr llvm::StringLiteral kByteMap =
    "the cover has no closed form of bearable size; a kernel of its own writes it as bytes";

/// Adds the program of a cover and replaces the cover by what it stores.
mlir::LogicalResult storeCover(ir::PatternOp pattern, tile::PlanOp plan, ir::CoverOp cover);

/// Stores the covers that the set that is `operand` is made of, if its tiles of `shape` have no
/// closed form: its pairs are then tested one by one, and a single pair does not tell what a cover
/// of others is.
mlir::LogicalResult storeCoversWithin(ir::PatternOp pattern, tile::PlanOp plan, mlir::Location loc,
                                      mlir::OpOperand &operand, TileShape shape);

} // namespace skim

#endif // SKIM_PASSES_BYTEMAPS_H
