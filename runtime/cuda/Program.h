// The kernels of a launch plan, loaded on a device, and its sticky status word.
#ifndef SKIM_RUNTIME_CUDA_PROGRAM_H
#define SKIM_RUNTIME_CUDA_PROGRAM_H

#include "runtime/LaunchPlan.h"
#include "runtime/cuda/Device.h"

#include <skim/Status.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace skim::cuda {

/// One word on the device, which kernels add bits to, and one of the host, which every run's setup
/// copies it to: the host learns of earlier runs without waiting.
class StatusWord {
public:
  static Expected<std::unique_ptr<StatusWord>> create(const Device &device);
  StatusWord(const StatusWord &) = delete;
  StatusWord &operator=(const StatusWord &) = delete;
  ~StatusWord();

  int32_t *onDevice() const { return word_; }
  /// The device's address of the host's word.
  int32_t *reported() const { return reportedOnDevice_; }
  /// What the host has been told so far.
  int32_t seen() const;
  /// Waits for `stream`, reads both words and clears them.
  Expected<int32_t> take(Stream stream) const;

private:
  explicit StatusWord(const Device &device) : device_(device) {}

  const Device &device_;
  int32_t *word_ = nullptr;
  int32_t *host_ = nullptr;
  int32_t *reportedOnDevice_ = nullptr;
};

class Program {
public:
  /// Loads `image` and finds every kernel of the plan in it. `ordinal` as for `Device::open`.
  static Expected<std::shared_ptr<const Program>> load(const LaunchPlan &plan,
                                                       std::string_view image, int ordinal);

  const Device &device() const { return *device_; }
  const StatusWord &status() const { return *status_; }
  Function function(size_t kernel) const { return functions_[kernel]; }
  /// Blocks of the kernel's grid that the device runs at a time.
  int64_t residentBlocks(const CudaLaunch &launch) const {
    return device_->multiprocessors() * launch.blocksPerMultiprocessor;
  }
  /// What a request takes of the shared memory of skim_setup: its tiles, and how many came before.
  static constexpr int64_t kSharedBytesPerRequest = 12;

  /// The most requests that a batch may have.
  int64_t mostRequests() const;

private:
  Program() = default;

  // In the order in which they depend on each other.
  std::shared_ptr<const Device> device_;
  std::unique_ptr<StatusWord> status_;
  std::unique_ptr<LoadedModule> module_;
  std::vector<Function> functions_;
};

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_PROGRAM_H
