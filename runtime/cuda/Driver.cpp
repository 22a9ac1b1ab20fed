#include "runtime/cuda/Driver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <memory>

namespace skim::cuda {

namespace {

constexpr const char *kLibrary = "libcuda.so.1";

/// Stays loaded: the driver keeps threads of its own.
void *library() {
  static void *const handle = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  return handle;
}

Expected<DriverApi> load() {
  if (!library()) {
    const char *reason = dlerror();
    return Status(StatusCode::Environment,
                  std::string("cuda: the driver's library cannot be loaded: ") +
                      (reason ? reason : kLibrary));
  }
  DriverApi api;
  std::string missing;
#define SKIM_CUDA_ENTRY(name, symbol, ...)                                                         \
  api.name = reinterpret_cast<decltype(api.name)>(driverSymbol(symbol));                           \
  if (!api.name)                                                                                   \
    missing += std::string(missing.empty() ? "" : ", ") + symbol;
#include "runtime/cuda/DriverApi.def"
  if (!missing.empty())
    return Status(StatusCode::Environment,
                  "cuda: expected the driver of CUDA 12.0 or later, but this one lacks " + missing);
  if (Status status = api.check(api.init(0), "initialising the driver"); !status)
    return status;
  return api;
}

} // namespace

void *driverSymbol(const char *symbol) { return library() ? dlsym(library(), symbol) : nullptr; }

Status DriverApi::check(Result result, const char *what) const {
  if (result == 0)
    return Status::ok();
  const char *name = nullptr;
  const char *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  std::string message = std::string("cuda: ") + what + " failed with " +
                        (name ? name : "error " + std::to_string(result));
  if (text)
    message += std::string(" (") + text + ")";
  return {StatusCode::Environment, std::move(message)};
}

Expected<const DriverApi *> driver() {
  static const Expected<DriverApi> api = load();
  if (!api)
    return api.status();
  return &*api;
}

Expected<std::string> driverVersion() {
  const Expected<const DriverApi *> api = driver();
  if (!api)
    return api.status();
  int version = 0;
  if (Status status =
          (*api)->check((*api)->driverGetVersion(&version), "asking for the driver's version");
      !status)
    return status;
  std::string text = std::to_string(version);
  Dl_info found = {};
  if (dladdr(driverSymbol("cuInit"), &found) == 0 || !found.dli_fname)
    return text;
  const std::unique_ptr<char, decltype(&std::free)> path(realpath(found.dli_fname, nullptr),
                                                         &std::free);
  const std::string file = path ? path.get() : found.dli_fname;
  return text + " " + file.substr(file.rfind('/') + 1);
}

} // namespace skim::cuda
