// From the operands of a launch to the fields of the kernels' arguments.
#ifndef SKIM_RUNTIME_OPERANDBINDING_H
#define SKIM_RUNTIME_OPERANDBINDING_H

#include "runtime/LaunchPlan.h"
#include "runtime/WorkItems.h"

#include <skim/Batch.h>
#include <skim/Kernel.h>
#include <skim/Operands.h>
#include <skim/Status.h>
#include <skim/abi.h>

#include <cstddef>
#include <span>

namespace skim {

/// What operands and inputs are checked against: the lengths where the host holds them, else what
/// holds for all lengths that the plan's shape admits.
struct LengthBounds {
  int64_t requests = 0;
  int64_t tokens = 0;    ///< rows that q, out and lse must have
  int64_t longestKv = 0; ///< keys that results with an axis of keys must have room for
  /// Null where the device alone holds the lengths: what depends on them is its own to check.
  const BatchLengths *lengths = nullptr;
};

/// Checks the lengths of the batch against the plan's shape.
Expected<BatchLengths> bindLengths(const Operands &operands, const BatchShape &shape);
LengthBounds boundsOf(const BatchLengths &lengths);
/// The same for lengths in the memory of a device, which the host does not read.
Expected<LengthBounds> bindDeviceLengths(const Operands &operands, const BatchShape &shape);

/// Checks q, k, v, the page or sequence tables, out, lse, compact and kept against the signature
/// and the lengths, and fills their fields of `args`. Allocates nothing unless it fails.
Status bindOperands(const Signature &signature, const Operands &operands, const TensorView &kept,
                    const LengthBounds &bounds, skim_kernel_args &args);

/// Checks that no result (those of the operands and of the options, the workspace) shares memory
/// with an argument or another result. The arguments have passed their own checks.
Status checkAliasing(const Operands &operands, const RunOptions &options,
                     std::span<const std::byte> workspace);

} // namespace skim

#endif // SKIM_RUNTIME_OPERANDBINDING_H
