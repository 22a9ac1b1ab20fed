// The points of a measurement: every pattern with the values of --set and --sweep.
#ifndef SKIM_TOOLS_SKIM_EVAL_POINTS_H
#define SKIM_TOOLS_SKIM_EVAL_POINTS_H

#include "tools/skim/eval/Measurement.h"

#include <memory>

namespace skim::tool {

/// One point a pattern, or one for each value of the parameter that is swept in it. `NAME` is a
/// parameter of every pattern that has it, `PATTERN.NAME` of one alone and goes before. Fails on a
/// name that no pattern has, two swept parameters of one pattern, and what `matchSettings`
/// refuses.
llvm::Expected<std::vector<Point>> makePoints(const Sources &sources,
                                              llvm::ArrayRef<Setting> settings,
                                              llvm::ArrayRef<Setting> sweeps);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_POINTS_H
