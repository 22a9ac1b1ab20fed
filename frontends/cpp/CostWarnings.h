// Warnings of what is legal and costly. For the sources of this folder.
#ifndef SKIM_FRONTENDS_CPP_COSTWARNINGS_H
#define SKIM_FRONTENDS_CPP_COSTWARNINGS_H

#include "dialect/Skim/SkimOps.h"

namespace skim {

/// Warns of: a score of all (q, k) pairs, selected diagonals that touch every tile, a noncausal
/// window that keeps the whole future.
void warnOfCosts(ir::PatternOp pattern);

} // namespace skim

#endif // SKIM_FRONTENDS_CPP_COSTWARNINGS_H
