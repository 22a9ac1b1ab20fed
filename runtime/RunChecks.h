// Checks of a run that hold on every device.
#ifndef SKIM_RUNTIME_RUNCHECKS_H
#define SKIM_RUNTIME_RUNCHECKS_H

#include "runtime/LaunchPlan.h"

#include <skim/Batch.h>
#include <skim/Status.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace skim {

/// Checks that every count of the shape is there and has 31 bits.
Status checkShape(const BatchShape &shape);

/// Checks size and alignment.
Status checkWorkspace(std::span<const std::byte> workspace, int64_t bytes);

/// Checks the value of `layer` against the plan.
Status checkLayer(const LaunchPlan &plan, int64_t layer);

} // namespace skim

#endif // SKIM_RUNTIME_RUNCHECKS_H
