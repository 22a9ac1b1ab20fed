// Every example pattern keeps what the paper that it cites selects, on the reference and on the
// CPU.
#include "test/examples/Examples.h"
#include "test/numerics/CpuRun.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

namespace skim::examples {
namespace {

using numerics::Case;
using numerics::OperandType;

/// Rule 9, and for the reference what sums in another order make of f64.
constexpr Precision kCpu{0x1p-16, 0x1p-12, 0x1p-20};
constexpr Precision kReference{1e-13, 1e-13, 1e-14};
/// Of the visible pairs, so many may lie too close to a threshold for the CPU to be held to them.
constexpr double kMostUncertain = 0.01;

struct Batch {
  std::vector<numerics::Lengths> requests;
  numerics::Heads heads;
};

const std::vector<Batch> &allBatches() {
  static const std::vector<Batch> batches = {
      {{{200, 200}}, {.heads = 1, .kvHeads = 1, .dim = 64}},
      {{{333, 333}}, {.heads = 8, .kvHeads = 1, .dim = 32}},
      {{{130, 397}}, {.heads = 4, .kvHeads = 2, .dim = 16, .valueDim = 24}},
      {{{257, 513}}, {.heads = 7, .kvHeads = 1, .dim = 16, .operand = OperandType::bf16}},
      {{{40, 1400}}, {.heads = 2, .kvHeads = 1, .dim = 32, .operand = OperandType::bf16}},
      {{{50, 50}, {1, 300}, {0, 20}, {270, 210}, {256, 384}},
       {.heads = 6, .kvHeads = 2, .dim = 16, .operand = OperandType::f16}},
  };
  return batches;
}

Prompt promptOf(const Case &c) {
  const reference::Problem &problem = c.problem;
  Prompt prompt;
  prompt.heads = problem.q.heads;
  prompt.kvHeads = problem.k.heads;
  prompt.dim = problem.q.dim;
  prompt.valueDim = problem.v.dim;
  prompt.qLen = problem.q.tokens;
  prompt.kvLen = problem.kvLens.front();
  prompt.q = problem.q.data;
  prompt.k = problem.k.data;
  prompt.v = problem.v.data;
  prompt.parameters = problem.parameters;
  for (const auto &[name, input] : problem.inputs) {
    prompt.inputs[name] = input.data;
    prompt.extents[name] = input.shape;
  }
  return prompt;
}

/// Gives 32 tokens in a row half of their elements in common, as neighbours in a text have: the
/// means of blocks differ then, and so do the energies of tiles.
void correlate(reference::Tokens &tokens) {
  for (int64_t token = 0; token < tokens.tokens; ++token)
    for (int64_t head = 0; head < tokens.heads; ++head) {
      auto at = [&](int64_t other) {
        return tokens.data.begin() + (other * tokens.heads + head) * tokens.dim;
      };
      std::copy_n(at(token - token % 32), tokens.dim / 2, at(token));
    }
}

/// A batch for an example: the requests one by one, and together.
struct Cases {
  Cases(const Example &example, const Batch &shape, uint64_t seed) {
    std::string program = programOf(example.name);
    std::mt19937_64 random(seed);
    for (const numerics::Lengths &lengths : shape.requests) {
      Case c = numerics::makeCase(program, {lengths}, shape.heads, random());
      correlate(c.problem.q);
      correlate(c.problem.k);
      c.problem.parameters = example.parameters;
      for (auto &[name, values] : c.problem.parameters)
        if (values.size() > 1)
          values.resize(shape.heads.heads);
      if (example.addInputs)
        example.addInputs(c, random);
      prompts.push_back(promptOf(c));
      cases.push_back(std::move(c));
    }
    batch = cases.front();
    if (cases.size() > 1)
      batch = numerics::batchOf(cases);
    // A weight belongs to the model and has no request axis.
    for (const auto &[name, element] : batch.inputElements)
      if (element == "vec")
        batch.problem.inputs[name] = cases.front().problem.inputs[name];
  }

