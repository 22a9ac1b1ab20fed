// The oracle: runs a pattern over a batch in f64, straight from its syntax tree
// and from the rules of the language. Slow and plain on purpose; shares nothing
// with the compiler below the parser.
#ifndef SKIM_REFERENCE_INTERPRETER_H
#define SKIM_REFERENCE_INTERPRETER_H

#include "frontends/text/Ast.h"
#include "reference/Problem.h"

#include "llvm/ADT/ArrayRef.h"

#include <variant>

namespace skim::reference {

/// Runs `pattern` over `problem`. `patterns` holds every pattern that a call may
/// name, imported ones included. A pattern that the checker accepted gives a
/// result; one that it would refuse may give an error or a result, but never a
/// crash.
std::variant<Result, Error> interpret(const text::Pattern &pattern,
                                      llvm::ArrayRef<const text::Pattern *> patterns,
                                      const Problem &problem);

} // namespace skim::reference

#endif // SKIM_REFERENCE_INTERPRETER_H
