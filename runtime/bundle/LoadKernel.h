// From an entry of a bundle to a kernel.
#ifndef SKIM_RUNTIME_BUNDLE_LOADKERNEL_H
#define SKIM_RUNTIME_BUNDLE_LOADKERNEL_H

#include "runtime/bundle/Bundle.h"

#include <skim/Kernel.h>
#include <skim/LoadOptions.h>

namespace skim {

/// The entry that `options` ask for. `Unsupported` where the bundle has none that this machine
/// runs, `InvalidArgument` where it has no such pattern or configuration or several.
Expected<const Bundle::Entry *> chooseEntry(const Bundle &bundle, const LoadOptions &options);

/// Loads the code of an entry. `Unsupported` where this machine does not run it.
Expected<Kernel> loadKernel(const Bundle &bundle, const Bundle::Entry &entry);

/// "8 query and 2 KV heads of dimension 128, bf16 to f32, contiguous", and constants.
std::string describeConfiguration(const LaunchPlan &plan, const KernelMetadata &metadata);

} // namespace skim

#endif // SKIM_RUNTIME_BUNDLE_LOADKERNEL_H
