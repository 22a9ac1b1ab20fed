// Reductions into panels and buffers on every CPU target, bit for bit: sums in f64, in ascending
// order of (head, query, key), rounded once.
#include "test/tile/CellKernels.h"
#include "test/tile/Programs.h"
#include "test/tile/ReductionCases.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>

using namespace skim;
using namespace skim::test;
using llvm::formatv;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class ReductionKernels
    : public testing::TestWithParam<std::tuple<const cpu::Target *, const ReductionCase *>> {};

int64_t headsOf(const std::string &head, const Shape &shape) {
  return head == "query" ? shape.queryHeads : head == "kv" ? shape.kvHeads : 1;
}

/// The cells of the contributions' heads.
const char *inputHead(const ReductionCase &c) { return c.joinHeads ? "query" : c.itemHead; }

std::string contribution(const ReductionCase &c, const std::string &item) {
  std::string type = c.wide ? "f64" : "f32";
  bool vectors = c.elements > 0;
  std::string text =
      formatv("tile.contribute of {0} cells ({1}, {2}){3}{4} where {{\n"
              "      ^bb0(%q: index, %k: index{5}):\n"
              "        %x = tile.load_cell {6} (head = {7}) cells ({1}, {2}){3}{8} at (%q, %k){9} "
              "of {0} : {10}\n",
              item, c.a, c.b, c.distances ? " diagonal" : "",
              vectors ? formatv(" elements {0}", c.elements).str() : "",
              vectors ? ", %i: index" : "", c.wide ? "buffer 1" : "input 0", inputHead(c),
              c.distances && c.noncausal ? " noncausal" : "", vectors ? " element %i" : "", type);
  // With distances the key is the distance: the cell is read at a pair that far apart.
  if (c.distances)
    text = formatv("tile.contribute of {0} cells ({1}, {2}) diagonal where {{\n"
                   "      ^bb0(%q: index, %d: index):\n"
                   "        %k = arith.subi %q, %d : index\n"
                   "        %x = tile.load_cell input 0 (head = {3}) cells (0, 1) diagonal{4} at "
                   "(%q, %k) of {0} : f32\n",
                   item, c.a, c.b, inputHead(c), c.noncausal ? " noncausal" : "");
  if (c.causal)
    text += formatv("        %seen = tile.contains affine_set<(q, k) : (q - k >= 0)>(%q, %k) : i1\n"
                    "        %nan = arith.constant 0x7FC00000 : f32\n"
                    "        %y = arith.select %seen, %x, %nan : f32\n");
  return text +
         formatv("        tile.yield %{0} : {1}\n      }\n", c.causal ? "y" : "x", type).str();
}

std::string bodyOf(const ReductionCase &c, const Shape &shape) {
  std::string type = c.wide ? "f64" : "f32";
  std::string text, inner = "%item", closing;
  if (c.firstBack >= 0)
    text += formatv("    %kv_len = tile.uniform kv_len of %item : index\n"
                    "    %back = arith.constant {0} : index\n"
                    "    %first = arith.subi %kv_len, %back : index\n",
                    c.firstBack);
  std::string panelType, kind = c.kind, causal = c.causal ? " causal" : "";
  if (!kind.empty())
    kind += " ";
  std::string target = formatv("to buffer 0 (head = {0}) cells ({1}, {2}){3}{4}", c.resultHead,
                               c.queryCell, c.keyCell, c.diagonal ? " diagonal" : "",
                               c.elements ? formatv(" elements {0}", c.elements).str() : "");
  if (c.panel) {
    panelType =
        formatv("!tile.panel<rows = {0}, query = {1}, {2}{3}>", c.rows / c.queryCell, c.queryCell,
                c.keyCell ? formatv("key = {0}, ", c.keyCell).str() : "", type);
    text += formatv("    %p = tile.reduce_panel {0}of %item{1} scratch 3{2} : {3} {{\n", kind,
                    causal, kind.empty() ? "" : " accumulators 4", panelType);
  } else {
    text += formatv("    tile.reduce_cells {0}of %item{1}{2} {3}{4} {{\n", kind, causal,
                    c.noncausal ? " noncausal" : "", target, kind.empty() ? "" : " accumulators 2");
  }
  if (c.joinHeads) {
    text += formatv("    tile.for_each_head %head of {0} {{\n", inner);
    inner = "%head";
    closing += "    }\n";
  }
  if (c.rowTiles) {
    text += formatv("    tile.for_each_row_tile %tile of {0} rows {1}{2} {{\n", inner, c.rowTiles,
                    c.firstBack >= 0 ? " from %first" : "");
    inner = "%tile";
    closing += "    }\n";
  }
  text += "      " + contribution(c, inner) + closing + "    }\n";
  if (c.panel)
    text += formatv("    tile.reduce_cells of %item {0} {{\n"
                    "      tile.contribute of %item cells ({1}, {2}) where {{\n"
                    "      ^bb0(%q: index, %k: index):\n"
                    "        %x = tile.panel_value %p (%q, %k) : {3} -> {4}\n"
                    "        tile.yield %x : {4}\n      }\n    }\n",
                    target, c.queryCell, c.keyCell, panelType, type);
  return text;
}

