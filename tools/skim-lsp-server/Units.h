// In what a parameter counts, by how the pattern uses it.
#ifndef SKIM_TOOLS_SKIM_LSP_SERVER_UNITS_H
#define SKIM_TOOLS_SKIM_LSP_SERVER_UNITS_H

#include "frontends/text/Loader.h"

namespace skim::lsp {

/// `tokens`, `cells of the map`, `nats`, ...; empty where no use tells.
llvm::StringRef unitOf(const text::Program &program, const text::Pattern &pattern,
                       llvm::StringRef parameter);

} // namespace skim::lsp

#endif // SKIM_TOOLS_SKIM_LSP_SERVER_UNITS_H
