// `skim compile --emit bundle`.
#ifndef SKIM_TOOLS_SKIM_COMPILEBUNDLE_H
#define SKIM_TOOLS_SKIM_COMPILEBUNDLE_H

#include "tools/skim/Options.h"

namespace skim::tool {

/// Compiles every pattern for every target into one file.
llvm::Error compileBundle(const Options &options);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_COMPILEBUNDLE_H
