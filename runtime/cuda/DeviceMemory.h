// Memory, streams and times of a CUDA device, for those who have no framework that provides them.
#ifndef SKIM_RUNTIME_CUDA_DEVICEMEMORY_H
#define SKIM_RUNTIME_CUDA_DEVICEMEMORY_H

#include "runtime/cuda/Device.h"

#include <skim/Status.h>
#include <skim/TensorView.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace skim::cuda {

/// Allocations that live as long as the object, in the order of a stream of their own.
class DeviceArena {
public:
  static Expected<std::unique_ptr<DeviceArena>> create(std::shared_ptr<const Device> device);
  DeviceArena(const DeviceArena &) = delete;
  DeviceArena &operator=(const DeviceArena &) = delete;
  ~DeviceArena();

  Stream stream() const { return stream_; }

  Expected<std::span<std::byte>> allocate(size_t bytes);
  /// The same view over a copy of all that it covers. Views without elements stay as they are.
  Expected<TensorView> copyIn(const TensorView &view);
  /// The same view over new memory of arbitrary contents.
  Expected<TensorView> like(const TensorView &view);
  /// Waits for the stream and copies a dense view's elements to `into`.
  Status copyOut(const TensorView &view, std::span<std::byte> into);
  /// Seconds between two points of the stream, with what `enqueue` put there between them.
  template <typename Enqueue> Expected<double> time(const Enqueue &enqueue) {
    if (Status status = mark(first_); !status)
      return status;
    if (Status status = enqueue(); !status)
      return status;
    return elapsed();
  }

private:
  explicit DeviceArena(std::shared_ptr<const Device> device);
  Status mark(Event event);
  Expected<double> elapsed();

  std::shared_ptr<const Device> device_;
  CurrentContext current_;
  Stream stream_ = nullptr;
  Event first_ = nullptr;
  Event last_ = nullptr;
  std::vector<void *> allocations_;
};

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_DEVICEMEMORY_H
