// The random shapes of a case and the arrays that go with them.
#ifndef SKIM_TEST_NUMERICS_CASESHAPE_H
#define SKIM_TEST_NUMERICS_CASESHAPE_H

#include "ProgramGenerator.h"
#include "Random.h"

#include <string>

namespace skim::numerics {

/// Draws heads, dimensions, lengths and types of a case.
void drawShape(Case &result, Random &random);
/// Fills Q, K and V.
void drawOperands(Case &result, Random &random);

/// The axes of an input, as its type names them. Block sizes; 0 for an absent axis.
struct InputAxes {
  enum class Head { None, KvHead, Head };
  Head head = Head::None;
  int64_t query = 0;
  int64_t key = 0;
  bool diagonal = false;
};

enum class InputElement { Bool, Index, F32, Vec, List };

/// What the entries of an index input stand for.
enum class IndexRange { Positions, Small, Labels };

/// Fills `problem.inputs[name]` (and `NAME_counts` of a list): extents for the longest
/// request, sometimes more; NaN in some f32 inputs; lists with duplicates, padding and
/// entries outside their axis. `vectorSize` is the dimension of a `vec`.
void drawInput(Case &result, Random &random, const std::string &name, InputElement element,
               const InputAxes &axes, IndexRange range = IndexRange::Positions,
               int64_t vectorSize = 0);

/// A weight of `linear`: `[out, in]`, or one a head.
void drawWeight(Case &result, Random &random, const std::string &name, bool perHead, int64_t out,
                int64_t in);

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_CASESHAPE_H
