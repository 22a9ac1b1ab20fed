// Runs the cases of the numerics tests on a CUDA device.
#ifndef SKIM_TEST_GPU_CUDARUN_H
#define SKIM_TEST_GPU_CUDARUN_H

#include "runtime/cuda/DeviceMemory.h"
#include "test/gpu/Device.h"
#include "test/numerics/CpuRun.h"

#include <memory>
#include <string>

namespace skim::numerics {

/// The options that compile a case for Hopper, and for the pages of a layout.
CompileOptions cudaOptionsFor(const Case &c, const Layout &layout = {});
Expected<Kernel> compileForCuda(const Case &c, const Layout &layout = {});

/// The reference with the means of blocks that the device has: of the operands' type.
ReferenceRun runOnReferenceOfCuda(const Case &c);

/// Operands and results of a run in the memory of a device, as NaN where the host has NaN.
struct DeviceOperands {
  static Expected<DeviceOperands> copy(cuda::DeviceArena &arena, const Operands &host);
  /// Brings results to where `host` has them.
  Status read(cuda::DeviceArena &arena, const Operands &host) const;

  Operands operands;
};

/// Enqueues one run in a workspace of bytes 0xff, and waits. A status of DataOutOfRange leaves
/// results behind. With SKIM_TEST_POISON=0 in the environment the workspace is left as it was
/// allocated, for tools that look for reads of what was never written.
Status runOnce(cuda::DeviceArena &arena, const cuda::DriverApi &api, const Kernel &kernel,
               const BatchShape &shape, const Operands &operands, const Parameters &parameters);

/// Runs as `run` of CpuRun.h does.
void runOnCuda(const std::shared_ptr<const cuda::Device> &device, const Kernel &kernel,
               PreparedRun &prepared);
RunResult runOnCuda(const std::shared_ptr<const cuda::Device> &device, const Kernel &kernel,
                    const Case &c, const Layout &layout = {.padding = 8});

/// Compiles and runs the case, and compares it with the reference.
std::string checkOnCuda(const std::shared_ptr<const cuda::Device> &device, const Case &c,
                        const Layout &layout = {.padding = 8});

/// Tests of whole kernels: skipped, with the reason, where there is no device.
class CudaTest : public test::GpuTest {
protected:
  /// The kernel of a case. Null where it does not compile, after a failure of the test.
  static std::unique_ptr<Kernel> compile(const Case &c, const Layout &layout = {});
  /// As `checkOnCuda`.
  std::string check(const Case &c, const Layout &layout = {.padding = 8}) const {
    return checkOnCuda(device, c, layout);
  }
  RunResult run(const Kernel &kernel, const Case &c, const Layout &layout = {.padding = 8}) const {
    return runOnCuda(device, kernel, c, layout);
  }
};

/// Whether results are the same bits.
bool sameResults(const RunResult &a, const RunResult &b);
/// Whether the rows of `part` are rows [first, ...) of `whole`, bit for bit.
bool areRowsOf(const RunResult &part, const RunResult &whole, int64_t first);

} // namespace skim::numerics

#endif // SKIM_TEST_GPU_CUDARUN_H
