// What a launch plan asks for, from the settings and the files of a job. A variant of a pattern may
// leave a parameter or an input unused: the launch plan says what is needed.
#ifndef SKIM_TOOLS_SKIM_LAUNCHARGUMENTS_H
#define SKIM_TOOLS_SKIM_LAUNCHARGUMENTS_H

#include "runtime/LaunchPlan.h"
#include "tools/skim/Job.h"

#include "llvm/Support/Error.h"

namespace skim::tool {

Parameters parametersFor(const LaunchPlan &plan, const Job &job);

/// Fails where neither file has an input.
llvm::Error addInputs(const LaunchPlan &plan, HostBatch &batch, Operands &operands);

/// The kernel of the job's bundle that fits its batch; `target` as for LoadOptions.
Expected<Kernel> loadFromBundle(const Job &job, const std::string &target);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_LAUNCHARGUMENTS_H
