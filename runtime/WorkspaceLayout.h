// Where in the workspace everything lies that a run needs.
#ifndef SKIM_RUNTIME_WORKSPACELAYOUT_H
#define SKIM_RUNTIME_WORKSPACELAYOUT_H

#include "runtime/LaunchPlan.h"

#include <skim/Batch.h>
#include <skim/Status.h>

#include <array>
#include <cstdint>
#include <vector>

namespace skim {

struct BufferPlacement {
  int64_t offset = 0; ///< bytes from the start of the workspace
  int64_t bytes = 0;
  std::array<int64_t, 4> extents{};
  std::array<int64_t, 4> strides{}; ///< in elements
};

/// What one kernel has to itself on a device, where all kernels of a run are in flight together.
struct KernelRegion {
  int64_t items = 0;     ///< skim_work_item[mostItems]
  int64_t itemCount = 0; ///< int32_t
  int64_t nextItem = 0;  ///< int32_t
  int64_t mostItems = 0;
  /// skim_item_group[mostGroups], of a kernel that counts visits; else there is none.
  int64_t groups = 0;
  int64_t mostGroups = 0;
};

/// Offsets in bytes, each a multiple of Plan::kWorkspaceAlignment.
struct WorkspaceLayout {
  int64_t arguments = 0;    ///< skim_kernel_args, on a device
  int64_t status = 0;       ///< int32_t, the sticky status word
  int64_t parameters = 0;   ///< skim_parameter[parameters]
  int64_t scalars = 0;      ///< skim_scalar, the parameters' values one after another
  int64_t inputs = 0;       ///< skim_buffer[inputs]
  int64_t capacities = 0;   ///< int32_t[inputs], stands in for list counts that were not given
  int64_t buffers = 0;      ///< skim_buffer[buffers]
  int64_t requestOrder = 0; ///< int32_t[requests]
  int64_t workItems = 0;    ///< skim_work_item[most items of a kernel], refilled for each kernel
  int64_t statistics = 0;   ///< skim_statistics of these items
  std::vector<BufferPlacement> placements;
  /// On a device: from 0, `arguments` to `buffers`, whole 16-byte words.
  int64_t tableBytes = 0;
  int64_t pageChecks = 0;            ///< on a device: what its look at the block table found
  std::vector<KernelRegion> kernels; ///< on a device
  int64_t bytes = 0;                 ///< of the whole workspace
  /// The most workers that may run, 0 where no buffer limits them.
  int64_t workers = 0;
};

/// How many values a parameter's slot holds.
int64_t scalarCount(const ParameterDescription &parameter, const Signature &signature);

/// Fails when a size overflows or a buffer's extent is negative. Buffers of workers have
/// `workers` slices.
Expected<WorkspaceLayout> layOutWorkspace(const LaunchPlan &plan, const BatchShape &shape,
                                          int64_t workers);

/// The same for a device whose grids have up to `workers` blocks. What the host writes comes first.
/// Fails also where a kernel has more work items than its 32-bit counters hold.
Expected<WorkspaceLayout> layOutDeviceWorkspace(const LaunchPlan &plan, const BatchShape &shape,
                                                int64_t workers);

} // namespace skim

#endif // SKIM_RUNTIME_WORKSPACELAYOUT_H
