// What `skim compile` compiles for, read from its options.
#ifndef SKIM_TOOLS_SKIM_PROBLEM_H
#define SKIM_TOOLS_SKIM_PROBLEM_H

#include "tools/skim/Options.h"
#include "tools/skim/PatternSource.h"

#include <skim/Compiler.h>

namespace skim::tool {

/// Fails with WrongInput on a target that this build does not have.
llvm::Error checkTarget(llvm::StringRef target);

/// Heads, dimensions, types and shapes; neither pattern nor target nor constants.
llvm::Expected<CompileOptions> readProblem(const Options &options);

/// Fails with WrongInput on a shape of an input that none of the patterns has.
llvm::Error checkInputShapes(const CompileOptions &problem,
                             llvm::ArrayRef<const PatternSource *> sources);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_PROBLEM_H
