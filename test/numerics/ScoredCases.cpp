#include "test/numerics/ScoredCases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace skim::numerics {

const char *const kPeakBlocks =
    "pattern p(mass: f32 = 0.2, window: index = 24) {\n"
    "  let p = softmax(dot(fp8(Q), fp8(mean(K, 16))), over: k / 16)\n"
    "  keep cover(q / 64, k / 64, max(p, into: q / 64) >= mass) or q - k < window\n}";
const char *const kEnergyBlocks =
    "pattern p(alpha: f32 = 0.7, window: index = 24) {\n"
    "  let energy = sum(exp(dot(Q, bf16(mean(K, 32)))), into: q / 64, over: group)\n"
    "  keep energy >= alpha * max(energy, over: k / 32) or q - k < window\n"
    "  rest mean(32, q / 64)\n}";
const char *const kColumnsAndDiagonals =
    "pattern p(columns: index = 9, diagonals: index = 5) {\n"
    "  let p = softmax(dot(last(Q, 16), K), over: k)\n"
    "  keep top_k(sum(p, over: q), columns)\n"
    "    or cover(q / 16, k / 16, top_k(sum(p, into: q - k), diagonals)) or q - k < 4\n}";
const char *const kRowSelections =
    "pattern p(n: index = 7) {\n"
    "  let blocks = softmax(dot(int8(Q), mean(K, 16)), over: k / 16)\n"
    "  keep top_k(dot(Q, K), n) or top_p(blocks, 0.5)\n}";

std::unique_ptr<Kernel> compileScored(const Case &c) {
  Expected<Kernel> kernel = compileCase(c);
  EXPECT_TRUE(kernel) << kernel.status().message();
  return kernel ? std::make_unique<Kernel>(std::move(*kernel)) : nullptr;
}

std::string checkScored(const std::unique_ptr<Kernel> &kernel, const Case &c,
                        const Layout &layout) {
  ReferenceRun expected = runOnReference(c);
  if (!expected.ok)
    return "the reference refuses: " + expected.message;
  Agreement agreement = openPairs(expected.result);
  // One pair may stand for a block of a small case.
  if (agreement.open > std::max<int64_t>(agreement.visible / 10, 64))
    return std::to_string(agreement.open) + " of " + std::to_string(agreement.visible) +
           " pairs are open";
  return kernel ? compareRuns(c, expected.result, runOnCpu(*kernel, c, layout)) : "";
}

std::string checkScored(const Case &c, const Layout &layout) {
  return checkScored(compileScored(c), c, layout);
}

bool sameResults(const RunResult &a, const RunResult &b) {
  auto same = [](const std::vector<float> &x, const std::vector<float> &y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  };
  return same(a.out, b.out) && same(a.lse, b.lse) && a.kept == b.kept;
}

} // namespace skim::numerics
