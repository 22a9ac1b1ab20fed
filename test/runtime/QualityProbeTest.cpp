// The quality probe: what it measures is what a comparison of all rows gives, and which rows it
// takes depends on their positions alone.
#include "Problem.h"

#include <skim/QualityProbe.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace skim;
using namespace skim::test;

namespace {

bool keepsOdd(int64_t, int64_t, int64_t q, int64_t k) { return k == q || k % 2 == 1; }

/// A problem whose results are those of a sparse pattern.
Problem attended(const std::vector<Lengths> &lengths, Heads heads = {}) {
  Problem problem(lengths, heads);
  const Attention sparse = referenceAttention(problem, keepsOdd);
  problem.out = sparse.out;
  problem.lse = sparse.lse;
  return problem;
}

QualityProbe probeOf(const Heads &heads, double rate) {
  Expected<QualityProbe> probe = QualityProbe::create(causalKernel(heads), {.rate = rate});
  EXPECT_TRUE(probe) << probe.status().message();
  return *std::move(probe);
}

QualitySample measure(const QualityProbe &probe, Problem &problem,
                      const ProbeRunOptions &options = {}) {
  Expected<QualitySample> sample = probe.measure(problem.operands(), {}, options);
  EXPECT_TRUE(sample) << sample.status().message();
  return *std::move(sample);
}

bool less(const ProbedRow &a, const ProbedRow &b) {
  return std::pair(a.keptMass, a.outputError) < std::pair(b.keptMass, b.outputError);
}

/// Of all rows that see a key.
std::vector<ProbedRow> expectedRows(const Problem &problem) {
  const Attention dense = referenceAttention(problem);
  std::vector<ProbedRow> rows;
  for (int64_t head = 0; head < problem.heads.query; ++head)
    for (int64_t token = 0; token < problem.tokens(); ++token) {
      const auto at = static_cast<size_t>(head * problem.tokens() + token);
      if (std::isinf(dense.lse[at]))
        continue;
      double difference = 0;
      double largest = 0;
      for (int64_t i = 0; i < problem.heads.valueDim; ++i) {
        const auto element =
            static_cast<size_t>((token * problem.heads.query + head) * problem.heads.valueDim + i);
        difference =
            std::max(difference, std::abs(double(problem.out[element]) - dense.out[element]));
        largest = std::max(largest, std::abs(double(dense.out[element])));
      }
      rows.push_back({std::exp(double(problem.lse[at]) - dense.lse[at]), difference / largest});
    }
  std::ranges::sort(rows, less);
  return rows;
}

TEST(QualityProbe, measuresEveryRowAtRateOne) {
  // Unaligned chunks, more rows than keys, no rows, no keys.
  Problem problem = attended({{20, 70}, {9, 5}, {0, 40}, {33, 33}, {2, 0}}, {6, 2});
  const std::vector<float> out = problem.out;
  QualitySample sample = measure(probeOf(problem.heads, 1), problem);
  EXPECT_EQ(problem.out, out) << "the probe writes no result";
  EXPECT_GT(sample.seconds, 0);
  const std::vector<ProbedRow> expected = expectedRows(problem);
  ASSERT_EQ(sample.rows.size(), expected.size());
  std::ranges::sort(sample.rows, less);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(sample.rows[i].keptMass, expected[i].keptMass, 1e-5);
    EXPECT_NEAR(sample.rows[i].outputError, expected[i].outputError, 1e-4);
  }
}

TEST(QualityProbe, takesAboutTheShareThatIsAskedFor) {
  Problem problem = attended({{1600, 1600}}, {8, 2});
  const size_t all = measure(probeOf(problem.heads, 1), problem).rows.size();
  ASSERT_EQ(all, 8 * 1600U);
  size_t taken = 0;
  constexpr int kSeeds = 40; // of 800 items each: a deviation of 6 % is one standard deviation
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    taken += measure(probeOf(problem.heads, 1.0 / 128), problem, {.seed = seed}).rows.size();
  EXPECT_NEAR(static_cast<double>(taken) / kSeeds / static_cast<double>(all), 1.0 / 128, 0.3 / 128);
  EXPECT_TRUE(measure(probeOf(problem.heads, 0), problem).rows.empty());
}

