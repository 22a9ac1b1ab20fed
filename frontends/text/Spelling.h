// "did you mean": the known name nearest to a misspelled one.
#ifndef SKIM_FRONTENDS_TEXT_SPELLING_H
#define SKIM_FRONTENDS_TEXT_SPELLING_H

#include "llvm/ADT/StringRef.h"

namespace skim::text {

/// The candidate that a third of the letters of `word` (at least one) turn into it; the first of
/// several. Empty when none is that near.
template <typename Range>
llvm::StringRef closestSpelling(llvm::StringRef word, const Range &candidates) {
  if (word.size() < 2 || word.size() > 64)
    return {};
  unsigned allowed = word.size() < 6 ? 1 : static_cast<unsigned>(word.size() / 3);
  llvm::StringRef best;
  for (llvm::StringRef candidate : candidates) {
    if (candidate.size() < 2)
      continue;
    unsigned distance = word.edit_distance(candidate, /*AllowReplacements=*/true, allowed);
    if (distance <= allowed && (best.empty() || distance < allowed)) {
      best = candidate;
      allowed = distance;
    }
  }
  return best;
}

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_SPELLING_H
