// Machine code of a GPU beside the PTX that a compilation makes.
#ifndef SKIM_CODEGEN_CUBIN_H
#define SKIM_CODEGEN_CUBIN_H

#include "runtime/bundle/Bundle.h"

#include <string>

namespace skim {

/// Adds what ptxas makes of the PTX of `entry`. Leaves an entry without PTX as it is, and where no
/// ptxas is found. What ptxas has against the code is added to its warnings. Fails where SKIM_PTXAS
/// names no program.
Status addCubinOfPtxas(BundleEntry &entry);

/// Adds what the driver of this machine makes of the PTX of `entry`; leaves the entry as it is
/// where that fails, for loading it says why.
void addCubinOfDriver(BundleEntry &entry);

} // namespace skim

#endif // SKIM_CODEGEN_CUBIN_H
