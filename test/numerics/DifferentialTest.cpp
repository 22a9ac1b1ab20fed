// Random well-typed programs x shapes: the CPU target against the reference.
//
// SKIM_NUMERICS_PROGRAMS says how many programs in all (400), SKIM_NUMERICS_SEED the first seed
// (1). Two shards, even and odd seeds, can run side by side. Pairs that a target's own scores may
// decide (rule 9) are forgiven and counted.
#include "codegen/cpu/Target.h"
#include "test/numerics/CpuRun.h"
#include "test/numerics/FromEnvironment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <iterator>
#include <string>

using namespace skim;
using namespace skim::numerics;

namespace {

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
/// Programs that score are three of four.
constexpr uint64_t kStaticShare = 4;
/// More open pairs than this, and the comparison would forgive too much to mean anything. One
/// program whose scores tie leaves all of its pairs open, which is a hundredth of all.
constexpr double kMostOpen = 0.05;
/// With fewer programs, no share tells anything.
constexpr uint64_t kFewPrograms = 100;
constexpr uint64_t kMostMismatches = 10;

/// What one shard of a profile came to.
struct Tally {
  double compileSeconds = 0, runSeconds = 0, referenceSeconds = 0;
  uint64_t programs = 0, mismatches = 0, attended = 0;
  Agreement agreement;
};

std::ostream &operator<<(std::ostream &os, const Tally &tally) {
  const Agreement &agreement = tally.agreement;
  return os << tally.programs << " programs: compile " << tally.compileSeconds << " s, run "
            << tally.runSeconds << " s, reference " << tally.referenceSeconds << " s; "
            << tally.attended << " pairs kept; of " << agreement.visible << " visible pairs "
            << agreement.open << " open and " << agreement.forgiven
            << " of these decided otherwise, and " << agreement.forgivenTokens
            << " gathered tokens";
}

class Differential : public testing::TestWithParam<uint64_t> {
protected:
  /// Runs the programs of this shard among the first `count`.
  Tally check(Profile profile, uint64_t count) {
    Tally tally;
    uint64_t first = fromEnvironment("SKIM_NUMERICS_SEED", 1);
    for (uint64_t seed = first; seed != first + count; ++seed) {
      if (seed % kShards != GetParam())
        continue;
      ++tally.programs;
      Case c = generateCase(profile, seed);
      CompileOptions options = optionsFor(c);
      options.target = targets[seed / kShards % targets.size()];
      options.outDtype = outDtypeFor(c);
      std::string difference = check(c, options, tally);
      if (difference.empty())
        continue;
      ADD_FAILURE() << difference << "\ntarget " << options.target << ", out "
                    << dtypeName(options.outDtype) << ", " << c.describe();
      if (++tally.mismatches == kMostMismatches) {
        ADD_FAILURE() << "stopped after " << kMostMismatches << " mismatches, at seed " << seed;
        break;
      }
    }
    std::cout << tally << "\n";
    if (tally.programs < kFewPrograms)
      return tally;
    // A generator that writes empty patterns alone would test nothing.
    EXPECT_GT(tally.attended, tally.programs);
    EXPECT_LE(tally.agreement.open, kMostOpen * tally.agreement.visible);
    return tally;
  }

private:
  static std::string check(const Case &c, const CompileOptions &options, Tally &tally) {
    auto start = std::chrono::steady_clock::now();
    ReferenceRun expected = runOnReference(c);
    tally.referenceSeconds += secondsSince(start);
    if (!expected.ok)
      return "the reference refuses: " + expected.message;

    start = std::chrono::steady_clock::now();
    Expected<Kernel> kernel =
        Compiler().compile(Pattern::fromText(c.program, "case.skim"), options);
    tally.compileSeconds += secondsSince(start);
    if (!kernel)
      return "does not compile: " + kernel.status().message();

    start = std::chrono::steady_clock::now();
    RunResult actual = runOnCpu(*kernel, c, layoutFor(c));
    tally.runSeconds += secondsSince(start);
    tally.attended += actual.statistics.pairs_kept;
    return compareRuns(c, expected.result, actual, &tally.agreement);
  }

  const std::vector<std::string> targets = targetsOfThisMachine();
};

uint64_t programs() { return fromEnvironment("SKIM_NUMERICS_PROGRAMS", 400); }

TEST_P(Differential, ProgramsWithoutScoresAgreeWithTheReference) {
  Tally tally = check(Profile::staticAndInputs, programs() / kStaticShare);
  EXPECT_EQ(tally.agreement.open, 0);
}

TEST_P(Differential, ProgramsOfTheWholeLanguageAgreeWithTheReference) {
  Tally tally = check(Profile::whole, programs() - programs() / kStaticShare);
  if (tally.programs >= kFewPrograms) {
    EXPECT_GT(tally.agreement.open, 0); // Else no score decides anything.
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, Differential, testing::Range<uint64_t>(0, kShards));

} // namespace
