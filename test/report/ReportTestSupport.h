// A report on the text of a pattern.
#ifndef SKIM_TEST_REPORT_REPORTTESTSUPPORT_H
#define SKIM_TEST_REPORT_REPORTTESTSUPPORT_H

#include <skim/Compiler.h>

#include <gtest/gtest.h>

namespace skim {

/// 8 query and 2 KV heads of dimension 128 in bf16, contiguous.
inline CompileOptions problem() {
  CompileOptions options;
  options.queryHeads = 8;
  options.kvHeads = 2;
  options.pageSize = 0;
  return options;
}

inline Report reportOn(const std::string &text, const ReportOptions &call) {
  Expected<Report> report = Compiler().report(Pattern::fromText(text), problem(), call);
  EXPECT_TRUE(report) << report.status().message();
  return report ? *std::move(report) : Report();
}

} // namespace skim

#endif // SKIM_TEST_REPORT_REPORTTESTSUPPORT_H
