// Reductions that are run on every CPU target.
#ifndef SKIM_TEST_TILE_REDUCTIONCASES_H
#define SKIM_TEST_TILE_REDUCTIONCASES_H

#include <cstdint>
#include <vector>

namespace skim::test {

/// One reduction of an input of cells (a, b) into cells (A, B).
struct ReductionCase {
  const char *name;
  const char *kind; ///< empty: one value a cell
  const char *itemHead, *itemAxis;
  int64_t rows = 64, keys = 64; ///< of items
  const char *resultHead;
  int64_t queryCell, keyCell; ///< A and B
  int64_t a, b;
  bool causal = false;
  bool joinHeads = false;
  int64_t rowTiles = 0;   ///< 0: none
  int64_t firstBack = -1; ///< row tiles start so many positions before the last row
  bool diagonal = false, noncausal = false;
  bool distances = false; ///< the contribution is over distances too
  int64_t elements = 0;
  bool wide = false;  ///< f64
  bool panel = false; ///< through a panel, which is then copied
};

/// All of them; they live as long as the program.
std::vector<const ReductionCase *> reductionCases();

} // namespace skim::test

#endif // SKIM_TEST_TILE_REDUCTIONCASES_H