  std::vector<Prompt> prompts;
  std::vector<Case> cases;
  Case batch;
};

struct Counts {
  int64_t visible = 0, uncertain = 0;
};

/// Compares a device's kept bytes with the restatement, request by request.
void expectKept(const Example &example, Cases &cases, const std::vector<uint8_t> &kept,
                int64_t longest, Precision precision, Counts &counts) {
  int64_t tokens = cases.batch.problem.q.tokens, firstRow = 0;
  for (Prompt &prompt : cases.prompts) {
    prompt.precision = precision;
    Relation expected = example.restate(prompt);
    int64_t different = 0;
    for (int64_t head = 0; head < prompt.heads; ++head)
      for (int64_t row = 0; row < prompt.qLen; ++row)
        for (int64_t key = 0; key < longest; ++key) {
          bool isVisible = key < prompt.kvLen && key <= prompt.position(row);
          Decision decision = isVisible ? expected.at(head, row, key) : Decision::Dropped;
          counts.visible += isVisible;
          counts.uncertain += decision == Decision::Uncertain;
          bool isKept = kept[(head * tokens + firstRow + row) * longest + key] != 0;
          if (decision != Decision::Uncertain && (decision == Decision::Kept) != isKept &&
              ++different == 1)
            ADD_FAILURE() << example.name << ", " << prompt.qLen << " rows, " << prompt.kvLen
                          << " keys: head " << head << ", row " << row << ", key " << key << " is "
                          << (isKept ? "kept" : "dropped");
        }
    EXPECT_EQ(different, 0);
    firstRow += prompt.qLen;
  }
}

class ExamplesTest : public testing::TestWithParam<Example> {};

TEST_P(ExamplesTest, KeepsOnTheReferenceWhatThePaperSelects) {
  const Example &example = GetParam();
  Counts counts;
  int64_t kept = 0;
  for (size_t i = 0; i != allBatches().size(); ++i) {
    Cases cases(example, allBatches()[i], i);
    numerics::ReferenceRun run = numerics::runOnReference(cases.batch);
    ASSERT_TRUE(run.ok) << run.message;
    expectKept(example, cases, run.result.kept, run.result.maxKvLen, kReference, counts);
    for (uint8_t byte : run.result.kept)
      kept += byte != 0;
  }
  EXPECT_EQ(counts.uncertain, 0);
  // Neither everything nor nothing: agreement about such a set would prove little.
  EXPECT_GT(kept, counts.visible / 50);
  EXPECT_TRUE(kept < counts.visible - counts.visible / 200 || example.name == "causal") << kept;
}

TEST_P(ExamplesTest, AttendsOnTheReferenceToWhatItKeeps) {
  const Example &example = GetParam();
  for (size_t batch : {2, 3}) { // of one request each
    Cases cases(example, allBatches()[batch], batch);
    numerics::ReferenceRun run = numerics::runOnReference(cases.batch);
    ASSERT_TRUE(run.ok) << run.message;
    std::vector<double> expected = attend(
        cases.prompts.front(),
        [&](int64_t head, int64_t row, int64_t key) { return run.result.isKept(head, row, key); },
        example.logit, example.rest);
    ASSERT_EQ(run.result.out.size(), expected.size());
    for (size_t i = 0; i != expected.size(); ++i)
      ASSERT_NEAR(run.result.out[i], expected[i], 1e-9);
  }
}

TEST_P(ExamplesTest, KeepsOnTheCpuWhatThePaperSelects) {
  const Example &example = GetParam();
  Counts counts;
  for (size_t i = 0; i != allBatches().size(); ++i) {
    Cases cases(example, allBatches()[i], i);
    Expected<Kernel> kernel = numerics::compileCase(cases.batch);
    ASSERT_TRUE(kernel) << kernel.status().message();
    numerics::RunResult result = numerics::runOnCpu(*kernel, cases.batch, {});
    ASSERT_TRUE(result.status) << result.status.message();
    expectKept(example, cases, result.kept, result.maxKvLen, kCpu, counts);
  }
  RecordProperty("visible_pairs", std::to_string(counts.visible));
  RecordProperty("uncertain_pairs", std::to_string(counts.uncertain));
  EXPECT_LE(double(counts.uncertain), kMostUncertain * double(counts.visible));
}

INSTANTIATE_TEST_SUITE_P(Patterns, ExamplesTest, testing::ValuesIn(allExamples()),
                         [](const testing::TestParamInfo<Example> &info) {
                           return info.param.name;
                         });

TEST(Examples, EachHasARestatementAndASource) {
  std::set<std::string> restated, files;
  for (const Example &example : allExamples())
    restated.insert(example.name);
  for (const auto &entry : std::filesystem::directory_iterator(SKIM_EXAMPLES))
    if (entry.path().extension() == ".skim") {
      files.insert(entry.path().stem());
      EXPECT_NE(programOf(entry.path().stem()).find("// Source"), std::string::npos)
          << entry.path() << " names no source";
    }
  EXPECT_EQ(restated, files);
}

} // namespace
} // namespace skim::examples
