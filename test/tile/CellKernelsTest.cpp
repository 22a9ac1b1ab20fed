// Kernels before attention on every CPU target: covers, lists, selections, block means; and
// attention over means.
#include "test/tile/CellKernels.h"
#include "test/tile/Programs.h"

#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

using namespace skim;
using namespace skim::test;
using llvm::formatv;

namespace {

class CellKernels : public testing::TestWithParam<const cpu::Target *> {};

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, CellKernels, testing::ValuesIn(hostTargets()),
                         [](const auto &info) {
                           std::string name = info.param->name.str();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A cover of the set (q + 3 k) mod 97 == 0, causal: blocks of (A, B), and blocks of keys for each
// row.
TEST_P(CellKernels, CoverOfASetThatIsNotAnInterval) {
  constexpr int64_t keys = 32;
  for (int64_t rows : {48, 64})
    for (bool eachRow : {false, true}) {
      Shape shape;
      shape.requests = {{150, 210}, {0, 9}, {61, 61}, {5, 2}};
      AttentionBatch batch(shape, 30);
      std::string type = formatv("!tile.fragment<{0}x1xi1>", eachRow ? rows : 1);
      std::string body = formatv(
          "    %kv_len = tile.uniform kv_len of %item : index\n"
          "    tile.for_each_visit %visit of %item symbols(%kv_len) touched [interval<lower = "
          "affine_map<(t)[s0] -> (0)>, upper = affine_map<(t)[s0] -> (s0 ceildiv {0})>>] hidden [] "
          "source #tile.source<tokens> {{\n"
          "      %any = tile.any at %visit where {{\n      ^bb0(%q: index, %k: index):\n"
          "        %b = tile.contains affine_set<(q, k) : ((q + 3 * k) mod 97 == 0, q - k >= 0)>"
          "(%q, %k) : i1\n        tile.yield %b : i1\n      } : {1}\n"
          "      tile.store_cell %any at %visit to buffer 0 : {1}\n      tile.yield\n    }\n",
          keys, type);
      auto jit = compile(program(shape, rows, keys, "none", "queries", body), *GetParam());
      ASSERT_NE(jit, nullptr);
      int64_t cellRows = eachRow ? 1 : rows;
      Cells<uint8_t> map(4, 1, 200, 8);
      skim_buffer buffer = map.view();
      skim_kernel_args args = batch.arguments();
      args.buffers = &buffer;
      auto work = items(shape, 1, rows, 0);
      lookup(*jit, "kernel")(&args, work.data(), 0, static_cast<int64_t>(work.size()), 0);
      Cells<uint8_t> expected(4, 1, 200, 8);
      for (int64_t request = 0; request < 4; ++request) {
        int64_t base = batch.base(request), kv = shape.requests[request].kv;
        for (int64_t q = base; q < kv; ++q)
          for (int64_t k = 0; k < kv && k <= q; ++k)
            if ((q + 3 * k) % 97 == 0)
              expected.at(request, 0, floorDiv(q, cellRows) - floorDiv(base, cellRows), k / keys) =
                  1;
      }
      EXPECT_EQ(map.data, expected.data) << rows << " " << eachRow;
    }
}

// K8: unsorted, duplicate, -1 and out-of-range entries.
TEST_P(CellKernels, K8ListEntries) {
  Shape shape;
  shape.kvHeads = 2;
  shape.requests = {{130, 200}, {64, 64}};
  AttentionBatch batch(shape, 31);
  auto jit = compile(program(shape, 64, 32, "kv", "queries",
                             "    tile.scatter_list input 0 counts 1 (head = kv) cells (64, 32) to "
                             "buffer 0 of %item\n"),
                     *GetParam());
  ASSERT_NE(jit, nullptr);
  Cells<int32_t> list(2, 2, 3, 5, -1), counts(2, 2, 3, 1, 5);
  for (int64_t entry = 0; entry < 5; ++entry)
    list.at(0, 1, 2, entry) = std::array{3, 0, 3, -1, 6}[entry];
  counts.at(1, 0, 0, 0) = 2;
  for (int64_t entry = 0; entry < 5; ++entry)
    list.at(1, 0, 0, entry) = std::array{1, -1, 99, -7, 1 << 30}[entry];
  skim_buffer inputs[] = {list.view(), counts.view()};
  auto run = [&](Cells<uint8_t> &map) {
    skim_buffer buffer = map.view();
    skim_kernel_args args = batch.arguments();
    args.inputs = inputs;
    args.buffers = &buffer;
    auto work = items(shape, 2, 64, 0);
    lookup(*jit, "kernel")(&args, work.data(), 0, static_cast<int64_t>(work.size()), 0);
  };
  Cells<uint8_t> map(2, 2, 3, 7), expected(2, 2, 3, 7);
  expected.at(0, 1, 2, 0) = expected.at(0, 1, 2, 3) = expected.at(0, 1, 2, 6) = 1;
  expected.at(1, 0, 0, 1) = 1;
  run(map);
  EXPECT_EQ(map.data, expected.data);
  EXPECT_EQ(batch.status(), 0);

  // One entry beyond the ceil(200 / 32) = 7 blocks: nothing is written for it, and the status says
  // so.
  list.at(0, 1, 2, 1) = 7;
  expected.at(0, 1, 2, 0) = 0;
  Cells<uint8_t> again(2, 2, 3, 7);
  run(again);
  EXPECT_EQ(again.data, expected.data);
  EXPECT_EQ(batch.status(), SKIM_STATUS_INDEX_OUT_OF_RANGE);
}

TEST_P(CellKernels, SelectsByScore) {
  Shape shape;
  shape.kvHeads = 2;
  shape.requests = {{30, 100}, {20, 20}};
  AttentionBatch batch(shape, 32);
  for (bool topP : {false, true}) {
    std::string body =
        formatv("    %amount = arith.constant {0} : f64\n"
                "    tile.select {1} %amount cells (0, 1) scratch 1 to buffer 0 of %item where {{\n"
                "    ^bb0(%q: index, %k: index):\n"
                "      %x = tile.load_cell input 0 (head = kv) cells (0, 1) at (%q, %k) of %item : "
                "f32\n      %b = tile.contains affine_set<(k) : (k mod 4 - 1 >= 0)>(%k) : i1\n"
                "      tile.yield %x, %b : f32, i1\n    }\n",
                topP ? "3.0e-01" : "7.0", topP ? "top_p" : "top_k");
    auto jit = compile(program(shape, 1, 1, "kv", "none", body), *GetParam());
    ASSERT_NE(jit, nullptr);
    Cells<float> scores(2, 2, 1, 100);
    for (size_t i = 0; i < scores.data.size(); ++i)
      scores.data[i] = static_cast<float>((i * 37) % 23) * 0.25F;
    Cells<uint8_t> map(2, 2, 1, 100);
    Cells<float> scratch(2, 2, 1, 200);
    skim_buffer input = scores.view(), buffers[] = {map.view(), scratch.view(2)};
    skim_kernel_args args = batch.arguments();
    args.inputs = &input;
    args.buffers = buffers;
    auto work = items(shape, 2, 0, 0);
    lookup(*jit, "kernel")(&args, work.data(), 0, static_cast<int64_t>(work.size()), 0);
    for (int64_t request = 0; request < 2; ++request)
      for (int64_t head = 0; head < 2; ++head) {
        int64_t kv = shape.requests[request].kv;
        std::vector<int64_t> order;
        double total = 0;
        for (int64_t k = 0; k < kv; ++k)
          if (k % 4 != 0) {
            order.push_back(k);
            total += scores.at(request, head, 0, k);
          }
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          return scores.at(request, head, 0, a) > scores.at(request, head, 0, b);
        });
        size_t chosen = 7;
        if (topP) {
          double sum = 0;
          for (chosen = 0; chosen == 0 || sum < 0.3 * total; ++chosen)
            sum += scores.at(request, head, 0, order[chosen]);
        }
        std::vector<uint8_t> expected(static_cast<size_t>(kv), 0);
        for (size_t i = 0; i < chosen; ++i)
          expected[order[i]] = 1;
        for (int64_t k = 0; k < kv; ++k)
          ASSERT_EQ(map.at(request, head, 0, k), expected[k]) << topP << " " << request << " " << k;
      }
  }
}

