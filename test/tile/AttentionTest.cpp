// Attention programs on every CPU target that this machine runs, against a plain f64 loop.
#include "test/tile/Programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace skim;
using namespace skim::test;

namespace {

class Attention : public testing::TestWithParam<const cpu::Target *> {
protected:
  /// Compiles and runs; parameters are index values by slot.
  void run(AttentionBatch &batch, const AttentionText &text, std::vector<int64_t> parameters = {},
           const skim_buffer *inputs = nullptr) {
    std::unique_ptr<cpu::Jit> jit = compile(attentionProgram(batch.shape(), text), *GetParam());
    ASSERT_NE(jit, nullptr);
    std::vector<skim_scalar> scalars(parameters.size());
    std::vector<skim_parameter> slots(parameters.size());
    for (size_t slot = 0; slot < parameters.size(); ++slot) {
      scalars[slot].index = parameters[slot];
      slots[slot].values = &scalars[slot];
    }
    skim_kernel_args args = batch.arguments();
    args.parameters = slots.data();
    args.inputs = inputs;
    batch.run(lookup(*jit, "attention"), text.rows, args);
  }
};

constexpr double f32Tolerance = 3e-6;
constexpr double bf16Tolerance = 2e-3;

bool causal(int64_t, int64_t, int64_t q, int64_t k) { return k <= q; }

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Attention, testing::ValuesIn(hostTargets()),
                         [](const auto &info) {
                           std::string name = info.param->name.str();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(Attention, DenseCausal) {
  Shape shape;
  shape.requests = {{200, 200}, {64, 64}, {1, 1}, {63, 63}, {65, 65}, {129, 129}};
  AttentionBatch batch(shape, 1);
  run(batch, causalText(64, 64));
  batch.expectAttention(causal, f32Tolerance);
}

TEST_P(Attention, HeadDimensions) {
  for (auto [headDim, valueDim] :
       {std::pair<int64_t, int64_t>{80, 80}, {64, 96}, {57, 41}, {256, 256}, {7, 3}, {1, 1}}) {
    Shape shape;
    shape.headDim = headDim;
    shape.valueDim = valueDim;
    shape.requests = {{70, 90}};
    AttentionBatch batch(shape, 2);
    run(batch, causalText(64, 64));
    batch.expectAttention(causal, f32Tolerance);
  }
}

TEST_P(Attention, TileShapes) {
  for (auto [rows, keys] :
       {std::pair<int64_t, int64_t>{16, 16}, {128, 64}, {64, 128}, {32, 48}, {100, 36}, {5, 3}}) {
    Shape shape;
    shape.requests = {{150, 170}, {30, 30}};
    AttentionBatch batch(shape, 3);
    run(batch, causalText(rows, keys));
    batch.expectAttention(causal, f32Tolerance);
  }
}

TEST_P(Attention, ElementTypes) {
  for (const char *operand : {"bf16", "f16"})
    for (const char *out : {"f32", "bf16", "f16"}) {
      Shape shape;
      shape.operand = operand;
      shape.out = out;
      shape.headDim = 72;
      shape.requests = {{100, 133}};
      AttentionBatch batch(shape, 4);
      run(batch, causalText(64, 64));
      batch.expectAttention(causal, std::string(out) == "bf16" ? 4e-3 : bf16Tolerance);
    }
}

TEST_P(Attention, GroupedHeads) {
  for (auto [queryHeads, kvHeads] : {std::pair<int64_t, int64_t>{7, 1}, {8, 2}, {5, 5}, {12, 4}}) {
    Shape shape;
    shape.queryHeads = queryHeads;
    shape.kvHeads = kvHeads;
    shape.requests = {{40, 80}};
    AttentionBatch batch(shape, 5);
    run(batch, causalText(64, 64));
    batch.expectAttention(causal, f32Tolerance);
  }
}

TEST_P(Attention, StreamingByParameters) {
  Shape shape;
  shape.requests = {{300, 500}, {257, 257}, {0, 30}, {20, 400}};
  for (auto [sink, window] : {std::pair<int64_t, int64_t>{64, 64},
                              {1, 130},
                              {0, 1},
                              {100, 0},
                              {0, 0},
                              {10, 1000},
                              {3, 65}}) {
    AttentionBatch batch(shape, 6);
    run(batch, streamingText(64, 64), {sink, window});
    batch.expectAttention(
        [sink = sink, window = window](int64_t, int64_t, int64_t q, int64_t k) {
          return k <= q && (k < sink || q - k < window);
        },
        f32Tolerance);
  }
}

TEST_P(Attention, StreamingVisitsFewTiles) {
  Shape shape;
  shape.queryHeads = 1;
  shape.requests = {{4096, 4096}};
  AttentionBatch batch(shape, 7);
  run(batch, streamingText(64, 64), {64, 128});
  // 64 query tiles, each with the sink tile and at most three tiles of its window.
  EXPECT_LE(batch.statistics().tiles_visited, 64 * 4);
  EXPECT_LT(batch.statistics().tiles_masked, batch.statistics().tiles_visited);
}

namespace {

/// A byte map [head, q / A, k / B] that starts at the block of the first row.
struct BlockMask {
  BlockMask(const AttentionBatch &batch, int64_t rowsOfBlock, int64_t keysOfBlock, unsigned seed)
      : a(rowsOfBlock), b(keysOfBlock), origin(floorDiv(batch.base(0), a)) {
    int64_t heads = batch.shape().queryHeads, kv = batch.shape().requests[0].kv;
    queryBlocks = floorDiv(kv - 1, a) + 1 - origin;
    keyBlocks = (kv + b - 1) / b;
    bytes.resize(static_cast<size_t>(heads * queryBlocks * keyBlocks));
    unsigned state = seed;
    for (uint8_t &byte : bytes) {
      state = state * 1664525 + 1013904223;
      byte = (state >> 16) % 3 == 0 ? 7 : 0;
    }
    buffer = {bytes.data(),
              {1, heads, queryBlocks, keyBlocks},
              {0, queryBlocks * keyBlocks, keyBlocks, 1}};
  }
  static int64_t floorDiv(int64_t x, int64_t y) { return x / y - (x % y < 0 ? 1 : 0); }
  bool at(int64_t head, int64_t q, int64_t k) const {
    return bytes[(head * queryBlocks + floorDiv(q, a) - origin) * keyBlocks + k / b] != 0;
  }

  int64_t a, b, origin, queryBlocks, keyBlocks;
  std::vector<uint8_t> bytes;
  skim_buffer buffer;
};

/// Causal attention over the cells of input 0 that are set.
AttentionText blockMaskText(int64_t rows, int64_t keys, int64_t a, int64_t b) {
  AttentionText text = causalText(rows, keys);
  std::string cells = "(" + std::to_string(a) + ", " + std::to_string(b) + ")";
  text.literals = "    %lit0 = tile.literal of %item cells " + cells +
                  " {\n    ^bb0(%q: index, %k: index):\n"
                  "      %c = tile.load_cell input 0 (head = query) cells " +
                  cells +
                  " at (%q, %k) of %item : i1\n      tile.yield %c : i1\n    } : !tile.literal\n";
  text.literalCount = 1;
  text.touched.insert(text.touched.size() - 1, ", literals = [0]");
  text.hidden +=
      ", interval<lower = affine_map<(t)[s0, s1] -> (0)>, upper = affine_map<(t)[s0, s1] "
      "-> (s1)>, literals = [not 0]>";
  text.mask = "        %c = tile.contains affine_set<(q, k) : (q - k >= 0)>(%q, %k) : i1\n"
              "        %l = tile.literal_value %lit0 (%q, %k) : i1\n"
              "        %keep = arith.andi %c, %l : i1\n";
  return text;
}

} // namespace

TEST_P(Attention, BlockMaskByLiteral) {
  for (auto [a, b] : {std::pair<int64_t, int64_t>{64, 64},
                      {128, 128},
                      {1, 1},
                      {3, 5},
                      {16, 32},
                      {48, 80},
                      {7, 64}}) {
    Shape shape;
    shape.requests = {{200, 330}};
    AttentionBatch batch(shape, 8);
    BlockMask mask(batch, a, b, 99);
    run(batch, blockMaskText(64, 64, a, b), {}, &mask.buffer);
    batch.expectAttention(
        [&](int64_t, int64_t head, int64_t q, int64_t k) { return k <= q && mask.at(head, q, k); },
        f32Tolerance);
  }
}

TEST_P(Attention, DroppedBlocksAreNotVisited) {
  Shape shape;
  shape.requests = {{512, 512}};
  AttentionBatch batch(shape, 9);
  BlockMask mask(batch, 64, 64, 5);
  run(batch, blockMaskText(64, 64, 64, 64), {}, &mask.buffer);
  int64_t tiles = 0;
  for (int64_t head = 0; head < 2; ++head)
    for (int64_t t = 0; t < 8; ++t)
      for (int64_t u = 0; u <= t; ++u)
        tiles += mask.at(head, t * 64, u * 64);
  EXPECT_EQ(batch.statistics().tiles_visited, tiles);
}

TEST_P(Attention, ScoresMappedAndSink) {
  Shape shape;
  shape.requests = {{90, 120}, {40, 20}};
  AttentionBatch batch(shape, 10);
  AttentionText text = causalText(64, 64);
  text.scores = "        %cap = arith.constant 2.0 : f32\n"
                "        %slope = arith.constant -0.05 : f32\n"
                "        %x = arith.divf %s, %cap : f32\n"
                "        %y = math.tanh %x : f32\n"
                "        %z = arith.mulf %y, %cap : f32\n"
                "        %distance = arith.subi %q, %k : index\n"
                "        %i = arith.index_cast %distance : index to i64\n"
                "        %f = arith.sitofp %i : i64 to f32\n"
                "        %bias = arith.mulf %f, %slope : f32\n"
                "        %mapped = arith.addf %z, %bias : f32\n";
  text.literals = "    %sink = arith.constant 0.75 : f32\n";
  text.sink = "sink(%sink)";
  run(batch, text);
  batch.expectAttention(
      causal, 2 * f32Tolerance,
      [](double s, int64_t, int64_t q, int64_t k) {
        return 2 * std::tanh(s / 2) - 0.05 * static_cast<double>(q - k);
      },
      0.75);
}

TEST_P(Attention, GreatScores) {
  Shape shape;
  shape.requests = {{200, 200}};
  AttentionBatch batch(shape, 11);
  AttentionText text = causalText(64, 64);
  // Rising with k: the running maximum changes in every tile; and far out of the range of exp.
  text.scores = "        %i = arith.index_cast %k : index to i64\n"
                "        %f = arith.sitofp %i : i64 to f32\n"
                "        %scale = arith.constant -3.0 : f32\n"
                "        %bias = arith.mulf %f, %scale : f32\n"
                "        %mapped = arith.addf %s, %bias : f32\n";
  run(batch, text);
  batch.expectAttention(causal, 1e-5, [](double s, int64_t, int64_t, int64_t k) {
    return s - 3.0 * static_cast<double>(k);
  });
}
