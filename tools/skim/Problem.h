// What `skim compile` compiles for, read from its options.
#ifndef SKIM_TOOLS_SKIM_PROBLEM_H
#define SKIM_TOOLS_SKIM_PROBLEM_H

#include "codegen/Compiler.h"
#include "tools/skim/Options.h"

namespace skim::tool {

/// Fails with WrongInput on a target that this build does not have.
llvm::Error checkTarget(llvm::StringRef target);

/// Heads, dimensions, types and shapes; neither pattern nor target nor constants.
llvm::Expected<CompileOptions> readProblem(const Options &options);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_PROBLEM_H