namespace {

constexpr int64_t block = 16;

/// Means of blocks of keys and values, one cell of `dim` f32 for each block.
struct Means {
  explicit Means(const Shape &shape)
      : keys(2, shape.kvHeads, 1, 13 * shape.headDim),
        values(2, shape.kvHeads, 1, 13 * shape.valueDim) {}

  void compute(const AttentionBatch &batch, skim_kernel_args args, const cpu::Target &target) {
    const Shape &shape = batch.shape();
    auto jit = compile(program(shape, 64, block, "kv", "keys",
                               "    tile.pool keys of %item to buffer 0\n"
                               "    tile.pool values of %item to buffer 1\n"),
                       target);
    ASSERT_NE(jit, nullptr);
    skim_buffer buffers[] = {keys.view(shape.headDim), values.view(shape.valueDim)};
    args.buffers = buffers;
    auto work = items(shape, shape.kvHeads, 0, block);
    lookup(*jit, "kernel")(&args, work.data(), 0, static_cast<int64_t>(work.size()), 0);
  }

  Cells<float> keys, values;
};

Shape pooledShape() {
  Shape shape;
  shape.queryHeads = 4;
  shape.kvHeads = 2;
  shape.headDim = 40;
  shape.valueDim = 24;
  shape.operand = "bf16";
  shape.pageSize = 6;
  shape.requests = {{90, 200}, {33, 33}};
  return shape;
}

} // namespace

