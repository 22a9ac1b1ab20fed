// Random programs x shapes on a CUDA device against the reference.
//
// SKIM_NUMERICS_PROGRAMS says how many programs must run (40), SKIM_NUMERICS_SEED the first seed
// (1). Programs that the target does not take are counted by reason and do not count as run.
#include "test/gpu/CudaRun.h"
#include "test/numerics/Cases.h"
#include "test/numerics/FromEnvironment.h"

#include <iostream>
#include <map>

using namespace skim;
using namespace skim::numerics;

namespace {

/// A layout that differs from case to case; rows start at multiples of 16 bytes, as tensor maps
/// ask for.
Layout layoutFor(const Case &c, uint64_t seed) {
  Layout layout;
  layout.seed = seed;
  layout.padding = static_cast<int64_t>(8 * (seed % 3));
  layout.pageSize = c.pageSize;
  layout.interleaved = seed % 2 == 0;
  if (c.pageSize)
    layout.kv = seed / 2 % 2 ? KvLayout::PagedNhd : KvLayout::PagedHnd;
  return layout;
}

constexpr uint64_t kMostMismatches = 10;
/// Of so many programs for each that must run, some are refused.
constexpr uint64_t kMostDrawn = 12;

class CudaPrograms : public CudaTest {
protected:
  /// Empty where all agrees. `refusal` is set where the target does not take the case.
  std::string checkCase(const Case &c, std::string &refusal) const {
    CompileOptions options = cudaOptionsFor(c, layoutFor(c, c.seed));
    constexpr DType kTypes[] = {DType::F32, DType::BF16, DType::F16};
    options.outDtype = kTypes[c.seed % std::size(kTypes)];
    Expected<Kernel> kernel =
        Compiler().compile(Pattern::fromText(c.program, "case.skim"), options);
    if (!kernel) {
      refusal = refusalOf(kernel.status());
      return refusal.empty() ? "does not compile: " + kernel.status().message() : "";
    }
    RunResult first = run(*kernel, c, layoutFor(c, c.seed));
    refusal = refusalOf(first.status);
    if (!refusal.empty())
      return {};
    ReferenceRun expected = runOnReferenceOfCuda(c);
    if (!expected.ok)
      return "the reference refuses: " + expected.message;
    if (std::string text = compareRuns(c, expected.result, first); !text.empty())
      return text;
    // Bit for bit the same: again, from other places in memory, and without the rest of the batch.
    if (!sameResults(run(*kernel, c, layoutFor(c, c.seed)), first))
      return "a second run gives other bits";
    if (!sameResults(run(*kernel, c, layoutFor(c, c.seed + 1)), first))
      return "operands elsewhere in memory give other bits";
    size_t requests = c.problem.kvLens.size();
    if (size_t chosen = c.seed % requests; requests > 1) {
      RunResult alone = run(*kernel, requestOf(c, chosen), layoutFor(c, c.seed + 2));
      bool ran = alone.status || alone.status.code() == StatusCode::DataOutOfRange;
      if (!ran || !areRowsOf(alone, first, c.problem.cuSeqlensQ[chosen]))
        return "request " + std::to_string(chosen) + " alone gives other bits";
    }
    return {};
  }
};

TEST_F(CudaPrograms, AgreeWithTheReference) {
  const uint64_t wanted = fromEnvironment("SKIM_NUMERICS_PROGRAMS", 40);
  const uint64_t first = fromEnvironment("SKIM_NUMERICS_SEED", 1);
  std::map<std::string, uint64_t> refused;
  uint64_t ran = 0, mismatches = 0, seed = first;
  for (; ran < wanted && seed != first + kMostDrawn * wanted; ++seed) {
    std::cerr << "seed " << seed << std::flush; // A kernel that never ends leaves it as the last.
    Case c = generateCase(Profile::hopper, seed);
    std::string refusal;
    std::string difference = checkCase(c, refusal);
    std::cerr << (!refusal.empty()     ? " refused"
                  : difference.empty() ? " agrees"
                                       : " differs")
              << std::endl;
    if (!refusal.empty()) {
      ++refused[refusal];
      continue;
    }
    ++ran;
    if (difference.empty())
      continue;
    ADD_FAILURE() << difference << "\n" << c.describe();
    // A fault of a kernel takes the whole context with it.
    if (++mismatches == kMostMismatches || difference.find("CUDA_ERROR") != std::string::npos)
      break;
  }
  std::cout << ran << " programs ran, " << mismatches << " of them wrong; seeds " << first << " to "
            << seed - 1 << "\n";
  for (const auto &[reason, count] : refused)
    std::cout << count << " refused: " << reason << "\n";
  EXPECT_EQ(ran, wanted);
}

} // namespace
