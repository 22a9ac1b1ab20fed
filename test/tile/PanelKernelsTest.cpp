// Panels on every CPU target: queries, products with keys, smoothed rows, selections, and values
// read at rows of other sizes.
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

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class PanelKernels : public testing::TestWithParam<const cpu::Target *> {};

/// Copies a panel to buffer 0 by query head.
std::string copyOut(const std::string &panel, const std::string &type, int64_t query, int64_t key,
                    const char *head = "query") {
  return formatv("    tile.reduce_cells of %item to buffer 0 (head = {4}) cells ({2}, {3}) {{\n"
                 "      tile.contribute of %item cells ({2}, {3}) where {{\n"
                 "      ^bb0(%q: index, %k: index):\n"
                 "        %v = tile.panel_value {0} (%q, %k) : {1} -> f32\n"
                 "        tile.yield %v : f32\n      }\n    }\n",
                 panel, type, query, key, head);
}

struct Product {
  const char *source;
  int64_t key;
  const char *visible;
  bool noncausal;
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, PanelKernels, testing::ValuesIn(hostTargets()),
                         [](const auto &info) {
                           std::string name = info.param->name.str();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Contiguous, paged and head-major operands of each type; keys, values and vectors of a buffer;
// chunks, and requests with more rows than keys.
TEST_P(PanelKernels, ProductsOfRowsAndKeys) {
  Shape plain, paged, headMajor;
  plain.requests = {{64, 64}, {150, 210}, {5, 2}, {1, 131}};
  plain.queryHeads = 4;
  plain.kvHeads = 2;
  plain.headDim = plain.valueDim = 40;
  paged = headMajor = plain;
  paged.operand = "bf16";
  paged.pageSize = 16;
  headMajor.operand = "f16";
  headMajor.pageSize = 7;
  headMajor.headMajor = true;
  const Product products[] = {{"keys", 1, "all", false},      {"values", 1, "any", true},
                              {"buffer 1", 16, "all", false}, {"buffer 1", 16, "any", false},
                              {"buffer 1", 16, "all", true},  {"keys", 1, "any", false}};
  for (const Shape &shape : {plain, paged, headMajor})
    for (const Product &product : products) {
      AttentionBatch batch(shape, 50);
      int64_t b = product.key, columns = 210 / b + 1;
      std::string type = formatv("!tile.panel<rows = 64, query = 1, key = {0}, f32>", b);
      std::string rowsType = "!tile.panel<rows = 64, query = 1, elements = 40, f32>";
      std::string body = formatv(
          "    %x = arith.constant 0.25 : f32\n"
          "    %queries = tile.load_panel of %item scratch 2 : {0}\n"
          "    %s = tile.dot_panel %queries, {1} (head = kv) scale %x visible {2}{3} of %item "
          "scratch 3 : {0} -> {4}\n{5}",
          rowsType, product.source, product.visible, product.noncausal ? " noncausal" : "", type,
          copyOut("%s", type, 1, b));
      auto jit = compile(program(shape, 64, 64, "query", "queries", body), *GetParam());
      ASSERT_NE(jit, nullptr);
      Cells<float> result(4, 4, 210, columns, -77), vectors(4, 2, 1, columns * 40);
      std::minstd_rand random(9);
      for (float &x : vectors.data)
        x = static_cast<float>(random() % 2001) / 1000 - 1;
      auto rows = scratch<float>(40), panel = scratch<float>(columns);
      runKernel(*jit, batch, 4, 64, {result.view(), vectors.view(40), rows.view(), panel.view()});
      EXPECT_EQ(rows.data[0], -55);
      EXPECT_EQ(panel.data[0], -55);
      for (int64_t request = 0; request < 4; ++request) {
        auto [q, kv] = shape.requests[request];
        int64_t base = batch.base(request);
        for (int64_t head = 0; head < 4; ++head)
          for (int64_t row = 0; row < q; ++row)
            for (int64_t column = 0; column * b < kv; ++column) {
              int64_t firstKey = column * b, lastKey = std::min(firstKey + b, kv) - 1;
              int64_t seen = std::string(product.visible) == "all" ? lastKey : firstKey;
              double expected = 0;
              for (int64_t i = 0; i < 40; ++i) {
                std::string source = product.source;
                double y = source == "keys"     ? batch.key(request, column, head / 2, i)
                           : source == "values" ? batch.value(request, column, head / 2, i)
                                                : vectors.at(request, head / 2, 0, column * 40 + i);
                expected += 0.25 * batch.query(request, row, head, i) * y;
              }
              float got = result.at(request, head, row, column);
              if (!product.noncausal && seen > base + row)
                ASSERT_TRUE(std::isnan(got)) << request << " " << row << " " << column;
              else
                ASSERT_NEAR(got, expected, 1e-4)
                    << shape.operand << " " << product.source << " " << product.visible << " "
                    << request << " " << row << " " << column;
            }
      }
    }
}

// Rows that are means of 16 queries: cells of several positions on both sides of the product.
TEST_P(PanelKernels, ProductsOfQueryBlocks) {
  Shape shape;
  shape.requests = {{64, 64}, {150, 210}, {5, 2}};
  for (const char *visible : {"all", "any"}) {
    AttentionBatch batch(shape, 51);
    std::string rowsType = "!tile.panel<rows = 4, query = 16, elements = 32, f32>";
    std::string type = "!tile.panel<rows = 4, query = 16, key = 8, f32>";
    std::string queries = "!tile.panel<rows = 64, query = 1, elements = 32, f32>";
    std::string body = formatv(
        "    %x = arith.constant 1.0 : f32\n"
        "    %queries = tile.load_panel of %item scratch 2 : {0}\n"
        "    %m = tile.reduce_panel mean of %item scratch 3 accumulators 4 : {1} {{\n"
        "      tile.contribute of %item cells (1, 0) where {{\n"
        "      ^bb0(%q: index, %i: index):\n"
        "        %v = tile.panel_value %queries (%q, %i) : {0} -> f32\n"
        "        tile.yield %v : f32\n      }\n    }\n"
        "    %s = tile.dot_panel %m, buffer 1 (head = kv) scale %x visible {2} of %item scratch 5 "
        ": {1} -> {3}\n{4}",
        queries, rowsType, visible, type, copyOut("%s", type, 16, 8));
    auto jit = compile(program(shape, 64, 64, "query", "queries", body), *GetParam());
    ASSERT_NE(jit, nullptr);
    Cells<float> result(3, 2, 15, 27, -77), vectors(3, 1, 1, 27 * 32, 0.5F);
    auto rows = scratch<float>(32), means = scratch<float>(32), panel = scratch<float>(27);
    auto totals = scratch<double>(3 * 32 + 2);
    runKernel(
        *jit, batch, 2, 64,
        {result.view(), vectors.view(32), rows.view(), means.view(), totals.view(), panel.view()});
    for (int64_t request = 0; request < 3; ++request) {
      auto [q, kv] = shape.requests[request];
      int64_t base = batch.base(request);
      for (int64_t head = 0; head < 2; ++head)
        for (int64_t cell = floorDiv(base, 16); cell * 16 < kv; ++cell)
          for (int64_t column = 0; column * 8 < kv; ++column) {
            int64_t first = std::max(cell * 16, base), end = std::min(cell * 16 + 16, kv);
            double expected = 0;
            for (int64_t i = 0; i < 32; ++i) {
              double sum = 0;
              for (int64_t position = first; position < end; ++position)
                sum += batch.query(request, position - base, head, i);
              expected += 0.5 * static_cast<float>(sum / static_cast<double>(end - first));
            }
            int64_t lastKey = std::min(column * 8 + 8, kv) - 1;
            bool exists = std::string(visible) == "all" ? lastKey <= first : column * 8 <= end - 1;
            float got = result.at(request, head, cell - floorDiv(base, 16), column);
            if (exists)
              ASSERT_NEAR(got, expected, 1e-4) << request << " " << cell << " " << column;
            else
              ASSERT_TRUE(std::isnan(got)) << request << " " << cell << " " << column;
          }
    }
  }
}

/// The panel of buffer 1, an input by pairs, in scratch 2.
static std::string inputPanel(const std::string &type, int64_t query, int64_t key) {
  return formatv(
      "    %p = tile.reduce_panel of %item scratch 2 : {0} {{\n"
      "      tile.contribute of %item cells ({1}, {2}) where {{\n"
      "      ^bb0(%q: index, %k: index):\n"
      "        %v = tile.load_cell input 0 (head = query) cells ({1}, {2}) at (%q, %k) of "
      "%item : f32\n"
      "        tile.yield %v : f32\n      }\n    }\n",
      type, query, key);
}

static Cells<float> randomCells(int64_t requests, int64_t heads, int64_t queries, int64_t keys) {
  Cells<float> cells(requests, heads, queries, keys);
  std::minstd_rand random(11);
  for (float &x : cells.data)
    x = random() % 9 == 0 ? kNan : static_cast<float>(random() % 1000) / 8;
  return cells;
}

TEST_P(PanelKernels, SmoothedRows) {
  Shape shape;
  shape.requests = {{64, 64}, {150, 210}, {5, 2}};
  for (int64_t width : {1, 5, 4, 0, -3, 501}) {
    AttentionBatch batch(shape, 52);
    std::string type = "!tile.panel<rows = 64, query = 1, key = 8, f32>";
    std::string body = inputPanel(type, 1, 8) +
                       formatv("    %n = arith.constant {0} : index\n"
                               "    %t = tile.smooth_panel %p, %n of %item scratch 3 : {1}\n{2}",
                               width, type, copyOut("%t", type, 1, 8))
                           .str();
    auto jit = compile(program(shape, 64, 64, "query", "queries", body), *GetParam());
    ASSERT_NE(jit, nullptr);
    Cells<float> result(3, 2, 210, 27, -77), input = randomCells(3, 2, 210, 27);
    auto panel = scratch<float>(27), smoothed = scratch<float>(27);
    runKernel(*jit, batch, 2, 64, {result.view(), {}, panel.view(), smoothed.view()},
              {input.view()});
    for (int64_t request = 0; request < 3; ++request) {
      auto [q, kv] = shape.requests[request];
      int64_t columns = (kv + 7) / 8;
      for (int64_t head = 0; head < 2; ++head)
        for (int64_t row = 0; row < q; ++row)
          for (int64_t column = 0; column < columns; ++column) {
            double sum = 0, count = 0;
            for (int64_t at = std::max<int64_t>(column - width / 2, 0);
                 at <= std::min(column + width / 2, columns - 1); ++at) {
              float x = input.at(request, head, row, at);
              sum += std::isnan(x) ? 0 : x;
              count += std::isnan(x) ? 0 : 1;
            }
            bool defined =
                width > 0 && width % 2 == 1 && !std::isnan(input.at(request, head, row, column));
            float got = result.at(request, head, row, column);
            if (defined)
              ASSERT_EQ(got, static_cast<float>(sum / count)) << width << " " << row;
            else
              ASSERT_TRUE(std::isnan(got)) << width << " " << row << " " << column;
          }
    }
  }
}

TEST_P(PanelKernels, SelectedColumns) {
  Shape shape;
  shape.requests = {{64, 64}, {150, 210}, {5, 2}};
  for (int64_t query : {1, 16})
    for (bool topP : {false, true}) {
      AttentionBatch batch(shape, 53);
      std::string type =
          formatv("!tile.panel<rows = {0}, query = {1}, key = 8, f32>", 64 / query, query);
      std::string chosen =
          formatv("!tile.panel<rows = {0}, query = {1}, key = 8, i1>", 64 / query, query);
      std::string body =
          inputPanel(type, query, 8) +
          formatv("    %n = arith.constant {0} : f64\n"
                  "    %c = tile.select_panel {1} %n of %item scratch 3 row 4 : {2} where {{\n"
                  "    ^bb0(%q: index, %k: index):\n"
                  "      %v = tile.panel_value %p (%q, %k) : {3} -> f32\n"
                  "      tile.yield %v : f32\n    }\n"
                  "    tile.reduce_cells of %item to buffer 0 (head = query) cells ({4}, 8) {{\n"
                  "      tile.contribute of %item cells ({4}, 8) where {{\n"
                  "      ^bb0(%q: index, %k: index):\n"
                  "        %b = tile.panel_value %c (%q, %k) : {2} -> i1\n"
                  "        %v = arith.uitofp %b : i1 to f32\n"
                  "        tile.yield %v : f32\n      }\n    }\n",
                  topP ? "0.5" : "6.0", topP ? "top_p" : "top_k", chosen, type, query)
              .str();
      auto jit = compile(program(shape, 64, 64, "query", "queries", body), *GetParam());
      ASSERT_NE(jit, nullptr);
      int64_t cells = 210 / query + 2;
      Cells<float> result(3, 2, cells, 27, -77), input = randomCells(3, 2, cells, 27);
      auto panel = scratch<float>(27), row = scratch<float>(3 * 27);
      auto bytes = scratch<uint8_t>(27);
      runKernel(*jit, batch, 2, 64, {result.view(), {}, panel.view(), bytes.view(), row.view()},
                {input.view()});
      for (int64_t request = 0; request < 3; ++request) {
        auto [q, kv] = shape.requests[request];
        int64_t base = batch.base(request), columns = (kv + 7) / 8;
        int64_t rows = floorDiv(kv - 1, query) - floorDiv(base, query) + 1;
        for (int64_t head = 0; head < 2; ++head)
          for (int64_t cell = 0; cell < rows; ++cell) {
            std::vector<int64_t> order;
            double total = 0;
            for (int64_t column = 0; column < columns; ++column)
              if (float x = input.at(request, head, cell, column); !std::isnan(x)) {
                order.push_back(column);
                total += x;
              }
            std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
              return input.at(request, head, cell, a) > input.at(request, head, cell, b);
            });
            size_t taken = std::min<size_t>(order.size(), 6);
            if (topP) {
              double sum = 0;
              for (taken = 0; taken < order.size() && (taken == 0 || sum < total / 2); ++taken)
                sum += input.at(request, head, cell, order[taken]);
            }
            for (int64_t column = 0; column < columns; ++column) {
              auto end = order.begin() + static_cast<int64_t>(taken);
              float expected = std::find(order.begin(), end, column) != end ? 1 : 0;
              ASSERT_EQ(result.at(request, head, cell, column), expected)
                  << query << " " << topP << " " << request << " " << cell << " " << column;
            }
          }
      }
    }
}

