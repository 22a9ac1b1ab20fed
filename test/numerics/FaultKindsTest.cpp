// Kinds of faults that other systems had: rows and lengths. Each test bears the name of its kind.
#include "test/numerics/FaultCases.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace skim;
using namespace skim::numerics;

namespace {

std::string keptRow(const RunResult &result, int64_t head, int64_t token) {
  std::string row;
  for (int64_t k = 0; k != result.maxKvLen; ++k)
    row += result.kept[(head * result.tokens + token) * result.maxKvLen + k] ? '1' : '0';
  return row;
}

TEST(FaultKinds, K1RowsWithoutKeysGiveZeroAndMinusInfinity) {
  Case c = makeCase("pattern p { input layout: bool[q / 64, k / 64]\n keep layout }", {{256, 256}},
                    {.heads = 2, .kvHeads = 1});
  addInput(c, "layout", "bool", {4, 4}, [](int64_t i) { return i >= 4 && i % 4 == 0; });
  EXPECT_EQ(checkCase(c), "");
  Expected<Kernel> kernel = compileCase(c);
  ASSERT_TRUE(kernel) << kernel.status().message();
  RunResult result = runOnCpu(*kernel, c, {});
  for (int64_t head = 0; head != 2; ++head)
    for (int64_t token = 0; token != 256; ++token)
      EXPECT_EQ(isEmptyRow(result, head, token), token < 64) << token;
}

TEST(FaultKinds, K1CausalRowsBeforeTheFirstKey) {
  for (const char *program : {kDense, "pattern p { keep true\n sink_logit 2.0 }"}) {
    Case c = makeCase(program, {{130, 2}}, {.heads = 2, .kvHeads = 1});
    EXPECT_EQ(checkCase(c), "");
    Expected<Kernel> kernel = compileCase(c);
    ASSERT_TRUE(kernel) << kernel.status().message();
    RunResult result = runOnCpu(*kernel, c, {});
    for (int64_t token = 0; token != 130; ++token)
      EXPECT_EQ(isEmptyRow(result, 1, token), token < 128) << token;
  }
}

TEST(FaultKinds, K2LengthsThatAreNoMultipleOfATile) {
  for (int64_t length : {1, 7, 63, 64, 65, 127, 129, 1000, 1001})
    EXPECT_EQ(checkCase(makeCase(kStreaming, {{length, length}}, {.heads = 1, .kvHeads = 1})), "")
        << length;
}

TEST(FaultKinds, K2MoreIsSelectedThanThereIs) {
  Case c = makeCase("pattern p { input score: f32[k / 64]\n keep top_k(score, 100) }", {{300, 300}},
                    {.heads = 1, .kvHeads = 1});
  addInput(c, "score", "f32", {5}, [](int64_t i) { return double(i % 3); });
  EXPECT_EQ(checkCase(c), "");
  Expected<Kernel> selected = compileCase(c);
  ASSERT_TRUE(selected) << selected.status().message();
  Case dense = c;
  dense.program = kDense;
  Expected<Kernel> all = compileCase(dense);
  ASSERT_TRUE(all) << all.status().message();
  EXPECT_EQ(runOnCpu(*selected, c, {}).out, runOnCpu(*all, dense, {}).out);
}

// Blocks of 7 rows straddle the cells of 16, so rows of one vector read two of them.
TEST(FaultKinds, K2CoversWhoseRowsStraddleTheCellsOfAnInput) {
  for (const char *clause :
       {"keep cover(q / 7, k / 64, layout)", "rest mean(16, q / 7)\n keep layout and q - k < 40"}) {
    Case c =
        makeCase(std::string("pattern p { input layout: bool[q / 16, k / 64]\n ") + clause + " }",
                 {{132, 132}, {20, 93}}, {.heads = 2, .kvHeads = 1});
    addInput(c, "layout", "bool", {2, 9, 3}, [](int64_t i) { return i % 3 == 0 || i % 5 == 1; });
    EXPECT_EQ(checkCase(c), "");
  }
}

// What the outer cover rounds up has no closed form, although the inner cover alone has one.
TEST(FaultKinds, K2CoversOfCoversWithoutAClosedForm) {
  for (const char *body :
       {"keep cover(q / 16, k / 16, cover(q / 8, k / 8, (q - k) % 9 == 2))",
        "keep cover(q / 8, k / 8, cover(q / 4, k / 4, (q - k) % 9 == 2) and not "
        "cover(k / 3, q - k == 7))",
        "keep cover(q / 16, k / 16, cover(q / 8, k / 8, cover(q / 4, k / 4, (q - k) % 9 == 2)))",
        "let inner = cover(q / 8, k / 8, (q - k) % 9 == 2)\n"
        "keep cover(q / 16, k / 16, inner) and not cover(q / 8, k / 16, inner and q - k > 40)",
        "rest mean(16, q / 16)\n keep cover(q / 8, k / 8, (q - k) % 9 == 2) and q - k < 60"})
    EXPECT_EQ(checkCase(makeCase(std::string("pattern p {\n") + body + "\n}", {{70, 70}, {5, 43}},
                                 {.heads = 2, .kvHeads = 1})),
              "")
        << body;
}

TEST(FaultKinds, K3CausalityIsAlignedAtTheLastKey) {
  Case fewer = makeCase(kDense, {{2, 5}}, {}), more = makeCase(kDense, {{5, 2}}, {});
  Expected<Kernel> kernel = compileCase(fewer);
  ASSERT_TRUE(kernel) << kernel.status().message();
  RunResult result = runOnCpu(*kernel, fewer, {});
  EXPECT_EQ(keptRow(result, 0, 0), "11110");
  EXPECT_EQ(keptRow(result, 0, 1), "11111");
  result = runOnCpu(*kernel, more, {});
  const char *rows[] = {"00", "00", "00", "10", "11"};
  for (int64_t token = 0; token != 5; ++token)
    EXPECT_EQ(keptRow(result, 0, token), rows[token]) << token;
}

TEST(FaultKinds, K3ChunksOfAPrefillGiveTheWhole) {
  Case whole = makeCase(kStreaming, {{1024, 1024}}, {.heads = 4, .kvHeads = 2});
  Expected<Kernel> kernel = compileCase(whole);
  ASSERT_TRUE(kernel) << kernel.status().message();
  RunResult expected = runOnCpu(*kernel, whole, {});
  int64_t row = expected.heads * expected.valueDim;
  const int64_t cuts[] = {0, 300, 600, 1024};
  for (int i = 1; i != 4; ++i) {
    RunResult chunk = runOnCpu(*kernel, chunkOf(whole, cuts[i - 1], cuts[i], 1), {});
    ASSERT_TRUE(chunk.status) << chunk.status.message();
    for (size_t at = 0; at != chunk.out.size(); ++at)
      ASSERT_NEAR(chunk.out[at], expected.out[cuts[i - 1] * row + at], 1e-5);
  }
}

TEST(FaultKinds, K4MembersOfABatchWithoutRowsOrKeys) {
  Case c = makeCase(kStreaming, {{150, 100}, {0, 0}, {150, 300}, {20, 0}, {0, 7}},
                    {.heads = 2, .kvHeads = 1});
  for (KvLayout kv : {KvLayout::Contiguous, KvLayout::PagedNhd})
    EXPECT_EQ(checkCase(c, {.kv = kv, .pageSize = 16}), "");
  Expected<Kernel> kernel = compileCase(c);
  ASSERT_TRUE(kernel) << kernel.status().message();
  RunResult result = runOnCpu(*kernel, c, {});
  for (int64_t token = 300; token != 320; ++token)
    EXPECT_TRUE(isEmptyRow(result, 0, token));
  RunResult nothing = runOnCpu(*kernel, makeCase(kStreaming, {{0, 9}, {0, 0}}, {.heads = 2}), {});
  EXPECT_TRUE(nothing.status) << nothing.status.message();
  EXPECT_EQ(nothing.statistics.tiles_visited, 0);
}

TEST(FaultKinds, K8ListsAreSets) {
  const char *program = "pattern p { input blocks: list[k / 16]\n keep blocks }";
  Case c = makeCase(program, {{128, 112}}, {});
  std::vector<std::vector<double>> lists = {{3, 0, 3, -1, 7}, {-1, 7, 3, 3, 0}, {0, 3, 3, 0, 3}};
  std::vector<float> first;
  for (const std::vector<double> &list : lists) {
    // Seven blocks of keys: 7 is out of range in the first two.
    addInput(c, "blocks", "list", {5}, [&](int64_t i) { return list[i]; });
    EXPECT_EQ(checkCase(c), "");
    Expected<Kernel> kernel = compileCase(c);
    ASSERT_TRUE(kernel) << kernel.status().message();
    RunResult result = runOnCpu(*kernel, c, {});
    EXPECT_EQ(result.status.code(),
              list[2] == 3 && list[4] == 3 ? StatusCode::Ok : StatusCode::DataOutOfRange);
    for (int64_t k = 0; k != 112; ++k)
      EXPECT_EQ(keptRow(result, 0, 127)[k], k / 16 == 0 || k / 16 == 3 ? '1' : '0') << k;
    if (first.empty())
      first = result.out;
    EXPECT_EQ(result.out, first);
  }
  // With a count the entries behind it do not matter.
  addInput(c, "blocks", "list", {5}, [&](int64_t i) { return lists[0][i]; });
  addInput(c, "blocks_counts", "index", {}, [](int64_t) { return 3; });
  EXPECT_EQ(checkCase(c), "");
}

TEST(FaultKinds, K9TheTilesThatAreVisitedAreTheSelectedOnes) {
  Case c = makeCase("pattern p { input layout: bool[head, q / 64, k / 64]\n keep layout }",
                    {{512, 512}}, {.heads = 2, .kvHeads = 1});
  // One block in the middle is dropped; its values would show in every row that sees them.
  for (int64_t i = 128 * 64; i != 192 * 64; ++i)
    c.problem.v.data[i] = 1e3;
  addInput(c, "layout", "bool", {2, 8, 8}, [](int64_t i) { return i % 8 != 2; });
  EXPECT_EQ(checkCase(c), "");
  Expected<Kernel> kernel = compileCase(c);
  ASSERT_TRUE(kernel) << kernel.status().message();
  RunResult result = runOnCpu(*kernel, c, {});
  // 36 causal tiles a head, of which six lie in the dropped column; eight touch the diagonal.
  EXPECT_EQ(result.statistics.tiles_visited, 2 * (36 - 6));
  EXPECT_EQ(result.statistics.tiles_masked, 2 * (8 - 1));
  for (float value : result.out)
    ASSERT_LT(std::abs(value), 10);
}

TEST(FaultKinds, K3DistancesForEachBlockOfRows) {
  Case c = makeCase("pattern p { input near: bool[head, q / 16, q - k]\n"
                    "  input bias: f32[q / 64, q - k]\n"
                    "  keep near and bias >= 0.25 or k < 3 }",
                    {{70, 110}}, {.heads = 4, .kvHeads = 2});
  addInput(c, "near", "bool", {4, 6, 110}, [](int64_t i) { return i * 7 % 5 < 2; });
  addInput(c, "bias", "f32", {2, 110}, [](int64_t i) { return double(i % 9) / 16; });
  EXPECT_EQ(checkCase(c), "");
  c = makeCase("pattern p { keep dot(mean(K, over: k), mean(K, over: k)) > 0.0 and q - k < 9 }",
               {{33, 90}, {0, 5}}, {.heads = 4, .kvHeads = 2});
  EXPECT_EQ(checkCase(c), "");
}

TEST(FaultKinds, K12StatesMergeInAnyOrder) {
  Case whole = makeCase(kDense, {{40, 200}}, {.heads = 2, .kvHeads = 1});
  // Logits far from 0 on both sides.
  for (double &x : whole.problem.q.data)
    x = float(x * 20);
  const char *program = "pattern p(from: index = 0, to: index = 0) { keep k >= from and k < to }";
  Case part = whole;
  part.program = program;
  Expected<Kernel> all = compileCase(whole), some = compileCase(part);
  ASSERT_TRUE(all) << all.status().message();
  ASSERT_TRUE(some) << some.status().message();
  RunResult expected = runOnCpu(*all, whole, {});
  std::vector<RunResult> parts;
  for (auto [from, to] : {std::pair(0, 77), std::pair(90, 90), std::pair(77, 200)}) {
    part.problem.parameters["from"] = {double(from)};
    part.problem.parameters["to"] = {double(to)};
    parts.push_back(runOnCpu(*some, part, {}));
    ASSERT_TRUE(parts.back().status) << parts.back().status.message();
  }
  EXPECT_EQ(compareMerged(parts, expected, 1e-4, 1e-5), "");
}

TEST(FaultKinds, K12LogSumExpFarFromZero) {
  for (double logit : {88.9, -1e4, 1e4}) {
    Case c = makeCase("pattern p(x: f32 = 0) { keep q - k < 9\n logit s * 0.0 + x }", {{30, 40}},
                      {.heads = 2, .kvHeads = 1});
    c.problem.parameters["x"] = {float(logit)};
    EXPECT_EQ(checkCase(c), "") << logit;
  }
}

TEST(FaultKinds, K12OutputsBelowTheNormalNumbersOfTheirType) {
  // The sink has nearly all of the weight, and what is left of f16 are a few steps of 2^-24.
  Case c = makeCase("pattern p { keep q - k < 30\n logit s - 16.0\n sink_logit 2.0 }", {{40, 40}},
                    {.heads = 2, .kvHeads = 1});
  for (DType type : {DType::F16, DType::BF16, DType::F32}) {
    CompileOptions options = optionsFor(c);
    options.outDtype = type;
    Expected<Kernel> kernel = Compiler().compile(Pattern::fromText(c.program), options);
    ASSERT_TRUE(kernel) << kernel.status().message();
    ReferenceRun expected = runOnReference(c);
    ASSERT_TRUE(expected.ok) << expected.message;
    RunResult actual = runOnCpu(*kernel, c, {});
    EXPECT_EQ(compareRuns(c, expected.result, actual), "") << dtypeName(type);
    EXPECT_TRUE(llvm::any_of(actual.out, [](float x) { return x != 0; })) << dtypeName(type);
  }
}

TEST(FaultKinds, LabelsThatNoArmListsAreRefused) {
  Case c = makeCase("pattern p(kind: index[head] = 0) {\n"
                    "  keep match kind { 0: k < 4  1: q - k < 4 }\n}",
                    {{9, 9}}, {.heads = 2, .kvHeads = 1});
  c.problem.parameters["kind"] = {0, 1};
  EXPECT_EQ(checkCase(c), "");
  c.problem.parameters["kind"] = {0, 2};
  Expected<Kernel> kernel = compileCase(c);
  ASSERT_TRUE(kernel) << kernel.status().message();
  RunResult result = runOnCpu(*kernel, c, {});
  EXPECT_EQ(result.status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(result.status.message().find("kind"), std::string::npos) << result.status.message();
}

} // namespace
