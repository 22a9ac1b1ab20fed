// Whether results depend on how a prompt was cut into chunks, and if so, by what (rule 16).
#ifndef SKIM_PASSES_INVARIANCE_H
#define SKIM_PASSES_INVARIANCE_H

#include "dialect/Skim/SkimOps.h"

#include <string>
#include <vector>

namespace skim {

/// One operation through which a result depends on where the call begins or ends.
struct InvarianceBreaker {
  mlir::Location loc;
  /// In the words of the language: "'sum' removes the query axis".
  std::string reason;
};

/// No result depends on the rest of the batch, whatever the pattern: work items read their own
/// request alone. Chunks are another matter.
struct ChunkInvariance {
  /// In the order of the pattern; empty where results do not depend on the cut.
  std::vector<InvarianceBreaker> breakers;
  /// Where it holds: all chunks but the last must end on a multiple of so many positions, the
  /// common multiple of the blocks of inputs, reductions, covers and rest. Comparisons of positions
  /// are the same in every cut, so their blocks do not count.
  int64_t multiple = 1;

  bool holds() const { return breakers.empty(); }
};

/// Looks at what the clauses of a pattern need, as the front end made it: before any pass.
ChunkInvariance analyzeChunkInvariance(ir::PatternOp pattern);

} // namespace skim

#endif // SKIM_PASSES_INVARIANCE_H