// A panel of cells of 4 rows read by single rows, and of 32 rows; and by blocks where rows are
// single.
TEST_P(PanelKernels, ValuesAtOtherRows) {
  Shape shape;
  shape.requests = {{64, 64}, {150, 210}, {5, 2}};
  for (int64_t of : {1, 4, 32})
    for (int64_t by : {1, 16}) {
      AttentionBatch batch(shape, 54);
      std::string type = formatv("!tile.panel<rows = {0}, query = {1}, key = 8, f32>", 64 / of, of);
      std::string body = inputPanel(type, of, 8) + copyOut("%p", type, by, 16);
      auto jit = compile(program(shape, 64, 64, "query", "queries", body), *GetParam());
      ASSERT_NE(jit, nullptr);
      Cells<float> result(3, 2, 210 / by + 2, 14, -77), input = randomCells(3, 2, 210, 27);
      auto panel = scratch<float>(27);
      runKernel(*jit, batch, 2, 64, {result.view(), {}, panel.view()}, {input.view()});
      for (int64_t request = 0; request < 3; ++request) {
        auto [q, kv] = shape.requests[request];
        int64_t base = batch.base(request);
        for (int64_t head = 0; head < 2; ++head)
          for (int64_t cell = floorDiv(base, by); cell * by < kv; ++cell)
            for (int64_t column = 0; column * 16 < kv; ++column) {
              int64_t position = std::max(cell * by, base);
              float expected =
                  input.at(request, head, floorDiv(position, of) - floorDiv(base, of), 2 * column);
              float got = result.at(request, head, cell - floorDiv(base, by), column);
              ASSERT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
                  << of << " " << by << " " << request << " " << cell << " " << column;
            }
      }
    }
}

