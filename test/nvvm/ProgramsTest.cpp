// Programs as machine code of Hopper: whatever the target takes is assembled without spills, its
// attention without a stack, its products as asynchronous as they are written.
//
// SKIM_NUMERICS_PROGRAMS says how many random programs must be assembled (64), SKIM_NUMERICS_SEED
// the first seed (1).
#include "test/numerics/CpuRun.h"
#include "test/numerics/FromEnvironment.h"
#include "test/numerics/ProgramGenerator.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

using namespace skim;
using namespace skim::numerics;

namespace {

/// Whether all that the assembler says is that programs without attention have a stack, and spill
/// nothing: one thread keeps the truths of a tile's rows there (`tile.any`), an array that is
/// indexed by the row.
bool onlyArrays(const std::string &message) {
  static const std::regex array(
      "  kernel '(\\w+)': [0-9]+ bytes stack frame, 0 bytes spill stores, "
      "0 bytes spill loads");
  std::istringstream lines(message);
  std::string line;
  std::getline(lines, line);
  uint64_t arrays = 0;
  for (std::smatch found; std::getline(lines, line); ++arrays)
    if (!std::regex_match(line, found, array) || found[1] == "attention")
      return false;
  return arrays != 0;
}

/// Counts what is assembled and what the target refuses; anything else is a failure of the test.
class Assembler {
public:
  void assemble(const Pattern &pattern, CompileOptions options, const std::string &what) {
    options.target = "sm_90a";
    Expected<std::string> cubin = Compiler().emit(pattern, options, Stage::Cubin);
    std::string refusal = cubin ? "" : refusalOf(cubin.status());
    if (!refusal.empty()) {
      ++refused[refusal];
      return;
    }
    if (!cubin && onlyArrays(cubin.status().message())) {
      ++assembled;
      ++arrays;
      return;
    }
    ++(cubin ? assembled : wrong);
    EXPECT_TRUE(cubin) << cubin.status().message() << "\n" << what;
  }

  uint64_t assembled = 0, arrays = 0, wrong = 0;
  std::map<std::string, uint64_t> refused;
};

void report(const Assembler &assembler) {
  std::cout << assembler.assembled << " assembled, " << assembler.arrays
            << " of them with arrays in programs without attention, " << assembler.wrong
            << " not\n";
  for (const auto &[reason, count] : assembler.refused)
    std::cout << count << " refused: " << reason << "\n";
}

/// Of so many programs for each that must be assembled, some are refused.
constexpr uint64_t kMostDrawn = 12;

TEST(HopperPrograms, AreAssembled) {
  const uint64_t wanted = fromEnvironment("SKIM_NUMERICS_PROGRAMS", 64);
  const uint64_t first = fromEnvironment("SKIM_NUMERICS_SEED", 1);
  Assembler assembler;
  for (uint64_t seed = first;
       assembler.assembled + assembler.wrong < wanted && seed != first + kMostDrawn * wanted;
       ++seed) {
    Case c = generateProgram(Profile::hopper, seed);
    assembler.assemble(Pattern::fromText(c.program, "case.skim"), optionsFor(c), c.describe());
  }
  report(assembler);
  EXPECT_EQ(assembler.assembled, wanted);
}

/// Those of the examples that choose nothing by scores.
constexpr uint64_t kExamples = 11;

TEST(HopperPrograms, ExamplesAreAssembledForEachHeadDimension) {
  for (int64_t dim : {64, 128, 256}) {
    Assembler assembler;
    for (const auto &file : std::filesystem::directory_iterator(SKIM_EXAMPLES)) {
      Expected<Pattern> pattern = Pattern::load(file.path().string());
      ASSERT_TRUE(pattern) << pattern.status().message();
      CompileOptions options;
      options.queryHeads = 32;
      options.kvHeads = 8;
      options.headDim = dim;
      options.outDtype = DType::BF16;
      assembler.assemble(*pattern, options, file.path().string() + ", " + std::to_string(dim));
    }
    report(assembler);
    EXPECT_GE(assembler.assembled, kExamples);
  }
}

TEST(HopperPrograms, PagesOfEachKindAreAssembled) {
  // Several pages a tile, several tiles a page, and pages that are copied row by row.
  for (int64_t pageSize : {1, 16, 48, 64, 256}) {
    Assembler assembler;
    for (const char *name : {"causal", "streaming", "columns"}) {
      std::string path = std::string(SKIM_EXAMPLES) + "/" + name + ".skim";
      Expected<Pattern> pattern = Pattern::load(path);
      ASSERT_TRUE(pattern) << pattern.status().message();
      CompileOptions options;
      options.queryHeads = 32;
      options.kvHeads = 8;
      options.pageSize = pageSize;
      assembler.assemble(*pattern, options, path + ", pages of " + std::to_string(pageSize));
    }
    EXPECT_EQ(assembler.assembled, 3U);
  }
}

} // namespace
