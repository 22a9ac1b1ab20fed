#include "runtime/cuda/Program.h"

#include <string>

namespace skim::cuda {

namespace {

// Numbers of the driver's enumerations and flags.
constexpr int kMaxDynamicSharedBytes = 8;
constexpr int kMaxThreadsPerBlock = 0;
constexpr unsigned kHostPortable = 1;
constexpr unsigned kHostMapped = 2;

Status checkLaunch(const Device &device, const KernelDescription &kernel, Function function) {
  const DriverApi &api = device.api();
  const CudaLaunch &launch = *kernel.cuda;
  const std::string name = "kernel '" + kernel.symbol + "'";
  if (launch.sharedBytes > device.sharedBytesPerBlock())
    return {StatusCode::Unsupported, name + ": needs " + std::to_string(launch.sharedBytes) +
                                         " bytes of shared memory a block, but " + device.name() +
                                         " has " + std::to_string(device.sharedBytesPerBlock())};
  int most = 0;
  if (Status status = api.check(api.functionGetAttribute(&most, kMaxThreadsPerBlock, function),
                                "asking for a kernel's block size");
      !status)
    return status;
  if (launch.threads > most)
    return {StatusCode::Unsupported, name + ": has blocks of " + std::to_string(launch.threads) +
                                         " threads, but its code runs on at most " +
                                         std::to_string(most)};
  return api.check(api.functionSetAttribute(function, kMaxDynamicSharedBytes,
                                            static_cast<int>(launch.sharedBytes)),
                   "reserving shared memory");
}

} // namespace

Expected<std::unique_ptr<StatusWord>> StatusWord::create(const Device &device) {
  const DriverApi &api = device.api();
  std::unique_ptr<StatusWord> word(new StatusWord(device));
  void *host = nullptr;
  void *onDevice = nullptr;
  if (Status status =
          api.check(api.memoryAllocate(&onDevice, sizeof(int32_t)), "allocating the status word");
      !status)
    return status;
  word->word_ = static_cast<int32_t *>(onDevice);
  if (Status status =
          api.check(api.fillBytes(word->word_, 0, sizeof(int32_t)), "clearing the status word");
      !status)
    return status;
  // Streams that do not wait for the default one may come next.
  if (Status status = api.check(api.streamSynchronize(nullptr), "clearing the status word");
      !status)
    return status;
  if (Status status =
          api.check(api.hostAllocate(&host, sizeof(int32_t), kHostPortable | kHostMapped),
                    "allocating the host's status word");
      !status)
    return status;
  word->host_ = static_cast<int32_t *>(host);
  *word->host_ = 0;
  if (Status status =
          api.check(api.hostGetDevicePointer(&onDevice, host, 0), "mapping the host's status word");
      !status)
    return status;
  word->reportedOnDevice_ = static_cast<int32_t *>(onDevice);
  return word;
}

StatusWord::~StatusWord() {
  const CurrentContext current(device_.api(), device_.context());
  if (word_)
    device_.api().memoryFree(word_);
  if (host_)
    device_.api().hostFree(host_);
}

int32_t StatusWord::seen() const { return __atomic_load_n(host_, __ATOMIC_RELAXED); }

Expected<int32_t> StatusWord::take(Stream stream) const {
  const DriverApi &api = device_.api();
  int32_t bits = 0;
  if (Status status = api.check(api.copyToHostAsync(&bits, word_, sizeof(bits), stream),
                                "reading the status word");
      !status)
    return status;
  if (Status status = api.check(api.streamSynchronize(stream), "waiting for the stream"); !status)
    return status;
  if (bits == 0 && seen() == 0)
    return 0;
  if (Status status =
          api.check(api.fillBytesAsync(word_, 0, sizeof(bits), stream), "clearing the status word");
      !status)
    return status;
  if (Status status = api.check(api.streamSynchronize(stream), "waiting for the stream"); !status)
    return status;
  return bits | __atomic_exchange_n(host_, 0, __ATOMIC_RELAXED);
}

Expected<std::shared_ptr<const Program>> Program::load(const LaunchPlan &plan,
                                                       std::string_view image, int ordinal) {
  for (const KernelDescription &kernel : plan.kernels)
    if (!kernel.cuda)
      return Status(StatusCode::InvalidArgument,
                    "kernel '" + kernel.symbol +
                        "': expected a plan for CUDA devices but got one for the CPU");
  Expected<std::shared_ptr<const Device>> device = Device::open(ordinal);
  if (!device)
    return device.status();
  std::shared_ptr<Program> program(new Program());
  program->device_ = *device;
  const DriverApi &api = program->device_->api();
  const CurrentContext current(api, program->device_->context());
  if (!current.status())
    return current.status();

  Expected<std::unique_ptr<StatusWord>> word = StatusWord::create(*program->device_);
  if (!word)
    return word.status();
  program->status_ = *std::move(word);
  Expected<LoadedModule> loaded = LoadedModule::load(api, program->device_->context(), image);
  if (!loaded)
    return loaded.status();
  program->module_ = std::make_unique<LoadedModule>(*std::move(loaded));
  for (const KernelDescription &kernel : plan.kernels) {
    const Expected<Function> function = program->module_->function(kernel.symbol);
    if (!function)
      return function.status();
    if (Status status = checkLaunch(*program->device_, kernel, *function); !status)
      return status;
    program->functions_.push_back(*function);
  }
  return std::shared_ptr<const Program>(std::move(program));
}

int64_t Program::mostRequests() const {
  return (device_->sharedBytesPerBlock() - Device::kSetupSharedBytes) / kSharedBytesPerRequest;
}

} // namespace skim::cuda
