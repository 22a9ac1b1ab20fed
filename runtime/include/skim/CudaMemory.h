// Memory and a stream of a CUDA device, for programs without a framework that has them.
#ifndef SKIM_CUDAMEMORY_H
#define SKIM_CUDAMEMORY_H

#include <skim/Status.h>
#include <skim/TensorView.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace skim {

namespace cuda {
class DeviceArena;
}

/// Allocations that live as long as the object, and a stream of its own. The driver is loaded when
/// one is opened; no Toolkit is needed. For one thread: while the object lives, the device's
/// context is the current one of the thread that opened it.
class CudaMemory {
public:
  /// `device` counts from 0; -1 takes the calling thread's current context and, where there is
  /// none, device 0. Fails with `Environment` where there is no driver or device.
  static Expected<CudaMemory> open(int device = -1);
  CudaMemory(CudaMemory &&) noexcept;
  CudaMemory &operator=(CudaMemory &&) noexcept;
  ~CudaMemory();

  /// For `RunOptions::stream`; a CUstream.
  void *stream() const;
  /// Memory of arbitrary contents, at an alignment that workspaces and operands may have.
  Expected<std::span<std::byte>> allocate(int64_t bytes);
  /// The same view over new memory of arbitrary contents.
  Expected<TensorView> like(const TensorView &host);
  /// The same view over a copy on the device.
  Expected<TensorView> copyIn(const TensorView &host);
  /// Waits for the stream and copies the elements of a contiguous view on the device to `host`,
  /// which has as many bytes.
  Status copyOut(const TensorView &onDevice, std::span<std::byte> host);

private:
  explicit CudaMemory(std::unique_ptr<cuda::DeviceArena> arena);

  std::unique_ptr<cuda::DeviceArena> arena_;
};

} // namespace skim

#endif // SKIM_CUDAMEMORY_H