TEST_P(CellKernels, PoolsBlocks) {
  AttentionBatch batch(pooledShape(), 33);
  Means means(batch.shape());
  means.compute(batch, batch.arguments(), *GetParam());
  for (int64_t request = 0; request < 2; ++request)
    for (int64_t head = 0; head < 2; ++head)
      for (int64_t b = 0; b * block < batch.shape().requests[request].kv; ++b) {
        int64_t end = std::min(batch.shape().requests[request].kv, (b + 1) * block);
        for (int64_t i = 0; i < 40; ++i) {
          double sum = 0;
          for (int64_t k = b * block; k < end; ++k)
            sum += batch.key(request, k, head, i);
          EXPECT_EQ(means.keys.at(request, head, 0, b * 40 + i),
                    static_cast<float>(sum / static_cast<double>(end - b * block)));
        }
      }
}

// Attention over the means of the blocks that lie wholly before the row's own block, and nothing
// else.
TEST_P(CellKernels, AttendsToPooledBlocks) {
  AttentionBatch batch(pooledShape(), 34);
  const Shape &shape = batch.shape();
  Means means(shape);
  means.compute(batch, batch.arguments(), *GetParam());

  AttentionText text;
  text.rows = 64;
  text.keys = 8;
  // One tile of 8 means covers 128 keys.
  text.touched =
      "interval<lower = affine_map<(t)[s0, s1] -> (0)>, upper = affine_map<(t)[s0, s1] -> "
      "(t floordiv 2 + 1)>>";
  text.hidden = text.touched;
  text.mask =
      "        %keep = tile.contains affine_set<(q, b) : (q floordiv 16 - b - 1 >= 0)>(%q, %k) "
      ": i1\n";
  text.scores = "        %weight = arith.constant 2.77258872 : f32\n"
                "        %mapped = arith.addf %s, %weight : f32\n";
  std::string source = attentionProgram(shape, text);
  std::string tokens = "#tile.source<tokens>";
  source.replace(source.find(tokens), tokens.size(),
                 "#tile.source<pooled keys = 0, values = 1, block = 16>");
  auto jit = compile(source, *GetParam());
  ASSERT_NE(jit, nullptr);
  skim_kernel_args args = batch.arguments();
  skim_buffer buffers[] = {means.keys.view(shape.headDim), means.values.view(shape.valueDim)};
  args.buffers = buffers;
  batch.run(lookup(*jit, "attention"), 64, args);

  int64_t entries = 0;
  for (int64_t request = 0; request < 2; ++request)
    for (int64_t row = 0; row < shape.requests[request].q; ++row)
      for (int64_t head = 0; head < 4; ++head) {
        int64_t blocks = (batch.base(request) + row) / block, kvHead = head / 2;
        entries += blocks;
        std::vector<double> weights;
        double sum = 0;
        for (int64_t b = 0; b < blocks; ++b) {
          double s = 0;
          for (int64_t i = 0; i < 40; ++i)
            s += static_cast<double>(batch.query(request, row, head, i)) *
                 means.keys.at(request, kvHead, 0, b * 40 + i);
          weights.push_back(16 * std::exp(s * batch.scale()));
          sum += weights.back();
        }
        ASSERT_EQ(std::isinf(batch.logSumExp(request, row, head)), blocks == 0);
        if (blocks > 0) {
          ASSERT_NEAR(batch.logSumExp(request, row, head), std::log(sum), 1e-5);
        }
        for (int64_t i = 0; i < 24; ++i) {
          double out = 0;
          for (int64_t b = 0; b < blocks; ++b)
            out += weights[b] / sum * means.values.at(request, kvHead, 0, b * 24 + i);
          ASSERT_NEAR(batch.output(request, row, head, i), out, 1e-5);
        }
      }
  EXPECT_EQ(batch.statistics().rest_entries, entries);
  EXPECT_EQ(batch.statistics().pairs_kept, 0);
  EXPECT_EQ(batch.statistics().tiles_visited, 0);
}

