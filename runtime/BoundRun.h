// A run on the CPU between the checks of its arguments and its first kernel.
#ifndef SKIM_RUNTIME_BOUNDRUN_H
#define SKIM_RUNTIME_BOUNDRUN_H

#include "runtime/LaunchPlan.h"
#include "runtime/WorkItems.h"
#include "runtime/WorkspaceLayout.h"

#include <skim/Kernel.h>

#include <cstddef>
#include <span>

namespace skim {

/// What the kernels of a run are given.
struct BoundRun {
  skim_kernel_args args = {};
  BatchLengths lengths = {};
  std::span<const int32_t> order;   ///< requests with rows, those with the most keys first
  skim_work_item *items = nullptr;  ///< room for the work items of any kernel of the plan
  const ThreadPool *pool = nullptr; ///< null: the calling thread alone
  int64_t threads = 0;
};

/// Checks all arguments and sets up the workspace. Nothing but the workspace is written where one
/// is refused; allocates nothing on success.
Status bindRun(const LaunchPlan &plan, const BatchShape &shape, const WorkspaceLayout &layout,
               const Operands &operands, const Parameters &parameters,
               std::span<std::byte> workspaceMemory, const RunOptions &options, BoundRun &bound);

/// What the kernels met out of range.
Status stickyStatus(const LaunchPlan &plan, const BoundRun &bound);

} // namespace skim

#endif // SKIM_RUNTIME_BOUNDRUN_H
