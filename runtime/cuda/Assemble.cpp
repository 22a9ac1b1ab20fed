#include "runtime/cuda/Assemble.h"

#include "runtime/cuda/Device.h"
#include "runtime/cuda/JitLog.h"

namespace skim::cuda {

namespace {

constexpr int kInputPtx = 1; // of the driver's enumeration

/// One run of the driver's assembler; owns what it makes.
class Linker {
public:
  explicit Linker(const DriverApi &api) : api_(api) {}
  Linker(const Linker &) = delete;
  Linker &operator=(const Linker &) = delete;
  ~Linker() {
    if (state_)
      api_.linkDestroy(state_);
  }

  Expected<std::string> assemble(std::string_view ptx) {
    // The driver reads PTX up to its terminating zero, which counts.
    std::string terminated(ptx);
    void *image = nullptr;
    size_t bytes = 0;
    if (Status status =
            api_.check(api_.linkCreate(log_.count(), log_.options(), log_.values(), &state_),
                       "starting the assembler");
        !status)
      return status;
    if (Status status =
            api_.check(api_.linkAddData(state_, kInputPtx, terminated.data(), terminated.size() + 1,
                                        "kernels", 0, nullptr, nullptr),
                       "assembling code");
        !status)
      return log_.explain(status);
    if (Status status = api_.check(api_.linkComplete(state_, &image, &bytes), "assembling code");
        !status)
      return log_.explain(status);
    return std::string(static_cast<const char *>(image), bytes);
  }

private:
  const DriverApi &api_;
  JitLog log_;
  LinkState state_ = nullptr;
};

} // namespace

Expected<std::string> assemble(std::string_view ptx, int ordinal) {
  const Expected<std::shared_ptr<const Device>> device = Device::open(ordinal);
  if (!device)
    return device.status();
  const CurrentContext current((*device)->api(), (*device)->context());
  if (!current.status())
    return current.status();
  return Linker((*device)->api()).assemble(ptx);
}

} // namespace skim::cuda
