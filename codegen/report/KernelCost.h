// What one kernel of a plan costs, counted over its work items from its `tile` program.
#ifndef SKIM_CODEGEN_REPORT_KERNELCOST_H
#define SKIM_CODEGEN_REPORT_KERNELCOST_H

#include "dialect/Tile/TileOps.h"
#include <skim/Report.h>

#include <string>

namespace skim::report {

/// Of what only a run can tell: none of it, or all that the positions admit.
enum class Bound { Least, Most };

struct KernelCount {
  Cost cost;
  int64_t workItems = 0;
  double tilesVisited = 0; ///< of tokens, by products with queries
  std::string uncounted;   ///< an operation that the count knows nothing of; empty where none
};

KernelCount countKernel(tile::PlanOp plan, tile::ProgramOp program, const ReportOptions &options,
                        Bound bound);

/// The products of dense attention in the tiles of `attention`.
double denseFlops(tile::PlanOp plan, tile::ProgramOp attention, const ReportOptions &options);

/// Bytes of a worker's scratch that panels of the program with a column for each token take.
double tokenPanelBytes(tile::PlanOp plan, tile::ProgramOp program, const ReportOptions &options);

} // namespace skim::report

#endif // SKIM_CODEGEN_REPORT_KERNELCOST_H