// Sums of products element by element, with rows and keys read from the operands.
TEST_P(CellKernels, ElementsOfOperands) {
  Shape shape;
  shape.queryHeads = 4;
  shape.kvHeads = 2;
  shape.operand = "bf16";
  shape.pageSize = 16;
  shape.requests = {{33, 40}, {5, 2}};
  AttentionBatch batch(shape, 55);
  std::string body = "    tile.reduce_cells sum of %item to buffer 0 (head = query) cells "
                     "(1, 0) accumulators 1 {\n"
                     "      tile.contribute of %item cells (1, 1) where {\n"
                     "      ^bb0(%q: index, %k: index):\n"
                     "        %s = tile.reduce_elements sum 32 {\n"
                     "        ^bb0(%i: index):\n"
                     "          %a = tile.load_element queries of %item at (%q, %i) : f32\n"
                     "          %b = tile.load_element keys of %item at (%k, %i) : f32\n"
                     "          %ab = arith.mulf %a, %b : f32\n"
                     "          tile.yield %ab : f32\n        } : f32\n"
                     "        %m = tile.reduce_elements max 32 {\n"
                     "        ^bb0(%i: index):\n"
                     "          %v = tile.load_element values of %item at (%k, %i) : f32\n"
                     "          tile.yield %v : f32\n        } : f32\n"
                     "        %sm = arith.mulf %s, %m : f32\n"
                     "        tile.yield %sm : f32\n      }\n    }\n";
  auto jit = compile(program(shape, 64, 64, "query", "queries", body), *GetParam());
  ASSERT_NE(jit, nullptr);
  Cells<float> result(2, 4, 40, 1, -77);
  Cells<double> totals(2, 4, 40, 3);
  runKernel(*jit, batch, 4, 64, {result.view(), totals.view(3)});
  for (int64_t request = 0; request < 2; ++request) {
    auto [q, kv] = shape.requests[request];
    for (int64_t head = 0; head < 4; ++head)
      for (int64_t row = 0; row < q; ++row) {
        double expected = 0;
        for (int64_t k = 0; k < kv; ++k) {
          double dot = 0;
          float most = -1e30F;
          for (int64_t i = 0; i < 32; ++i) {
            dot += batch.query(request, row, head, i) * batch.key(request, k, head / 2, i);
            most = std::max(most, batch.value(request, k, head / 2, i));
          }
          expected += static_cast<float>(dot) * most;
        }
        ASSERT_NEAR(result.at(request, head, row, 0), expected, 1e-3 * (1 + std::abs(expected)))
            << request << " " << head << " " << row;
      }
  }
}

// A predicate that is constant on cells of (A, B), cut by causality.
TEST_P(CellKernels, CoverOfCells) {
  Shape shape;
  shape.requests = {{150, 210}, {61, 61}, {5, 2}};
  for (auto [a, b] : {std::pair<int64_t, int64_t>{1, 16}, {16, 1}, {32, 8}, {128, 64}, {1, 48}}) {
    AttentionBatch batch(shape, 56);
    std::string body = formatv(
        "    %kv_len = tile.uniform kv_len of %item : index\n"
        "    tile.for_each_visit %visit of %item symbols(%kv_len) touched [interval<lower = "
        "affine_map<(t)[s0] -> (0)>, upper = affine_map<(t)[s0] -> (s0 ceildiv 32)>>] hidden [] "
        "source #tile.source<tokens> {{\n"
        "      %any = tile.any at %visit cells ({0}, {1}) where {{\n"
        "      ^bb0(%q: index, %k: index):\n"
        "        %seen = tile.contains affine_set<(q, k) : (q - k >= 0)>(%q, %k) : i1\n"
        "        %x = tile.load_cell buffer 1 (head = none) cells ({0}, {1}) at (%q, %k) of %item "
        ": "
        "f64\n"
        "        %zero = arith.constant 0.0 : f64\n"
        "        %b = arith.cmpf ogt, %x, %zero : f64\n"
        "        %h = arith.andi %b, %seen : i1\n        tile.yield %h : i1\n"
        "      } : !tile.fragment<1x1xi1>\n"
        "      tile.store_cell %any at %visit to buffer 0 : !tile.fragment<1x1xi1>\n"
        "      tile.yield\n    }\n",
        a, b);
    auto jit = compile(program(shape, 64, 32, "none", "queries", body), *GetParam());
    ASSERT_NE(jit, nullptr);
    Cells<uint8_t> map(3, 1, 5, 7), expected(3, 1, 5, 7);
    Cells<double> values(3, 1, 212, 212);
    std::minstd_rand random(12);
    for (double &x : values.data)
      x = random() % 40 == 0 ? 1 : random() % 2 == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    runKernel(*jit, batch, 1, 64, {map.view(), values.view()});
    for (int64_t request = 0; request < 3; ++request) {
      int64_t base = batch.base(request), kv = shape.requests[request].kv;
      for (int64_t q = base; q < kv; ++q)
        for (int64_t k = 0; k < kv && k <= q; ++k)
          if (values.at(request, 0, floorDiv(q, a) - floorDiv(base, a), k / b) > 0)
            expected.at(request, 0, floorDiv(q, 64) - floorDiv(base, 64), k / 32) = 1;
    }
    EXPECT_EQ(map.data, expected.data) << a << " " << b;
  }
}
