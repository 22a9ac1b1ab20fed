// Kinds of faults that other systems had, where scores decide: rows, lengths, numbers. Each test
// bears the name of its kind.
#include "test/numerics/ScoredCases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace skim;
using namespace skim::numerics;

namespace {

constexpr Heads kTwoHeads{.heads = 2, .kvHeads = 1};
const char *const kAll[] = {kPeakBlocks, kEnergyBlocks, kColumnsAndDiagonals, kRowSelections};

TEST(ScoredFaults, K1RowsForWhichNothingScoresHighEnough) {
  for (const char *set :
       {"dot(Q, K) > 1e30", "top_k(dot(Q, K), 0)", "log(-1.0 - abs(dot(Q, K))) < 1e30",
        "top_p(dot(Q, mean(K, 64)) where k / 64 > 99, 1.0)",
        "cover(q / 64, k / 64, max(dot(Q, mean(K, 16)), into: q / 64) > 1e30)",
        "dot(mean(Q, into: q / 64), K) > 1e30"}) {
    Case c =
        makeCase(std::string("pattern p { keep ") + set + " }", {{130, 2}, {96, 200}}, kTwoHeads);
    std::unique_ptr<Kernel> kernel = compileScored(c);
    EXPECT_EQ(checkScored(kernel, c), "") << set;
    if (!kernel)
      continue;
    RunResult result = runOnCpu(*kernel, c, {});
    EXPECT_TRUE(std::all_of(result.out.begin(), result.out.end(), [](float x) { return x == 0; }));
    EXPECT_TRUE(
        std::all_of(result.lse.begin(), result.lse.end(), [](float x) { return x == -INFINITY; }));
  }
}

TEST(ScoredFaults, K1UndefinedScoresAreNotSelected) {
  // Inputs with NaN reach scores; what they touch is undefined and selects nothing.
  Case c = makeCase("pattern p { input x: f32[k / 16]\n"
                    "  let s = dot(Q, mean(K, 16)) + x\n"
                    "  keep top_k(s, 3) or s > 0.9 * max(s, over: k / 16) and q - k < 90 }",
                    {{150, 150}}, kTwoHeads);
  addInput(c, "x", "f32", {10}, [](int64_t i) { return i % 3 == 1 ? NAN : 0.25 * double(i % 4); });
  EXPECT_EQ(checkScored(c), "");
}

TEST(ScoredFaults, K1VectorsAreUndefinedComponentByComponent) {
  for (const char *vectors :
       {"mean(x, 16)", "sum(x, into: k / 16)", "var(x, into: k / 16)", "smooth(mean(x, 16), 3)",
        "mean(int8(x), 16)", "max(abs(x) - 0.5, into: k / 16)", "mean(linear(x, w), 16)"}) {
    Case c = makeCase(std::string("pattern p {\n  input x: vec[k]\n  input w: vec\n"
                                  "  keep top_k(dot(Q, ") +
                          vectors + "), 3)\n}",
                      {{90, 90}}, {.heads = 2, .kvHeads = 1, .dim = 16});
    addInput(c, "x", "vec", {90, 16},
             [](int64_t i) { return i % 23 == 5 ? NAN : 0.0625 * double(i * 37 % 101 - 50); });
    addInput(c, "w", "vec", {16, 16}, [](int64_t i) { return 0.125 * double(i % 5 - 2); });
    EXPECT_EQ(checkScored(c), "") << vectors;
  }
}

TEST(ScoredFaults, K1TheVarianceOfInfinityIsUndefined) {
  for (const char *set :
       {"var(x, 16) <= 1000", "not (var(x, 16) <= 1000)", "top_k(var(x, 16), 3)"}) {
    Case c = makeCase(std::string("pattern p { input x: f32[k]\n  keep ") + set + " }", {{90, 90}},
                      kTwoHeads);
    addInput(c, "x", "f32", {90},
             [](int64_t i) { return i == 20 ? INFINITY : 0.25 * double(i * 37 % 11); });
    EXPECT_EQ(checkScored(c), "") << set;
  }
}

TEST(ScoredFaults, K2LengthsThatAreNoMultipleOfABlock) {
  for (const char *program : kAll) {
    std::unique_ptr<Kernel> kernel = compileScored(makeCase(program, {}, kTwoHeads));
    for (int64_t length : {1, 7, 15, 16, 17, 63, 64, 65, 129, 501})
      EXPECT_EQ(checkScored(kernel, makeCase(program, {{length, length}}, kTwoHeads)), "")
          << program << "\n"
          << length;
  }
}

TEST(ScoredFaults, K2MoreIsSelectedThanThereIs) {
  for (const char *set : {"top_k(dot(Q, K), 1000)", "top_p(exp(dot(Q, K)), 1.0)",
                          "top_k(dot(mean(Q, into: q / 64), mean(K, 64), visible: any), 100)",
                          "top_k(sum(exp(dot(last(Q, 1000), K)), over: q), 1000)"}) {
    Case c =
        makeCase(std::string("pattern p { keep ") + set + " }", {{300, 300}, {40, 90}}, kTwoHeads);
    std::unique_ptr<Kernel> selected = compileScored(c);
    EXPECT_EQ(checkScored(selected, c), "") << set;
    if (!selected)
      continue;
    Case dense = c;
    dense.program = "pattern p { keep true }";
    Expected<Kernel> all = compileCase(dense);
    ASSERT_TRUE(all) << all.status().message();
    EXPECT_TRUE(sameResults(runOnCpu(*selected, c, {}), runOnCpu(*all, dense, {}))) << set;
  }
}

TEST(ScoredFaults, K3RowsAndKeysOfDifferentNumber) {
  for (const char *program : kAll) {
    std::unique_ptr<Kernel> kernel = compileScored(makeCase(program, {}, kTwoHeads));
    for (Lengths lengths : {Lengths{2, 5}, Lengths{5, 2}, Lengths{40, 300}, Lengths{300, 40},
                            Lengths{1, 257}, Lengths{65, 64}})
      EXPECT_EQ(checkScored(kernel, makeCase(program, {lengths}, kTwoHeads)), "")
          << program << "\n"
          << lengths.qLen << " rows, " << lengths.kvLen << " keys";
  }
}

TEST(ScoredFaults, K3DistancesFromBlocksOfRows) {
  // Cells of one distance a block of rows, joined over rows, over distances, and over heads.
  for (const char *clauses :
       {"keep top_k(sum(e, over: q / 64), 9)", "keep top_k(mean(e, over: heads), 9)",
        "keep e >= 0.3 * max(e, over: q - k)",
        "keep e >= 0.3 * max(e, over: q - k)\n  noncausal"}) {
    Case c = makeCase(
        std::string("pattern p {\n  let e = sum(exp(dot(Q, K)), into: (q / 64, q - k))\n  ") +
            clauses + "\n}",
        {{130, 130}, {70, 100}, {100, 70}}, kTwoHeads);
    EXPECT_EQ(checkScored(c), "") << clauses;
  }
}

TEST(ScoredFaults, K3DistancesAheadOfTheRowAreSelected) {
  // Without causality distances start at 1 - q_len.
  for (const char *clauses :
       {"keep top_k(sum(e, into: q - k), 9)", "keep top_p(sum(e, into: q - k), 0.3)",
        "keep cover(q / 16, k / 16, top_k(mean(e, into: q - k), 3))",
        "keep top_k(sum(e, into: (q / 64, q - k)), 9)",
        "keep not (top_k(sum(e, into: q - k), 30))"}) {
    Case c = makeCase(std::string("pattern p {\n  noncausal\n  let e = exp(dot(Q, K))\n  ") +
                          clauses + "\n}",
                      {{130, 130}, {70, 100}, {100, 70}}, kTwoHeads);
    EXPECT_EQ(checkScored(c), "") << clauses;
  }
}

TEST(ScoredFaults, K3BlocksOfRowsThatDoNotDivideEachOther) {
  // Cells of 2 rows end inside of blocks of 3, and those of 16 inside of blocks of 24.
  for (const char *clauses :
       {"keep cover(q / 3, k / 4, cover(q / 2, k / 3, top_k(s, 2)))",
        "keep cover(q / 24, k / 8, cover(q / 16, k / 8, top_k(s, 2)))",
        "keep top_k(sum(s where cover(q / 4, k / 4, top_k(s, 3)), into: (q / 7, k / 8)), 2)",
        "keep top_k(sum(s where cover(q / 2, k / 2, top_k(s, 3)), into: (q / 21, q - k)), 5)",
        "keep cover(q / 2, k / 3, top_k(s, 2))\n  rest mean(4, q / 3)",
        "noncausal\n  keep cover(q / 3, k / 4, cover(q / 2, k / 3, top_k(s, 2)))"}) {
    Case c = makeCase(std::string("pattern p {\n  let s = dot(Q, K)\n  ") + clauses + "\n}",
                      {{70, 70}, {33, 101}, {101, 33}}, kTwoHeads);
    EXPECT_EQ(checkScored(c), "") << clauses;
  }
}

TEST(ScoredFaults, K3VectorsThatEachPairHas) {
  for (const char *set :
       {"top_k(dot(Q - K, Q - K, scale: -1), 5)", "dot(int8(Q * K), K) > 0.5",
        "top_k(dot(max(Q * K, into: k / 16), mean(K, 16)), 2)",
        "top_k(dot(sum(Q * K, into: (q / 4, k / 16)), mean(K, 16)), 2)",
        "dot(mean(Q * K, over: k), K) > 0.1", "top_k(dot(smooth(Q - K, 3), K), 4)",
        "top_k(dot(sum(Q * K, into: (q / 32, k / 16), over: group), mean(K, 16)), 2)"}) {
    Case c = makeCase(std::string("pattern p { keep ") + set + " }", {{40, 40}, {21, 70}},
                      {.heads = 2, .kvHeads = 1, .dim = 32});
    EXPECT_EQ(checkScored(c), "") << set;
  }
}

TEST(ScoredFaults, K3VectorsThatEachPairHasAreJoinedOverHeads) {
  for (const char *clauses :
       {"keep dot(sum(Q * K, over: group), K) > 0.0",
        "keep top_k(dot(var(Q - K, over: heads), K), 5)",
        // Rows, keys and heads at once.
        "keep top_k(dot(max(Q * K, into: (q / 4, k / 16), over: group), mean(K, 16)), 2)",
        "keep dot(mean(Q * K, over: (k, heads)), K) > 0.1",
        // What the joined vectors are made of is scored itself, head by head.
        "keep top_k(dot(sum(Q * softmax(dot(Q, K), over: k), over: group), K), 5)",
        "keep top_k(dot(sum((Q - K) where top_k(dot(Q, K), 7), over: heads), K), 5)",
        "keep top_k(dot(min(int8(Q * K), over: group), smooth(K, 3)), 5)",
        // Joined once more, over other heads.
        "let x = Q * max(dot(Q, K), over: group)\n"
        "  keep top_k(dot(sum(x - mean(x, over: heads), over: group), K), 5)",
        "let x = Q * tanh(dot(Q, K))\n"
        "  let y = mean(x, over: group)\n"
        "  keep top_k(dot(y - max(y, over: heads), mean(y, over: heads)), 5)",
        "input w: f32[head]\n  keep top_k(dot(sum(Q * K * w, over: heads), K), 5) or head < 1 and "
        "k < 3"}) {
    Case c = makeCase(std::string("pattern p {\n  ") + clauses + "\n}", {{40, 40}, {21, 70}},
                      {.heads = 4, .kvHeads = 2, .dim = 16});
    if (c.program.find("input w") != std::string::npos)
      addInput(c, "w", "f32", {2, 4}, [](int64_t i) { return 0.5 + double(i); });
    EXPECT_EQ(checkScored(c), "") << clauses;
  }
}

TEST(ScoredFaults, K3VectorsAreSmoothedAlongKeys) {
  for (const char *keys :
       {"smooth(K, 3)", "smooth(mean(K, 16), 5)", "smooth(K where k % 3 != 1, 5)",
        "bf16(smooth(int8(K), 7))", "V - smooth(V, n)", "K + smooth(K, n * n)"}) {
    Case c =
        makeCase(std::string("pattern p(n: index = 1001) { keep top_k(dot(Q, ") + keys + "), 3) }",
                 {{70, 70}, {20, 100}, {1, 1}}, kTwoHeads);
    EXPECT_EQ(checkScored(c), "") << keys;
  }
}

TEST(ScoredFaults, K4MembersOfABatchWithoutRowsOrKeys) {
  for (const char *program : kAll) {
    Case c = makeCase(program, {{150, 100}, {0, 0}, {150, 300}, {20, 0}, {0, 70}}, kTwoHeads);
    std::unique_ptr<Kernel> kernel = compileScored(c);
    for (KvLayout kv : {KvLayout::Contiguous, KvLayout::PagedNhd})
      EXPECT_EQ(checkScored(kernel, c, {.kv = kv, .pageSize = 16}), "") << program;
    Case nothing = makeCase(program, {{0, 90}, {0, 0}}, kTwoHeads);
    EXPECT_EQ(checkScored(kernel, nothing), "") << program;
  }
}

TEST(ScoredFaults, K6CastsOfOutliersAndOfNothing) {
  for (const char *program :
       {"pattern p { let s = dot(fp8(Q), fp8(K))\n keep s >= 0.5 * max(s, over: k) }",
        "pattern p { let s = dot(fp8(Q, scale: 4.0), fp8(mean(K, 16)))\n keep top_k(s, 3) }",
        "pattern p { let s = dot(int8(Q), int4(K))\n keep top_k(s, 9) }",
        "pattern p { let s = dot(bf16(Q), int8(mean(K, 16)))\n keep s > 0.25 }",
        "pattern p { keep top_k(exp(min(dot(Q, K), 60.0)), 5) }"}) {
    Case c = makeCase(program, {{100, 160}}, kTwoHeads);
    // Vectors of zeros, values beyond 448, and ones below the least of any format.
    for (int64_t t : {3, 40, 99})
      for (int64_t i = 0; i != 64; ++i)
        c.problem.q.data[(t * 2) * 64 + i] = t == 3 ? 0 : t == 40 ? 1e-30 * double(i) : 0.5;
    c.problem.q.data[50 * 2 * 64 + 5] = 1000;
    c.problem.q.data[50 * 2 * 64 + 9] = -448;
    for (int64_t i = 0; i != 64; ++i)
      c.problem.k.data[32 * 64 + i] = 0;
    c.problem.k.data[70 * 64 + 1] = -5000;
    for (double &x : c.problem.q.data)
      x = float(x);
    EXPECT_EQ(checkScored(c), "") << program;
  }
}

TEST(ScoredFaults, K6LongMeansKeepTheirPlaces) {
  // A sum of 4096 ones in few bits would stop growing; the mean of equal keys is one of them.
  Case c = makeCase("pattern p { keep dot(Q, mean(K, 4096), scale: 1) > 63.99\n"
                    "  and dot(Q, mean(K, 4096), scale: 1) < 64.01 }",
                    {{1, 4096}}, {.heads = 1, .kvHeads = 1});
  std::fill(c.problem.q.data.begin(), c.problem.q.data.end(), 1);
  std::fill(c.problem.k.data.begin(), c.problem.k.data.end(), 1);
  EXPECT_EQ(checkScored(c), "");
  ReferenceRun expected = runOnReference(c);
  ASSERT_TRUE(expected.ok);
  EXPECT_EQ(expected.result.density, std::vector<double>{1});
  EXPECT_EQ(openPairs(expected.result).open, 0);
}

TEST(ScoredFaults, K8ListsBesideSelections) {
  Case c = makeCase("pattern p { input blocks: list[q / 64, k / 16]\n"
                    "  keep blocks and top_k(dot(Q, K), 20) or blocks and k < 16 }",
                    {{128, 112}}, kTwoHeads);
  addInput(c, "blocks", "list", {3, 5}, [](int64_t i) {
    const double entries[] = {3, 0, 3, -1, 7, -1, 5, 3, 3, 0, 0, 2, 9, -2, 1};
    return entries[i];
  });
  EXPECT_EQ(checkScored(c), "");
}

TEST(ScoredFaults, K9TheTilesThatAreVisitedAreTheSelectedOnes) {
  Case c = makeCase("pattern p { keep cover(q / 64, k / 64,\n"
                    "  dot(Q, mean(K, 64), visible: any) > 0.0) }",
                    {{512, 512}}, kTwoHeads);
  // All keys lie with the queries but those of one block in the middle, whose values would show.
  std::fill(c.problem.q.data.begin(), c.problem.q.data.end(), 0.25);
  for (int64_t t = 0; t != 512; ++t)
    for (int64_t i = 0; i != 64; ++i) {
      bool isDropped = t / 64 == 2;
      c.problem.k.data[t * 64 + i] = isDropped ? -0.5 : 0.5;
      if (isDropped)
        c.problem.v.data[t * 64 + i] = 1e3;
    }
  std::unique_ptr<Kernel> kernel = compileScored(c);
  EXPECT_EQ(checkScored(kernel, c), "");
  if (!kernel)
    return;
  RunResult result = runOnCpu(*kernel, c, {});
  EXPECT_EQ(result.statistics.tiles_visited, 2 * (36 - 6));
  EXPECT_EQ(result.statistics.tiles_masked, 2 * (8 - 1));
  for (float value : result.out)
    ASSERT_LT(std::abs(value), 10);
}

} // namespace
