// What a run met out of range in its inputs, as a message.
#ifndef SKIM_RUNTIME_OUTOFRANGE_H
#define SKIM_RUNTIME_OUTOFRANGE_H

#include "runtime/LaunchPlan.h"
#include "runtime/WorkItems.h"

#include <skim/abi.h>

#include <cstdint>
#include <string>

namespace skim {

/// Names the first entry or count of a list that lies outside of its axis; empty where there is
/// none. Reads every list.
std::string describeOutOfRange(const LaunchPlan &plan, const BatchLengths &lengths,
                               const skim_buffer *inputs);

/// The bits of the sticky status word in words. `index`, where not empty, stands for an index that
/// lies outside of its axis.
std::string describeStatusBits(int32_t bits, const std::string &index = "");

} // namespace skim

#endif // SKIM_RUNTIME_OUTOFRANGE_H
