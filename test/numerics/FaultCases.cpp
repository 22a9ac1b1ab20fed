#include "test/numerics/FaultCases.h"

#include <skim/MergeStates.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace skim::numerics {

namespace {

AttentionState stateOf(RunResult &result) {
  return {TensorView::contiguous(result.out.data(), DType::F32,
                                 {result.tokens, result.heads, result.valueDim}),
          TensorView::contiguous(result.lse.data(), DType::F32, {result.heads, result.tokens})};
}

/// The first entry that is not near, NaN included.
std::string compareEntries(const std::string &name, const std::vector<float> &got,
                           const std::vector<float> &expected, double absolute, double relative) {
  for (size_t i = 0; i != got.size(); ++i)
    if (!(std::abs(got[i] - expected[i]) <= absolute + relative * std::abs(expected[i])))
      return name + "[" + std::to_string(i) + "]: expected " + std::to_string(expected[i]) +
             " but got " + std::to_string(got[i]);
  return "";
}

} // namespace

Case sharedPrefix(const Heads &heads) {
  Case c = makeCase(kBlocks, {{200, 500}, {300, 430}}, heads);
  for (reference::Tokens *tokens : {&c.problem.k, &c.problem.v}) {
    int64_t row = tokens->heads * tokens->dim;
    std::copy_n(tokens->data.begin(), 300 * row, tokens->data.begin() + 500 * row);
  }
  addInput(c, "layout", "bool", {2, heads.heads, 4, 4}, [](int64_t i) { return i * 11 % 7 < 3; });
  return c;
}

bool isEmptyRow(const RunResult &result, int64_t head, int64_t token) {
  for (int64_t i = 0; i != result.valueDim; ++i)
    if (result.out[(token * result.heads + head) * result.valueDim + i] != 0)
      return false;
  return result.lse[head * result.tokens + token] == -INFINITY;
}

std::string compareMerged(std::vector<RunResult> &parts, const RunResult &expected,
                          double tolerance, double lseTolerance) {
  for (std::array<int, 3> order : {std::array{0, 1, 2}, std::array{2, 0, 1}, std::array{1, 2, 0}}) {
    AttentionState states[] = {stateOf(parts[order[0]]), stateOf(parts[order[1]]),
                               stateOf(parts[order[2]])};
    RunResult merged = expected;
    std::ranges::fill(merged.out, NAN);
    std::ranges::fill(merged.lse, NAN);
    if (Status status = mergeStates(states, stateOf(merged)); !status)
      return status.message();
    std::string found = compareEntries("out", merged.out, expected.out, tolerance, 0);
    found += compareEntries("lse", merged.lse, expected.lse, lseTolerance, lseTolerance);
    if (!found.empty())
      return found;
  }
  return "";
}

} // namespace skim::numerics
