#include "codegen/cpu/Target.h"

#include "runtime/cpu/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using namespace skim::cpu;

static constexpr const char *x86 = "x86_64-unknown-linux-gnu";
static constexpr const char *arm = "aarch64-unknown-linux-gnu";

// The register blocks fill the registers with accumulators and leave room for the vectors of the
// other operand and one broadcast.
static const Target allTargets[] = {
    {"x86-64-v2", x86, "x86-64-v2", 4, 16, false, false, 4, 4, 2},
    {"x86-64-v3", x86, "x86-64-v3", 8, 16, true, true, 6, 6, 2},
    {"x86-64-v4", x86, "x86-64-v4", 16, 32, true, true, 6, 6, 2},
    {"aarch64", arm, "generic", 4, 32, true, true, 8, 8, 2},
};

/// One thread of a device that runs many.
static const Target scalar = {"scalar", "", "", 1, 32, true, true, 4, 4, 2};

ArrayRef<Target> skim::cpu::targets() { return allTargets; }
const Target &skim::cpu::scalarTarget() { return scalar; }

bool skim::cpu::hostRuns(const Target &target) {
  return is_contained(machineTargets(), std::string_view(target.name));
}

Expected<const Target *> skim::cpu::findTarget(StringRef name) {
  if (name == scalar.name)
    return &scalar;
  const Target *best = nullptr;
  for (const Target &target : allTargets) {
    if (target.name == name)
      return &target;
    if (hostRuns(target))
      best = &target;
  }
  if (name != "native") {
    std::string names = join(map_range(allTargets, [](const Target &t) { return t.name; }), ", ");
    return createStringError("unknown CPU target '" + name + "', expected native, " + names);
  }
  if (!best)
    return createStringError("this machine (" + sys::getProcessTriple() +
                             ") runs code of no CPU target");
  return best;
}
