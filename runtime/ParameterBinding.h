// From the parameters of a launch, by name, to the values of the plan's slots.
#ifndef SKIM_RUNTIME_PARAMETERBINDING_H
#define SKIM_RUNTIME_PARAMETERBINDING_H

#include "runtime/LaunchPlan.h"

#include <skim/Parameters.h>
#include <skim/Status.h>
#include <skim/abi.h>

namespace skim {

/// Checks `parameters` against the plan and writes each slot's values: `slots[i]` points at them in
/// `scalars`. Allocates nothing unless it fails.
Status bindParameters(const LaunchPlan &plan, const Parameters &parameters, skim_parameter *slots,
                      skim_scalar *scalars);

} // namespace skim

#endif // SKIM_RUNTIME_PARAMETERBINDING_H
