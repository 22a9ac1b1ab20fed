// The last step: which pairs a request keeps, what enters as rest, and the
// attention over both (rules 4, 10, 11 and 17).
#ifndef SKIM_REFERENCE_ATTENTION_H
#define SKIM_REFERENCE_ATTENTION_H

#include "reference/Evaluator.h"

namespace skim::reference {

/// What a request adds to the densities of the batch, for each query head.
struct PairCounts {
  std::vector<int64_t> kept, visible;
};

/// Fills the rows of `request` in `result`, whose arrays have their full sizes.
void attend(const Request &request, const Problem &problem, const Clauses &clauses,
            Evaluator &evaluator, const Options &options, Result &result, PairCounts &counts);

} // namespace skim::reference

#endif // SKIM_REFERENCE_ATTENTION_H
