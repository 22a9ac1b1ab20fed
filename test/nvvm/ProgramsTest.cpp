// Random programs and shapes as machine code of Hopper: whatever the target takes is assembled, its
// products as asynchronous as they are written. Where the search for tiles of a large set spills
// registers, that is counted.
//
// SKIM_NUMERICS_PROGRAMS says how many programs must be assembled (12), SKIM_NUMERICS_SEED the
// first seed (1).
#include "test/numerics/CpuRun.h"
#include "test/numerics/FromEnvironment.h"
#include "test/numerics/ProgramGenerator.h"

#include "llvm/ADT/StringRef.h"

#include <gtest/gtest.h>

#include <iostream>
#include <map>

using namespace skim;
using namespace skim::numerics;

namespace {

/// Whether the assembler made code of which it says nothing worse than that it has a stack.
bool onlySpills(llvm::StringRef message) {
  return message.contains("bytes stack frame") && !message.contains("(C7");
}

/// Of so many programs for each that must be assembled, some are refused.
constexpr uint64_t kMostDrawn = 12;

TEST(HopperPrograms, AreAssembled) {
  const uint64_t wanted = fromEnvironment("SKIM_NUMERICS_PROGRAMS", 12);
  const uint64_t first = fromEnvironment("SKIM_NUMERICS_SEED", 1);
  std::map<std::string, uint64_t> refused;
  uint64_t assembled = 0, spilling = 0, wrong = 0, seed = first;
  for (; assembled + wrong < wanted && seed != first + kMostDrawn * wanted; ++seed) {
    Case c = generateProgram(Profile::hopper, seed);
    CompileOptions options = optionsFor(c);
    options.target = "sm_90a";
    options.writesKept = false;
    Expected<std::string> cubin =
        Compiler().emit(Pattern::fromText(c.program, "case.skim"), options, Stage::Cubin);
    std::string refusal = cubin ? "" : refusalOf(cubin.status());
    if (!refusal.empty()) {
      ++refused[refusal];
      continue;
    }
    bool spills = !cubin && onlySpills(cubin.status().message());
    if (cubin || spills) {
      ++assembled;
      spilling += spills;
      continue;
    }
    ++wrong;
    ADD_FAILURE() << cubin.status().message() << "\n" << c.describe();
  }
  std::cout << assembled << " programs assembled, " << spilling << " of them with spills, " << wrong
            << " not; seeds " << first << " to " << seed - 1 << "\n";
  for (const auto &[reason, count] : refused)
    std::cout << count << " refused: " << reason << "\n";
  EXPECT_EQ(assembled, wanted);
}

} // namespace
