// What `compact` gathers on the CPU target, beside the reference.
#ifndef SKIM_TEST_NUMERICS_GATHEREDTOKENS_H
#define SKIM_TEST_NUMERICS_GATHEREDTOKENS_H

#include "reference/Problem.h"
#include "runtime/LaunchPlan.h"

#include <skim/Operands.h>

#include <cstdint>
#include <string>
#include <vector>

namespace skim::numerics {

struct GatheredTokens {
  bool asked = false;
  int64_t heads = 0, capacity = 0;
  std::vector<int32_t> positions; ///< `[requests, heads, capacity]`
  std::vector<int32_t> counts;    ///< `[requests, heads]`

  /// Asks for the results of a pattern with `compact`, with room for more than the longest request
  /// has keys. They hold what no run writes.
  void askFor(const Signature &signature, const reference::Problem &problem, Operands &operands);
};

/// Empty when both gather the same positions, those aside that are open in the reference's result;
/// counts these where they differ.
std::string compareGathered(const reference::Result &expected, const GatheredTokens &actual,
                            int64_t &forgiven);

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_GATHEREDTOKENS_H