TEST(QualityProbe, choosesByPositionWhateverElseIsInTheBatch) {
  const Heads heads = {8, 2};
  Problem alone = attended({{300, 400}}, heads);
  Problem among = attended({{300, 400}, {17, 90}, {200, 200}}, heads);
  // The first request is the same in both.
  among.q = alone.q;
  among.q.resize(static_cast<size_t>(among.tokens() * 64), 1);
  std::ranges::copy(alone.k, among.k.begin());
  std::ranges::copy(alone.v, among.v.begin());
  const Attention sparse = referenceAttention(among, keepsOdd);
  among.out = sparse.out;
  among.lse = sparse.lse;
  const QualityProbe probe = probeOf(heads, 0.1);
  const QualitySample small = measure(probe, alone, {.seed = 3});
  QualitySample large = measure(probe, among, {.seed = 3, .threads = 1});
  ASSERT_FALSE(small.rows.empty());
  ASSERT_GT(large.rows.size(), small.rows.size());
  for (const ProbedRow &row : small.rows)
    EXPECT_TRUE(std::ranges::any_of(large.rows, [&](const ProbedRow &other) {
      return other.keptMass == row.keptMass && other.outputError == row.outputError;
    }));

  Operands operands = alone.operands();
  operands.layer = 1;
  const Expected<QualitySample> otherLayer = probe.measure(operands, {}, {.seed = 3});
  ASSERT_TRUE(otherLayer);
  const auto same = [](const ProbedRow &a, const ProbedRow &b) { return a.keptMass == b.keptMass; };
  EXPECT_FALSE(std::ranges::equal(otherLayer->rows, small.rows, same));
  EXPECT_FALSE(std::ranges::equal(measure(probe, alone, {.seed = 4}).rows, small.rows, same));
  EXPECT_TRUE(std::ranges::equal(measure(probe, alone, {.seed = 3}).rows, small.rows, same));
}

TEST(QualityProbe, recordsRowsAndTime) {
  Problem problem = attended({{40, 40}});
  RunMetrics metrics;
  const QualitySample sample = measure(probeOf(problem.heads, 1), problem, {.metrics = &metrics});
  const RunTotals totals = metrics.totals();
  EXPECT_EQ(totals.keptMass.count(), 4 * 40);
  EXPECT_EQ(totals.outputError.count(), 4 * 40);
  EXPECT_EQ(totals.probeSeconds, sample.seconds);

  problem.out[5] = kNaN;
  measure(probeOf(problem.heads, 1), problem, {.metrics = &metrics});
  EXPECT_EQ(metrics.totals().rowsNotFinite, 1);
}

TEST(QualityProbe, passesOverWhatTheDenseKernelDoesNotHave) {
  Problem problem = attended({{40, 40}});
  Operands operands = problem.operands();
  const std::vector<int32_t> blocks = {0};
  operands.inputs = {{"blocks", TensorView::contiguous(blocks.data(), DType::I32, {1})}};
  const Expected<QualitySample> sample =
      probeOf(problem.heads, 1).measure(operands, {{"window", 5}});
  ASSERT_TRUE(sample) << sample.status().message();
  EXPECT_EQ(sample->rows.size(), 4 * 40U);
}

TEST(QualityProbe, refusesWhatItCannotDo) {
  for (const double rate : {-0.5, 1.5, std::nan("")})
    EXPECT_EQ(QualityProbe::create(causalKernel({}), {.rate = rate}).status().code(),
              StatusCode::InvalidArgument);
  LaunchPlan two = causalPlan({});
  two.kernels.push_back({"second", HeadAxis::QueryHead, ItemAxis::Queries, kRows});
  EXPECT_EQ(QualityProbe::create(*Kernel::create(two, {causalAttention, causalAttention}))
                .status()
                .message(),
            "dense: expected a kernel of attention alone but got 'causal' with 2 kernels");
  Problem problem = attended({{4, 4}});
  Operands operands = problem.operands();
  operands.lse = {};
  EXPECT_EQ(probeOf({}, 1).measure(operands, {}).status().message(),
            "lse: expected the log-sum-exp of a run but got nothing");
  operands = problem.operands();
  operands.out.dtype = DType::BF16;
  EXPECT_FALSE(probeOf({}, 1).measure(operands, {}));
}

} // namespace
