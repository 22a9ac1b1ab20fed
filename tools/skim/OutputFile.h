// Writes the files that a command was asked for.
#ifndef SKIM_TOOLS_SKIM_OUTPUTFILE_H
#define SKIM_TOOLS_SKIM_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace skim::tool {

/// Writes a file beside its place and renames it, so that no reader sees half of it; `-` is the
/// standard output. Devices and pipes are written to as they are. Fails with
/// EnvironmentFailed.
llvm::Error writeOutput(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_OUTPUTFILE_H
