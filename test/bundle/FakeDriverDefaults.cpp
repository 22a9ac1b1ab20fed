// Every entry point that the runtime looks for: succeeds and does nothing, where FakeDriver.cpp
// does not say more.
#include "runtime/cuda/Driver.h"

namespace skim::cuda {
extern "C" {
#define SKIM_CUDA_ENTRY(name, symbol, ...)                                                         \
  __attribute__((weak)) Result fake_##name(__VA_ARGS__) __asm__(symbol);                           \
  Result fake_##name(__VA_ARGS__) { return 0; }
#include "runtime/cuda/DriverApi.def"
}
} // namespace skim::cuda
