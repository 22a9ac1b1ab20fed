// From the parameters of a launch, by name, to the values of the plan's slots.
#ifndef SKIM_RUNTIME_PARAMETERBINDING_H
#define SKIM_RUNTIME_PARAMETERBINDING_H

#include "runtime/LaunchPlan.h"

#include <skim/Parameters.h>
#include <skim/Status.h>
#include <skim/abi.h>

#include <cstdint>

namespace skim {

/// Up to this magnitude of index parameters and `layer` closed forms are exact.
inline constexpr int64_t kLargestIndex = int64_t{1} << 31;
inline constexpr const char *kIndexRange = "an index from -2^31 to 2^31";

/// Checks `parameters` against the plan and writes each slot's values: `slots[i]` points at them in
/// `scalars`. Allocates nothing unless it fails.
Status bindParameters(const LaunchPlan &plan, const Parameters &parameters, skim_parameter *slots,
                      skim_scalar *scalars);

} // namespace skim

#endif // SKIM_RUNTIME_PARAMETERBINDING_H
