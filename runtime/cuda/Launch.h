// The work of one run on a stream: the runtime's own kernels, then those of the plan.
#ifndef SKIM_RUNTIME_CUDA_LAUNCH_H
#define SKIM_RUNTIME_CUDA_LAUNCH_H

#include "runtime/OperandBinding.h"
#include "runtime/WorkspaceLayout.h"
#include "runtime/cuda/Program.h"
#include "runtime/cuda/Tables.h"
#include "runtime/cuda/TensorMaps.h"

#include <skim/Batch.h>
#include <skim/Operands.h>
#include <skim/Status.h>

#include <cstddef>
#include <vector>

namespace skim::cuda {

/// A run whose arguments are accepted.
struct Launch {
  const Program &program;
  const LaunchPlan &plan;
  const WorkspaceLayout &layout;
  const BatchShape &shape;
  const Operands &operands;
  const TensorView &kept;
  const skim_kernel_args &args; ///< with the operands bound
  const Tables &tables;
  const std::vector<TensorMaps> &maps; ///< one a kernel
  std::byte *workspace;
  Stream stream;

  /// Writes the tables and the work items, and checks lengths and pages on the device.
  Status enqueueSetup() const;
  /// Clears zeroed buffers, and results that requests without rows leave as they are.
  Status enqueueClears() const;
  /// The kernels of the plan, and in front of those that ask for them the order of their items, the
  /// norms of keys and the bits of inputs.
  Status enqueueKernels() const;

private:
  Status launch(Function function, const char *what, unsigned gridX, unsigned gridY,
                unsigned threads, int64_t sharedBytes, void **parameters) const;
  Status enqueueUpload() const;
  Status enqueuePageCheck() const;
  Status enqueueFill(const TensorView &view, int32_t value) const;
  Status enqueueKeyNorms(int64_t buffer) const;
  /// Puts the items of `kernel` into the order of the visits that another has counted.
  Status enqueueOrder(size_t kernel) const;
  /// Whether the items of `kernel` are put into that order: known from the shape.
  bool isOrdered(size_t kernel) const;
  /// Whether `kernel` counts visits that no kernel of this run is ordered by.
  bool countsInVain(size_t kernel) const;
  Status enqueuePackedKeys(const PackedKeys &packed) const;
  /// The most keys of a request that the operands have room for.
  int64_t mostKeys() const;
  Expected<skim_setup_arguments> setupArguments() const;
  skim_setup_kernel setupKernel(size_t kernel) const;
};

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_LAUNCH_H
