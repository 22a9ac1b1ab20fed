// Random well-typed programs x shapes: the CPU target against the reference.
//
// SKIM_NUMERICS_PROGRAMS says how many programs (400), SKIM_NUMERICS_SEED the first seed (1).
#include "test/numerics/CpuRun.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
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

TEST(Differential, RandomProgramsAgreeWithTheReference) {
  uint64_t count = fromEnvironment("SKIM_NUMERICS_PROGRAMS", 400);
  uint64_t first = fromEnvironment("SKIM_NUMERICS_SEED", 1);
  double compileSeconds = 0, runSeconds = 0, referenceSeconds = 0;
  uint64_t attended = 0, mismatches = 0;
  for (uint64_t seed = first; seed != first + count; ++seed) {
    Case c = generateCase(Profile::staticAndInputs, seed);
    auto start = std::chrono::steady_clock::now();
    ReferenceRun expected = runOnReference(c);
    referenceSeconds += secondsSince(start);
    ASSERT_TRUE(expected.ok) << expected.message << "\n" << c.describe();

    start = std::chrono::steady_clock::now();
    Expected<Kernel> kernel = compileCase(c);
    compileSeconds += secondsSince(start);
    std::string difference;
    if (!kernel) {
      difference = "does not compile: " + kernel.status().message();
    } else {
      start = std::chrono::steady_clock::now();
      CpuResult actual = runOnCpu(*kernel, c, layoutFor(c));
      runSeconds += secondsSince(start);
      bool outOfRange = expected.result.indexOutOfRange || expected.result.unlistedLabel;
      if (actual.status.code() != (outOfRange ? StatusCode::DataOutOfRange : StatusCode::Ok))
        difference = "status '" + actual.status.message() + "'" +
                     (outOfRange ? ", expected data out of range" : "");
      else
        difference = compare(c, expected.result, actual);
      attended += actual.statistics.pairs_kept;
    }
    if (!difference.empty()) {
      ++mismatches;
      ADD_FAILURE() << difference << "\n" << c.describe();
      if (mismatches == 10)
        FAIL() << "stopped after 10 mismatches, at seed " << seed;
    }
  }
  // A generator that writes empty patterns alone would test nothing.
  EXPECT_GT(attended, count);
  std::cout << count << " programs: compile " << compileSeconds << " s, run " << runSeconds
            << " s, reference " << referenceSeconds << " s; " << attended << " pairs kept\n";
}

} // namespace
