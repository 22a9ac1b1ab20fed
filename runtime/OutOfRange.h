// What a run met out of range in its inputs, as a message.
#ifndef SKIM_RUNTIME_OUTOFRANGE_H
#define SKIM_RUNTIME_OUTOFRANGE_H

#include "runtime/LaunchPlan.h"
#include "runtime/WorkItems.h"

#include <skim/abi.h>

#include <string>

namespace skim {

/// Names the first entry or count of a list that lies outside of its axis; empty where there is
/// none. Reads every list.
std::string describeOutOfRange(const LaunchPlan &plan, const BatchLengths &lengths,
                               const skim_buffer *inputs);

} // namespace skim

#endif // SKIM_RUNTIME_OUTOFRANGE_H
