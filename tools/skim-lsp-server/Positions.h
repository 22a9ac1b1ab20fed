// Places of the protocol (lines, and UTF-16 code units in a line, both from 0) and places of a
// text.
#ifndef SKIM_TOOLS_SKIM_LSP_SERVER_POSITIONS_H
#define SKIM_TOOLS_SKIM_LSP_SERVER_POSITIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LSP/Protocol.h"

namespace skim::lsp {

/// Of a byte offset; past the end it is that of the end.
llvm::lsp::Position positionOf(llvm::StringRef text, size_t offset);
/// Past the end of a line it is the end of the line, past the last line the end of the text.
size_t offsetOf(llvm::StringRef text, const llvm::lsp::Position &position);

} // namespace skim::lsp

#endif // SKIM_TOOLS_SKIM_LSP_SERVER_POSITIONS_H
