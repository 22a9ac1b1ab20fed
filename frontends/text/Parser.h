// Parses one `.skim` file into its syntax tree.
//
// Every error is reported and parsing goes on at the next clause, argument or pattern, so one
// run finds several. The tree is whole also after errors: what could not be read is an
// ErrorExpr or is left out.
#ifndef SKIM_FRONTENDS_TEXT_PARSER_H
#define SKIM_FRONTENDS_TEXT_PARSER_H

#include "frontends/text/Ast.h"
#include "frontends/text/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"

namespace skim::text {

/// Larger files are refused.
inline constexpr size_t maxFileBytes = 1 << 20;

/// The element types of parameters and inputs: `index`, `f32`, `bool`, `vec`, `list`.
llvm::ArrayRef<llvm::StringLiteral> typeNames();

/// Parses a buffer of `diagnostics.sources()`, into which the tree's ranges point.
File parse(unsigned buffer, Diagnostics &diagnostics);

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_PARSER_H
