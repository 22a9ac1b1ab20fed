// A batch of the runtime's tests in the memory of a device.
#ifndef SKIM_TEST_GPU_DEVICEPROBLEM_H
#define SKIM_TEST_GPU_DEVICEPROBLEM_H

#include "test/gpu/Device.h"
#include "test/runtime/Problem.h"

#include <cstdint>
#include <vector>

namespace skim::test {

/// The kernel `attention` of TestKernels.c over every layout.
LaunchPlan attentionPlan(const Heads &heads);

/// The arrays of a problem on the device. `out` and `lse` start as bytes 0xcd.
struct DeviceProblem {
  explicit DeviceProblem(const Problem &problem);

  Operands operands() const;
  /// Moves keys and values into pages: request by request, page by page, over the cache backwards,
  /// with one unused page between any two.
  void page(const Problem &problem, int64_t pageSize, KvLayout layout);
  /// Copies the results back, for `expectAttention`.
  void read(Problem &problem) const;

  Operands views; ///< of the host's shapes
  DeviceArray<int32_t> cuSeqlensQ, kvLens, cuSeqlensKv, blockTable;
  DeviceArray<float> q, k, v;
  DeviceBytes out, lse;
};

} // namespace skim::test

#endif // SKIM_TEST_GPU_DEVICEPROBLEM_H
