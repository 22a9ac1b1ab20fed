#include "test/bundle/FakeDriver.h"

#include "runtime/cuda/Driver.h"

#include <cstdlib>
#include <cstring>
#include <string>

using namespace skim::cuda;

namespace {

enum : Result { kOk = 0, kOutOfMemory = 2, kInvalidImage = 200, kInvalidPtx = 218 };

// Handles are addresses of whatever does not move.
int object;
template <typename Handle> Handle handle() { return reinterpret_cast<Handle>(&object); }

std::string linked;

Result allocate(void **pointer, size_t bytes) {
  *pointer = std::malloc(bytes);
  return *pointer ? kOk : kOutOfMemory;
}

Result release(void *pointer) {
  std::free(pointer);
  return kOk;
}

} // namespace

extern "C" {

FakeDriver skim_fake_driver;

Result cuGetErrorName(Result result, const char **name) {
  *name = result == kInvalidPtx ? "CUDA_ERROR_INVALID_PTX" : "CUDA_ERROR_INVALID_IMAGE";
  return kOk;
}
Result cuDriverGetVersion(int *version) {
  *version = skim_fake_driver.version;
  return kOk;
}
Result cuDeviceGetCount(int *count) {
  *count = 1;
  return kOk;
}
Result cuDeviceGetName(char *name, int bytes, int) {
  std::strncpy(name, "a device that is not there", static_cast<size_t>(bytes));
  return kOk;
}
/// Of a Hopper GPU; readable host memory, so that nobody asks for pointers.
Result cuDeviceGetAttribute(int *value, int attribute, int) {
  const std::pair<int, int> known[] = {{16, 132}, {75, 9}, {76, 0}, {88, 1}, {97, 232448}};
  *value = 0;
  for (const auto &[number, answer] : known)
    if (number == attribute)
      *value = answer;
  return kOk;
}
Result cuDevicePrimaryCtxRetain(Context *context, int) {
  *context = handle<Context>();
  return kOk;
}
Result cuCtxGetCurrent(Context *context) {
  *context = nullptr;
  return kOk;
}
Result cuMemAlloc_v2(void **pointer, size_t bytes) { return allocate(pointer, bytes); }
Result cuMemHostAlloc(void **pointer, size_t bytes, unsigned) { return allocate(pointer, bytes); }
Result cuMemFree_v2(void *pointer) { return release(pointer); }
Result cuMemFreeHost(void *pointer) { return release(pointer); }
Result cuMemHostGetDevicePointer_v2(void **pointer, void *host, unsigned) {
  *pointer = host;
  return kOk;
}
Result cuModuleLoadDataEx(Module *module, const void *image, unsigned, int *, void **) {
  const bool isCubin = std::strncmp(static_cast<const char *>(image), "\177ELF", 4) == 0;
  if (isCubin ? skim_fake_driver.refusesCubins : skim_fake_driver.refusesPtx)
    return isCubin ? kInvalidImage : kInvalidPtx;
  ++(isCubin ? skim_fake_driver.loadedCubins : skim_fake_driver.loadedPtx);
  *module = handle<Module>();
  return kOk;
}
Result cuModuleGetFunction(Function *function, Module, const char *) {
  *function = handle<Function>();
  return kOk;
}
Result cuFuncGetAttribute(int *value, int, Function) {
  *value = 1024;
  return kOk;
}
Result cuLinkCreate_v2(unsigned, int *, void **, LinkState *state) {
  linked.clear();
  *state = handle<LinkState>();
  return kOk;
}
Result cuLinkAddData_v2(LinkState, int type, void *data, size_t bytes, const char *, unsigned,
                        int *, void **) {
  const char *text = static_cast<const char *>(data);
  if (type != 1 || bytes == 0 || text[bytes - 1] != '\0' || skim_fake_driver.refusesPtx)
    return kInvalidPtx;
  linked = "\177ELF of " + std::to_string(bytes) + " bytes of PTX";
  return kOk;
}
Result cuLinkComplete(LinkState, void **image, size_t *bytes) {
  ++skim_fake_driver.assembled;
  *image = linked.data();
  *bytes = linked.size();
  return kOk;
}

} // extern "C"