int64_t ceilDiv(int64_t a, int64_t b) { return -floorDiv(-a, b); }

/// Sums as the reduction must.
struct Total {
  double sum = 0, squares = 0, count = 0, extreme = std::numeric_limits<double>::quiet_NaN();

  void take(const std::string &kind, double x) {
    if (std::isnan(x))
      return;
    sum += x;
    squares += x * x;
    ++count;
    if (std::isnan(extreme) || (kind == "max" ? x > extreme : x < extreme))
      extreme = x;
  }
  double result(const std::string &kind) const {
    if (count == 0)
      return std::numeric_limits<double>::quiet_NaN();
    double mean = sum / count;
    if (kind.empty() || kind == "sum")
      return sum;
    if (kind == "mean")
      return mean;
    if (kind == "var")
      return std::max(0.0, squares / count - mean * mean);
    return extreme;
  }
};

template <typename T> bool sameBits(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (std::isnan(a) && std::isnan(b));
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, ReductionKernels,
                         testing::Combine(testing::ValuesIn(hostTargets()),
                                          testing::ValuesIn(reductionCases())),
                         [](const auto &info) {
                           std::string name = std::get<0>(info.param)->name.str() + "_" +
                                              std::get<1>(info.param)->name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(ReductionKernels, MatchSumsInOrder) {
  const auto &[target, parameter] = GetParam();
  const ReductionCase &c = *parameter;
  Shape shape;
  shape.queryHeads = 4;
  shape.kvHeads = 2;
  shape.requests = {{64, 64}, {150, 210}, {5, 2}, {1, 131}, {61, 61}};
  auto requests = static_cast<int64_t>(shape.requests.size());
  AttentionBatch batch(shape, 40);
  auto jit =
      compile(program(shape, c.rows, c.keys, c.itemHead, c.itemAxis, bodyOf(c, shape)), *target);
  ASSERT_NE(jit, nullptr);

  constexpr int64_t length = 210, distances = 2 * length;
  int64_t elements = std::max<int64_t>(c.elements, 1);
  auto cellsAlong = [&](int64_t cell) { return cell > 0 ? length / cell + 2 : 1; };
  int64_t inputHeads = headsOf(inputHead(c), shape), heads = headsOf(c.resultHead, shape);
  int64_t inputKeys = c.distances ? distances : cellsAlong(c.b);
  Cells<float> input(requests, inputHeads, c.distances ? 1 : cellsAlong(c.a), inputKeys * elements);
  std::minstd_rand random(7);
  for (float &x : input.data)
    x = random() % 11 == 0 ? kNan : std::ldexp(static_cast<float>(random() % 4001) - 1500, -9);
  Cells<double> wideInput(requests, inputHeads, cellsAlong(c.a), inputKeys);
  for (size_t i = 0; c.wide && i < wideInput.data.size(); ++i)
    wideInput.data[i] = static_cast<double>(input.data[i]) * 1.1;

  int64_t columns = c.diagonal ? distances : cellsAlong(c.keyCell);
  Cells<float> result(requests, heads, cellsAlong(c.queryCell), columns * elements, -77);
  Cells<double> wideResult(requests, heads, cellsAlong(c.queryCell), columns, -77);
  Cells<double> accumulators(requests, heads, cellsAlong(c.queryCell), columns * elements * 3);
  // Two workers' slices, of which the second is used.
  Cells<double> panel(2, 1, columns + 1, llvm::alignTo(c.rows, 64), -55);
  Cells<double> panelAccumulators(2, 1, 3 * (columns + 1), llvm::alignTo(c.rows, 64), -55);
  skim_buffer inputs[] = {input.view(elements)};
  skim_buffer buffers[] = {c.wide ? wideResult.view() : result.view(elements), wideInput.view(),
                           accumulators.view(3 * elements), panel.view(), panelAccumulators.view()};
  if (!c.wide) { // the panel holds f32 in the same memory
    buffers[3].strides[0] *= 2;
  }
  skim_kernel_args args = batch.arguments();
  args.inputs = inputs;
  args.buffers = buffers;
  bool byQueries = std::string(c.itemAxis) == "queries", byKeys = std::string(c.itemAxis) == "keys";
  auto work = items(shape, headsOf(c.itemHead, shape), byQueries ? c.rows : 0, byKeys ? c.keys : 0);
  lookup(*jit, "kernel")(&args, work.data(), 0, static_cast<int64_t>(work.size()), 1);
  EXPECT_EQ(panel.data[0], -55) << "the slice of another worker was written";
  EXPECT_EQ(panelAccumulators.data[0], -55) << "the slice of another worker was written";

  std::string kind = c.kind;
  int64_t defined = 0;
  for (int64_t request = 0; request < requests; ++request) {
    auto [q, kv] = shape.requests[request];
    int64_t base = batch.base(request);
    int64_t firstDistance = c.noncausal ? base - (kv - 1) : 0;
    int64_t queryOrigin = c.queryCell ? floorDiv(base, c.queryCell) : 0;
    int64_t resultRows = c.queryCell ? floorDiv(kv - 1, c.queryCell) - queryOrigin + 1 : 1;
    int64_t resultColumns = c.diagonal  ? kv - firstDistance
                            : c.keyCell ? ceilDiv(kv, c.keyCell)
                                        : 1;
    std::vector<Total> totals(static_cast<size_t>(heads * resultRows * resultColumns * elements));
    int64_t from = base;
    if (c.firstBack >= 0)
      from = std::max(base, floorDiv(kv - c.firstBack, c.rowTiles) * c.rowTiles);
    for (int64_t head = 0; head < inputHeads; ++head) {
      int64_t to = heads == inputHeads ? head : heads == 1 ? 0 : head / (inputHeads / heads);
      int64_t firstCell = c.a ? floorDiv(from, c.a) : 0, lastCell = c.a ? floorDiv(kv - 1, c.a) : 0;
      for (int64_t cell = firstCell; cell <= lastCell; ++cell) {
        int64_t position = c.a ? std::max(cell * c.a, base) : base;
        int64_t row = c.queryCell ? floorDiv(position, c.queryCell) - queryOrigin : 0;
        int64_t keyCells = c.distances ? resultColumns : c.b ? ceilDiv(kv, c.b) : 1;
        for (int64_t key = 0; key < keyCells; ++key) {
          int64_t firstKey = c.b ? key * c.b : 0;
          if (c.causal && firstKey > position)
            continue;
          int64_t column = c.distances  ? key
                           : c.diagonal ? position - firstKey - firstDistance
                           : c.keyCell  ? firstKey / c.keyCell
                                        : 0;
          if (column < 0 || column >= resultColumns)
            continue;
          int64_t inputRow = c.a && !c.distances ? cell - floorDiv(base, c.a) : 0;
          for (int64_t i = 0; i < elements; ++i) {
            double x = c.wide ? wideInput.at(request, head, inputRow, key)
                              : input.at(request, head, inputRow, key * elements + i);
            totals[static_cast<size_t>(
                       ((to * resultRows + row) * resultColumns + column) * elements + i)]
                .take(kind, x);
          }
        }
      }
    }
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t row = 0; row < resultRows; ++row)
        for (int64_t column = 0; column < resultColumns * elements; ++column) {
          double expected =
              totals[static_cast<size_t>((head * resultRows + row) * resultColumns * elements +
                                         column)]
                  .result(kind);
          defined += std::isnan(expected) ? 0 : 1;
          if (c.wide)
            ASSERT_TRUE(sameBits(wideResult.at(request, head, row, column), expected))
                << request << " " << head << " " << row << " " << column << ": "
                << wideResult.at(request, head, row, column) << " " << expected;
          else
            ASSERT_TRUE(
                sameBits(result.at(request, head, row, column), static_cast<float>(expected)))
                << request << " " << head << " " << row << " " << column << ": "
                << result.at(request, head, row, column) << " " << expected;
        }
    // What lies behind the request's cells is left alone.
    for (int64_t head = 0; head < heads && columns > 1; ++head)
      for (int64_t column = resultColumns * elements; column < columns * elements; ++column)
        ASSERT_EQ(c.wide ? wideResult.at(request, head, 0, column)
                         : result.at(request, head, 0, column),
                  -77);
  }
  EXPECT_GT(defined, 0);
}
