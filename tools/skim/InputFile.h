// Reads the files that a command is given.
#ifndef SKIM_TOOLS_SKIM_INPUTFILE_H
#define SKIM_TOOLS_SKIM_INPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace skim::tool {

/// The whole file. Fails with WrongInput where it cannot be read or is no regular file: reading a
/// pipe or a device might never end.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_INPUTFILE_H
