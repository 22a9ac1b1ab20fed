// What the host writes into the workspace of a run: the arguments of the kernels and the tables of
// parameters, inputs and buffers, with the device's addresses in them.
#ifndef SKIM_RUNTIME_CUDA_TABLES_H
#define SKIM_RUNTIME_CUDA_TABLES_H

#include "runtime/OperandBinding.h"
#include "runtime/WorkspaceLayout.h"
#include "runtime/cuda/device/SetupArguments.h"

#include <skim/Operands.h>
#include <skim/Parameters.h>
#include <skim/Status.h>

#include <cstddef>
#include <memory>
#include <span>

namespace skim::cuda {

/// The first `tableBytes` of a workspace, made on the host.
class Tables {
public:
  explicit Tables(const WorkspaceLayout &layout);

  /// Binds parameters, inputs and buffers, and completes `args`, whose operands are bound.
  Status fill(const LaunchPlan &plan, const Operands &operands, const Parameters &parameters,
              const LengthBounds &bounds, std::byte *workspace, int32_t *status,
              skim_kernel_args args);

  std::span<const std::byte> bytes() const { return {memory(), size_}; }
  std::span<const skim_buffer> inputs() const { return inputs_; }

private:
  std::byte *memory() const { return size_ <= sizeof(small_) ? small_ : large_.get(); }

  const WorkspaceLayout &layout_;
  size_t size_;
  alignas(16) mutable std::byte small_[4096];
  std::unique_ptr<std::byte[]> large_; ///< where `small_` is too small
  std::span<const skim_buffer> inputs_;
};

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_TABLES_H
