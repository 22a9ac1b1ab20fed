// From the pattern inputs of a launch, by name, to the arrays of the plan's slots.
#ifndef SKIM_RUNTIME_INPUTBINDING_H
#define SKIM_RUNTIME_INPUTBINDING_H

#include "runtime/LaunchPlan.h"
#include "runtime/OperandBinding.h"

#include <skim/Operands.h>
#include <skim/Status.h>
#include <skim/abi.h>

#include <span>

namespace skim {

/// Checks `inputs` against the plan and the bounds, and writes each slot. `capacities` has an
/// entry a slot, which stands in for list counts that were not given. Allocates nothing unless it
/// fails.
Status bindInputs(const LaunchPlan &plan, std::span<const NamedTensor> inputs,
                  const LengthBounds &bounds, skim_buffer *slots, int32_t *capacities);

} // namespace skim

#endif // SKIM_RUNTIME_INPUTBINDING_H
