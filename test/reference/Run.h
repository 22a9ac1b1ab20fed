// Short ways to run a pattern in a test and to look at what it kept.
#ifndef SKIM_TEST_REFERENCE_RUN_H
#define SKIM_TEST_REFERENCE_RUN_H

#include "reference/Interpreter.h"

#include <string>
#include <utility>
#include <vector>

namespace skim::reference::testing {

struct Shape {
  int64_t queryHeads = 1, kvHeads = 1, dim = 2, valueDim = 2;
  /// (q_len, kv_len) of each request.
  std::vector<std::pair<int64_t, int64_t>> lengths;
};

/// A problem with operands that differ from row to row, from a fixed formula.
Problem makeProblem(const Shape &shape);
/// One request, one head.
Problem makeProblem(int64_t qLen, int64_t kvLen);

/// Runs the last pattern of `text`; a failure fails the test and returns an empty result.
Result run(const std::string &text, const Problem &problem, const Options &options = {});
/// The error that running `text` gives; a success fails the test.
Error fail(const std::string &text, const Problem &problem, const Options &options = {});

/// One string of `0` and `1` for each row of a request.
std::vector<std::string> kept(const Result &result, const Problem &problem, int64_t request = 0,
                              int64_t head = 0);
/// Runs `text` and shows what one head of the first request kept.
std::vector<std::string> keptBy(const std::string &text, const Problem &problem, int64_t head = 0);
/// The last row of the same.
std::string lastRowKeptBy(const std::string &text, const Problem &problem);

/// Softmax attention over the kept keys alone, from its definition.
struct Row {
  std::vector<double> out;
  double lse = 0;
};
Row attendKept(const Result &result, const Problem &problem, int64_t head, int64_t token);

} // namespace skim::reference::testing

#endif // SKIM_TEST_REFERENCE_RUN_H
