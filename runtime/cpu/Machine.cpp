#include "runtime/cpu/Machine.h"

#include <vector>

namespace skim {
namespace {

std::vector<std::string_view> findTargets() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  std::vector<std::string_view> targets;
  if (__builtin_cpu_supports("x86-64-v4"))
    targets.push_back("x86-64-v4");
  if (__builtin_cpu_supports("x86-64-v3"))
    targets.push_back("x86-64-v3");
  if (__builtin_cpu_supports("x86-64-v2"))
    targets.push_back("x86-64-v2");
  return targets;
#elif defined(__aarch64__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return {"aarch64"};
#else
  return {};
#endif
}

} // namespace

std::span<const std::string_view> machineTargets() {
  static const std::vector<std::string_view> targets = findTargets();
  return targets;
}

} // namespace skim
