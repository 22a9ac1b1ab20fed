// Attention over a kept set, in plain loops.
#ifndef SKIM_TEST_EXAMPLES_ATTEND_H
#define SKIM_TEST_EXAMPLES_ATTEND_H

#include "test/examples/Prompt.h"

#include <functional>
#include <vector>

namespace skim::examples {

/// Whether a head's row attends to a key.
using Kept = std::function<bool(int64_t head, int64_t row, int64_t key)>;
/// What becomes of a scaled score.
using Logit =
    std::function<double(const Prompt &prompt, int64_t head, double s, int64_t q, int64_t k)>;

/// Blocks of so many keys, none of which a tile of so many rows attends to, and all of which each
/// of its rows sees, enter by their mean; 0 for none.
struct Rest {
  int64_t keys = 0, rows = 0;
};

/// [row][head][value dim]
std::vector<double> attend(const Prompt &prompt, const Kept &kept, const Logit &logit, Rest rest);

} // namespace skim::examples

#endif // SKIM_TEST_EXAMPLES_ATTEND_H