// Cells by distance from the smallest there is.
TEST_P(PanelKernels, CellsOfDistancesBothWays) {
  Shape shape;
  shape.requests = {{150, 210}, {61, 61}, {5, 2}};
  AttentionBatch batch(shape, 57);
  std::string body = "    tile.reduce_cells of %item to buffer 0 (head = none) cells (1, 1) {\n"
                     "      tile.contribute of %item cells (1, 1) where {\n"
                     "      ^bb0(%q: index, %k: index):\n"
                     "        %x = tile.load_cell buffer 1 (head = none) cells (0, 1) diagonal "
                     "noncausal at (%q, %k) of %item : f32\n"
                     "        tile.yield %x : f32\n      }\n    }\n";
  auto jit = compile(program(shape, 64, 32, "none", "queries", body), *GetParam());
  ASSERT_NE(jit, nullptr);
  Cells<float> result(3, 1, 210, 210, -77), values(3, 1, 1, 420);
  for (size_t i = 0; i < values.data.size(); ++i)
    values.data[i] = static_cast<float>(i);
  runKernel(*jit, batch, 1, 64, {result.view(), values.view()});
  for (int64_t request = 0; request < 3; ++request) {
    auto [q, kv] = shape.requests[request];
    int64_t base = batch.base(request);
    for (int64_t row = 0; row < q; ++row)
      for (int64_t k = 0; k < kv; ++k)
        ASSERT_EQ(result.at(request, 0, row, k),
                  values.at(request, 0, 0, base + row - k - (base - (kv - 1))));
  }
}
