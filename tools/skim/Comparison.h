// What a pattern keeps and what it loses against dense attention.
#ifndef SKIM_TOOLS_SKIM_COMPARISON_H
#define SKIM_TOOLS_SKIM_COMPARISON_H

#include "tools/skim/Job.h"

#include <optional>
#include <vector>

namespace skim::tool {

/// Pairs that causality and length admit, over all requests and query heads.
int64_t visiblePairs(const HostBatch &batch, bool causal);

struct HeadComparison {
  /// Share of dense attention that falls on kept keys, mean over the rows that see a key;
  /// empty where none does, NaN where a log-sum-exp is.
  std::optional<double> keptMass;
  /// max |out - dense| / max |dense|; empty where dense attention is 0 and `out` is not, NaN
  /// where a value of either is not finite.
  std::optional<double> error;
};

struct Comparison {
  std::vector<HeadComparison> heads;
  /// Mean over the heads.
  std::optional<double> keptMass;
  /// The largest; NaN where one is, else empty where one is.
  std::optional<double> error;
};

/// Runs what else it needs on the job's device.
llvm::Expected<Comparison> compareWithDense(const Job &job, const Outcome &asked);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_COMPARISON_H
