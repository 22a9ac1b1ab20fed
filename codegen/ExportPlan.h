// From `tile.plan` to the launch plan of the runtime.
#ifndef SKIM_CODEGEN_EXPORTPLAN_H
#define SKIM_CODEGEN_EXPORTPLAN_H

#include "dialect/Tile/TileOps.h"
#include "runtime/LaunchPlan.h"

namespace skim {

/// The plan as the runtime reads it. Fails with a diagnostic on an element type or an extent that
/// the runtime has no word for.
mlir::FailureOr<LaunchPlan> exportPlan(tile::PlanOp plan);

} // namespace skim

#endif // SKIM_CODEGEN_EXPORTPLAN_H
