// A report from a plan and its programs.
#ifndef SKIM_CODEGEN_REPORT_CREATEREPORT_H
#define SKIM_CODEGEN_REPORT_CREATEREPORT_H

#include "passes/Invariance.h"
#include "runtime/LaunchPlan.h"
#include <skim/Report.h>

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace skim::report {

/// Counts what the programs of `module`, which `launchPlan` lists, cost for `call`. `placeOf` leads
/// from locations back to the text. Fails when the call is impossible: lengths, workers, values
/// of parameters that the pattern does not have.
Expected<Report> createReport(mlir::ModuleOp module, const LaunchPlan &launchPlan,
                              const ChunkInvariance &invariance, const ReportOptions &call,
                              llvm::function_ref<SourcePlace(mlir::Location)> placeOf);

} // namespace skim::report

#endif // SKIM_CODEGEN_REPORT_CREATEREPORT_H
