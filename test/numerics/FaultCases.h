// What the tests of kinds of faults have in common, whatever device they run on.
#ifndef SKIM_TEST_NUMERICS_FAULTCASES_H
#define SKIM_TEST_NUMERICS_FAULTCASES_H

#include "test/numerics/Cases.h"
#include "test/numerics/CpuRun.h"

#include <string>
#include <vector>

namespace skim::numerics {

inline constexpr const char *kDense = "pattern p { keep true }";
inline constexpr const char *kStreaming =
    "pattern p(sink: index = 4, window: index = 50) { keep k < sink or q - k < window }";
inline constexpr const char *kBlocks =
    "pattern p { input layout: bool[head, q / 128, k / 128]\n keep layout or q - k < 40 }";

/// Two requests of `kBlocks` whose first 300 tokens are the same, each with its own block mask.
Case sharedPrefix(const Heads &heads);

/// Whether the row has the results of one without a key.
bool isEmptyRow(const RunResult &result, int64_t head, int64_t token);

/// Merges three parts in several orders. Empty where each gives `expected`: outputs to within
/// `tolerance`, log-sum-exps to within `lseTolerance`, absolute and relative.
std::string compareMerged(std::vector<RunResult> &parts, const RunResult &expected,
                          double tolerance, double lseTolerance);

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_FAULTCASES_H
