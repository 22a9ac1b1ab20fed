// Results of a suite, for people and for programs.
#ifndef SKIM_BENCH_REPORT_H
#define SKIM_BENCH_REPORT_H

#include "bench/CpuSuite.h"

#include "llvm/Support/raw_ostream.h"

namespace skim::bench {

void printTable(llvm::raw_ostream &os, const SuiteResult &result);
/// One object; what is not known is null.
void printJson(llvm::raw_ostream &os, const SuiteResult &result);

} // namespace skim::bench

#endif // SKIM_BENCH_REPORT_H
