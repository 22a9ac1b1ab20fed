// What the processor of this machine runs.
#ifndef SKIM_RUNTIME_CPU_MACHINE_H
#define SKIM_RUNTIME_CPU_MACHINE_H

#include <span>
#include <string_view>

namespace skim {

/// The CPU targets whose code this machine runs, the best first: of x86-64-v4, x86-64-v3 and
/// x86-64-v2, or aarch64.
std::span<const std::string_view> machineTargets();

} // namespace skim

#endif // SKIM_RUNTIME_CPU_MACHINE_H
