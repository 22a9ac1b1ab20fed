// `skim compile --report` as text and as JSON.
#ifndef SKIM_TOOLS_SKIM_PRINTREPORT_H
#define SKIM_TOOLS_SKIM_PRINTREPORT_H

#include <skim/Compiler.h>

#include "llvm/Support/raw_ostream.h"

namespace skim::tool {

/// `call` is the pattern with the values of its parameters.
void printReport(llvm::raw_ostream &os, const Report &report, llvm::StringRef call,
                 const CompileOptions &problem);
void printReportJson(llvm::raw_ostream &os, const Report &report, llvm::StringRef call,
                     const CompileOptions &problem);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_PRINTREPORT_H
