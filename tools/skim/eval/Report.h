// What a measurement prints and draws: a table, or one JSON object, and the frontier.
#ifndef SKIM_TOOLS_SKIM_EVAL_REPORT_H
#define SKIM_TOOLS_SKIM_EVAL_REPORT_H

#include "tools/skim/eval/Measurement.h"

#include "llvm/Support/raw_ostream.h"

namespace skim::tool {

/// What was measured, for the heads of reports.
struct ReportHead {
  llvm::StringRef model;
  llvm::StringRef text;
  int64_t context;
  int64_t pairs;
  int64_t seed;
  const AttentionSetup &setup;
};

void printTable(llvm::raw_ostream &os, const ReportHead &head, llvm::ArrayRef<Point> points,
                const Measurement &measurement);
/// Draws the points that ran, one series for each pattern, as SVG or PNG by the ending of `path`.
llvm::Error drawFrontier(llvm::StringRef path, const ReportHead &head, llvm::ArrayRef<Point> points,
                         const Measurement &measurement);

void printJson(llvm::raw_ostream &os, const ReportHead &head, llvm::ArrayRef<Point> points,
               const Measurement &measurement);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_REPORT_H
