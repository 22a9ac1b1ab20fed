// Hovers, as Markdown: what a name is, of what type, where declared; what a word means.
#ifndef SKIM_TOOLS_SKIM_LSP_SERVER_DESCRIBE_H
#define SKIM_TOOLS_SKIM_LSP_SERVER_DESCRIBE_H

#include "tools/skim-lsp-server/Resolve.h"

#include <string>

namespace skim::lsp {

std::string describe(const Analysis &analysis, const Meaning &meaning);
/// `pattern streaming(sink: index = 64, window: index = 4096)`.
std::string signatureOf(const Analysis &analysis, const text::Pattern &pattern);

} // namespace skim::lsp

#endif // SKIM_TOOLS_SKIM_LSP_SERVER_DESCRIBE_H
