// The oracle: runs a pattern over a batch in f64, straight from its syntax tree
// and from the rules of the language. Slow and plain on purpose; shares nothing
// with the compiler below the parser.
#ifndef SKIM_REFERENCE_INTERPRETER_H
#define SKIM_REFERENCE_INTERPRETER_H

#include "frontends/text/Loader.h"
#include "reference/Problem.h"

#include <variant>

namespace skim::reference {

/// Runs `pattern`, one of `program`, over `problem`. A pattern that the checker
/// accepted gives a result; one that it would refuse may give an error or a
/// result, but never a crash. Requests are independent of each other (rule 16).
std::variant<Result, Error> interpret(const text::Program &program, const text::Pattern &pattern,
                                      const Problem &problem, const Options &options = {});

} // namespace skim::reference

#endif // SKIM_REFERENCE_INTERPRETER_H
