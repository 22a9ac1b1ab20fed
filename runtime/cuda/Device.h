// A CUDA device with the context that kernels are loaded into.
#ifndef SKIM_RUNTIME_CUDA_DEVICE_H
#define SKIM_RUNTIME_CUDA_DEVICE_H

#include "runtime/cuda/Driver.h"

#include <skim/Status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skim::cuda {

/// A loaded image of code, unloaded with the object.
class LoadedModule {
public:
  /// Loads PTX text or the bytes of a cubin or fat binary into the current context. A failure has
  /// the log of the driver's compiler.
  static Expected<LoadedModule> load(const DriverApi &api, Context context, std::string_view image);

  LoadedModule(LoadedModule &&other) noexcept;
  LoadedModule &operator=(LoadedModule &&) = delete;
  LoadedModule(const LoadedModule &) = delete;
  LoadedModule &operator=(const LoadedModule &) = delete;
  ~LoadedModule();

  Expected<Function> function(const std::string &symbol) const;

private:
  LoadedModule(const DriverApi &api, Context context, Module module)
      : api_(&api), context_(context), module_(module) {}

  const DriverApi *api_;
  Context context_;
  Module module_;
};

/// Makes a context current for the life of the object.
class CurrentContext {
public:
  CurrentContext(const DriverApi &api, Context context);
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;
  ~CurrentContext();

  const Status &status() const { return status_; }

private:
  const DriverApi &api_;
  Status status_;
};

/// The kernels of the runtime itself (device/Setup.c, KeyNorms.c, Order.c and PackKeys.c).
struct SetupFunctions {
  Function setup = nullptr;
  Function upload = nullptr;
  Function checkPages = nullptr;
  Function fill = nullptr;
  Function keyNorms = nullptr;
  Function longestItems = nullptr;
  Function orderItems = nullptr;
  Function packKeys = nullptr;
};

/// Immutable and shared by all kernels of one context.
class Device {
public:
  /// Static shared memory of skim_setup, and room to spare.
  static constexpr int64_t kSetupSharedBytes = 2048;

  /// The device of the calling thread's current context, or, where there is none, the primary
  /// context of device 0. `ordinal` from 0: the primary context of that device.
  static Expected<std::shared_ptr<const Device>> open(int ordinal = -1);

  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device();

  const DriverApi &api() const { return api_; }
  Context context() const { return context_; }
  const std::string &name() const { return name_; }
  /// 90 for compute capability 9.0.
  int64_t computeCapability() const { return computeCapability_; }
  int64_t multiprocessors() const { return multiprocessors_; }
  /// The most shared memory that one block can have.
  int64_t sharedBytesPerBlock() const { return sharedBytesPerBlock_; }
  /// Whether the device reads memory that `malloc` gave.
  bool readsPageableMemory() const { return readsPageableMemory_; }
  const SetupFunctions &setup() const { return setup_; }

private:
  explicit Device(const DriverApi &api) : api_(api) {}
  static Expected<std::shared_ptr<const Device>> create(const DriverApi &api, Context context,
                                                        int device, bool isPrimary);
  Status readAttributes(int device);
  Status loadSetup();

  const DriverApi &api_;
  Context context_ = nullptr;
  int releasedDevice_ = -1; ///< the primary context to give back
  std::string name_;
  int64_t computeCapability_ = 0;
  int64_t multiprocessors_ = 0;
  int64_t sharedBytesPerBlock_ = 0;
  bool readsPageableMemory_ = false;
  std::vector<LoadedModule> modules_;
  SetupFunctions setup_;
};

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_DEVICE_H
