// All operations, by subject.
#ifndef SKIM_DIALECT_TILE_TILEOPS_TD
#define SKIM_DIALECT_TILE_TILEOPS_TD

include "dialect/Tile/ProgramOps.td"
include "dialect/Tile/VisitOps.td"
include "dialect/Tile/MemoryOps.td"
include "dialect/Tile/ComputeOps.td"
include "dialect/Tile/SelectOps.td"
include "dialect/Tile/PanelOps.td"
include "dialect/Tile/ScalarOps.td"
include "dialect/Tile/PlanOps.td"

#endif // SKIM_DIALECT_TILE_TILEOPS_TD
