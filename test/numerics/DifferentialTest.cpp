// Random well-typed programs x shapes: the CPU target against the reference.
//
// SKIM_NUMERICS_PROGRAMS says how many programs in all (400), SKIM_NUMERICS_SEED the first seed
// (1). Two shards, even and odd seeds, can run side by side.
#include "codegen/cpu/Target.h"
#include "test/numerics/CpuRun.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

using namespace skim;
using namespace skim::numerics;

namespace {

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A layout that differs from case to case: page size as the case says, the rest from its seed.
Layout layoutFor(const Case &c) {
  Layout layout;
  layout.seed = c.seed;
  layout.padding = c.seed % 3 == 0 ? 0 : 1 + c.seed % 5;
  layout.pageSize = c.pageSize;
  if (c.pageSize)
    layout.kv = c.seed % 2 ? KvLayout::PagedNhd : KvLayout::PagedHnd;
  return layout;
}

/// Results are f32 in half of the cases.
DType outDtypeFor(const Case &c) {
  constexpr DType kTypes[] = {DType::F32, DType::BF16, DType::F32, DType::F16};
  return kTypes[c.seed / 3 % std::size(kTypes)];
}

/// The processors that this machine can stand for, the best one first and most often.
std::vector<std::string> targetsOfThisMachine() {
  std::vector<std::string> names = {"cpu"};
  for (const cpu::Target &target : cpu::targets())
    if (cpu::hostRuns(target))
      names.insert(names.end(), {"cpu", target.name.str()});
  return names;
}

constexpr uint64_t kShards = 2;

class Differential : public testing::TestWithParam<uint64_t> {};

TEST_P(Differential, RandomProgramsAgreeWithTheReference) {
  uint64_t count = fromEnvironment("SKIM_NUMERICS_PROGRAMS", 400);
  uint64_t first = fromEnvironment("SKIM_NUMERICS_SEED", 1);
  std::vector<std::string> targets = targetsOfThisMachine();
  double compileSeconds = 0, runSeconds = 0, referenceSeconds = 0;
  uint64_t attended = 0, mismatches = 0, programs = 0;
  for (uint64_t seed = first; seed != first + count; ++seed) {
    if (seed % kShards != GetParam())
      continue;
    ++programs;
    Case c = generateCase(Profile::staticAndInputs, seed);
    auto start = std::chrono::steady_clock::now();
    ReferenceRun expected = runOnReference(c);
    referenceSeconds += secondsSince(start);
    ASSERT_TRUE(expected.ok) << expected.message << "\n" << c.describe();

    start = std::chrono::steady_clock::now();
    CompileOptions options = optionsFor(c);
    options.target = targets[seed / kShards % targets.size()];
    options.outDtype = outDtypeFor(c);
    Expected<Kernel> kernel =
        Compiler().compile(Pattern::fromText(c.program, "case.skim"), options);
    compileSeconds += secondsSince(start);
    std::string difference;
    if (!kernel) {
      difference = "does not compile: " + kernel.status().message();
    } else {
      start = std::chrono::steady_clock::now();
      CpuResult actual = runOnCpu(*kernel, c, layoutFor(c));
      runSeconds += secondsSince(start);
      difference = compareRuns(c, expected.result, actual);
      attended += actual.statistics.pairs_kept;
    }
    if (!difference.empty()) {
      ++mismatches;
      ADD_FAILURE() << difference << "\ntarget " << options.target << ", out "
                    << dtypeName(options.outDtype) << ", " << c.describe();
      if (mismatches == 10)
        FAIL() << "stopped after 10 mismatches, at seed " << seed;
    }
  }
  // A generator that writes empty patterns alone would test nothing.
  EXPECT_GT(attended, programs);
  std::cout << programs << " programs: compile " << compileSeconds << " s, run " << runSeconds
            << " s, reference " << referenceSeconds << " s; " << attended << " pairs kept\n";
}

INSTANTIATE_TEST_SUITE_P(Shards, Differential, testing::Range<uint64_t>(0, kShards));

} // namespace
