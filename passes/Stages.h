// Maps that a kernel of their own computes once.
#ifndef SKIM_PASSES_STAGES_H
#define SKIM_PASSES_STAGES_H

#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"

namespace skim {

/// Adds the programs that `op` needs before those who use it can run, and puts `tile.stored_map` in
/// the place of what they store. What `op` is computed from is planned already. Does nothing for
/// what is computed where it is used. Fails with a diagnostic.
mlir::LogicalResult planStage(ir::PatternOp pattern, tile::PlanOp plan, mlir::Operation *op);

/// As `planStage`, but stores `op` also where it would be computed row by row.
mlir::LogicalResult storeStage(ir::PatternOp pattern, tile::PlanOp plan, mlir::Operation *op);

} // namespace skim

#endif // SKIM_PASSES_STAGES_H
