// Cases of patterns that score Q and K.
#ifndef SKIM_TEST_NUMERICS_SCOREDCASES_H
#define SKIM_TEST_NUMERICS_SCOREDCASES_H

#include "test/numerics/Cases.h"
#include "test/numerics/CpuRun.h"

#include <memory>
#include <string>

namespace skim::numerics {

/// Blocks that some query of the tile looks at, seen through means of quantised keys.
extern const char *const kPeakBlocks;
/// Blocks by pooled energy of a group of heads, the rest by its mean.
extern const char *const kEnergyBlocks;
/// Columns and diagonals that the last rows look at.
extern const char *const kColumnsAndDiagonals;
/// The best keys of each row, and blocks of its own that hold half of the mass.
extern const char *const kRowSelections;

/// The kernel of a case. Null where it is refused, after a failure of the test.
std::unique_ptr<Kernel> compileScored(const Case &c);

/// Empty when both devices agree, as `checkCase`; without a kernel, when the reference runs the
/// case. Few pairs are open either way.
std::string checkScored(const std::unique_ptr<Kernel> &kernel, const Case &c,
                        const Layout &layout = {});
/// Compiles first.
std::string checkScored(const Case &c, const Layout &layout = {});

bool sameResults(const RunResult &a, const RunResult &b);

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_SCOREDCASES_H
