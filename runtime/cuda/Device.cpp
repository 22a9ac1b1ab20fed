#include "runtime/cuda/Device.h"

#include "runtime/cuda/JitLog.h"
#include "runtime/cuda/KeyNormsImage.h"
#include "runtime/cuda/OrderImage.h"
#include "runtime/cuda/PackKeysImage.h"
#include "runtime/cuda/SetupImage.h"

#include <array>
#include <map>
#include <mutex>

namespace skim::cuda {

namespace {

// Numbers of the driver's enumerations.
enum Attribute : int {
  kMultiprocessorCount = 16,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kPageableMemoryAccess = 88,
  kMaxSharedMemoryPerBlockOptin = 97,
};
constexpr int kMaxDynamicSharedBytes = 8;

} // namespace

Expected<LoadedModule> LoadedModule::load(const DriverApi &api, Context context,
                                          std::string_view image) {
  // The driver reads PTX up to its terminating zero.
  const std::string terminated(image);
  JitLog log;
  Module module = nullptr;
  const Result result =
      api.moduleLoad(&module, terminated.c_str(), log.count(), log.options(), log.values());
  if (Status status = api.check(result, "loading code"); !status)
    return log.explain(status);
  return LoadedModule(api, context, module);
}

LoadedModule::LoadedModule(LoadedModule &&other) noexcept
    : api_(other.api_), context_(other.context_), module_(other.module_) {
  other.module_ = nullptr;
}

LoadedModule::~LoadedModule() {
  if (!module_)
    return;
  const CurrentContext current(*api_, context_);
  api_->moduleUnload(module_);
}

Expected<Function> LoadedModule::function(const std::string &symbol) const {
  Function function = nullptr;
  const std::string what = "looking for kernel '" + symbol + "'";
  if (Status status =
          api_->check(api_->moduleGetFunction(&function, module_, symbol.c_str()), what.c_str());
      !status)
    return status;
  return function;
}

CurrentContext::CurrentContext(const DriverApi &api, Context context)
    : api_(api), status_(api.check(api.contextPush(context), "entering the context")) {}

CurrentContext::~CurrentContext() {
  Context popped = nullptr;
  if (status_)
    api_.contextPop(&popped);
}

Expected<std::shared_ptr<const Device>> Device::open(int ordinal) {
  const Expected<const DriverApi *> loaded = driver();
  if (!loaded)
    return loaded.status();
  const DriverApi &api = **loaded;

  Context context = nullptr;
  int device = 0;
  if (ordinal < 0) {
    if (Status status = api.check(api.contextGetCurrent(&context), "asking for the context");
        !status)
      return status;
    if (context)
      if (Status status = api.check(api.contextGetDevice(&device), "asking for the device");
          !status)
        return status;
  }
  const bool isPrimary = context == nullptr;
  if (isPrimary) {
    int count = 0;
    if (Status status = api.check(api.deviceGetCount(&count), "counting devices"); !status)
      return status;
    const int wanted = ordinal < 0 ? 0 : ordinal;
    if (wanted >= count)
      return Status(StatusCode::Environment, "cuda: expected a device from 0 to " +
                                                 std::to_string(count - 1) + " but got " +
                                                 std::to_string(wanted));
    if (Status status = api.check(api.deviceGet(&device, wanted), "opening the device"); !status)
      return status;
    if (Status status =
            api.check(api.primaryContextRetain(&context, device), "opening the device's context");
        !status)
      return status;
  }
  return create(api, context, device, isPrimary);
}

Expected<std::shared_ptr<const Device>> Device::create(const DriverApi &api, Context context,
                                                       int device, bool isPrimary) {
  static std::mutex mutex;
  static std::map<Context, std::weak_ptr<const Device>> opened;
  const std::lock_guard lock(mutex);
  if (std::shared_ptr<const Device> known = opened[context].lock()) {
    if (isPrimary)
      api.primaryContextRelease(device); // the known one holds it
    return known;
  }
  std::shared_ptr<Device> opening(new Device(api));
  opening->context_ = context;
  opening->releasedDevice_ = isPrimary ? device : -1;
  const CurrentContext current(api, context);
  if (!current.status())
    return current.status();
  if (Status status = opening->readAttributes(device); !status)
    return status;
  if (Status status = opening->loadSetup(); !status)
    return status;
  opened[context] = opening;
  return std::shared_ptr<const Device>(std::move(opening));
}

Device::~Device() {
  modules_.clear();
  if (releasedDevice_ >= 0)
    api_.primaryContextRelease(releasedDevice_);
}

Status Device::readAttributes(int device) {
  std::array<char, 256> name{};
  if (Status status = api_.check(api_.deviceGetName(name.data(), name.size() - 1, device),
                                 "asking for the device's name");
      !status)
    return status;
  name_ = name.data();
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  int sharedBytes = 0;
  int pageable = 0;
  const std::pair<Attribute, int *> attributes[] = {{kComputeCapabilityMajor, &major},
                                                    {kComputeCapabilityMinor, &minor},
                                                    {kMultiprocessorCount, &multiprocessors},
                                                    {kMaxSharedMemoryPerBlockOptin, &sharedBytes},
                                                    {kPageableMemoryAccess, &pageable}};
  for (const auto &[attribute, value] : attributes)
    if (Status status = api_.check(api_.deviceGetAttribute(value, attribute, device),
                                   "asking for an attribute of the device");
        !status)
      return status;
  computeCapability_ = 10 * major + minor;
  multiprocessors_ = multiprocessors;
  sharedBytesPerBlock_ = sharedBytes;
  readsPageableMemory_ = pageable != 0;
  return Status::ok();
}

Status Device::loadSetup() {
  const auto load = [&](const char *image,
                        std::initializer_list<std::pair<const char *, Function *>> functions) {
    Expected<LoadedModule> loaded = LoadedModule::load(api_, context_, image);
    if (!loaded)
      return loaded.status();
    const LoadedModule &module = modules_.emplace_back(*std::move(loaded));
    for (const auto &[symbol, function] : functions) {
      const Expected<Function> found = module.function(symbol);
      if (!found)
        return found.status();
      *function = *found;
    }
    return Status::ok();
  };
  if (Status status = load(kSetupImage, {{"skim_setup", &setup_.setup},
                                         {"skim_upload", &setup_.upload},
                                         {"skim_check_pages", &setup_.checkPages},
                                         {"skim_fill", &setup_.fill}});
      !status)
    return status;
  if (Status status = load(kKeyNormsImage, {{"skim_key_norms", &setup_.keyNorms}}); !status)
    return status;
  if (Status status = load(kOrderImage, {{"skim_longest_items", &setup_.longestItems},
                                         {"skim_order_items", &setup_.orderItems}});
      !status)
    return status;
  if (Status status = load(kPackKeysImage, {{"skim_pack_keys", &setup_.packKeys}}); !status)
    return status;
  // Room for the tiles of many requests.
  return api_.check(
      api_.functionSetAttribute(setup_.setup, kMaxDynamicSharedBytes,
                                static_cast<int>(sharedBytesPerBlock_ - kSetupSharedBytes)),
      "reserving shared memory");
}

} // namespace skim::cuda
