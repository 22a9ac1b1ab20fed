// Metrics: what a run is counted as, and the text that Prometheus reads.
#include "Problem.h"

#include <skim/Metrics.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

using namespace skim;
using namespace skim::test;
using testing::HasSubstr;
using testing::Not;

namespace {

TEST(Histogram, countsWhatIsNotAboveABound) {
  constexpr double bounds[] = {1, 2};
  Histogram histogram(bounds);
  for (const double value : {0.5, 1.0, 1.5, 2.0, 2.5, HUGE_VAL, std::nan("")})
    histogram.observe(value);
  EXPECT_THAT(histogram.counts(), testing::ElementsAre(2, 2, 2));
  EXPECT_EQ(histogram.count(), 6);
  EXPECT_EQ(histogram.sum(), HUGE_VAL);
}

/// Attends to every second key, and counts two tiles an item, one masked.
void everySecondKey(const skim_kernel_args *args, const skim_work_item *items, int64_t first,
                    int64_t count, int64_t worker) {
  causalAttention(args, items, first, count, worker);
  for (int64_t i = first; i < first + count; ++i) {
    args->statistics[i].pairs_kept /= 2;
    args->statistics[i].tiles_visited = 2;
    args->statistics[i].tiles_masked = 1;
    args->statistics[i].rest_entries = 3;
  }
}

TEST(Metrics, countARun) {
  // Visible pairs of a head: 5 keys, then 6; none of the request without rows; 1 and 2, as the
  // first row of the last request sees no key.
  Problem problem({{2, 6}, {0, 9}, {3, 2}});
  LaunchPlan plan = causalPlan(problem.heads);
  plan.kernels[0].keyTile = 40;
  const Kernel kernel = *Kernel::create(plan, {everySecondKey});
  Metrics metrics;
  RunOptions options;
  options.metrics = &metrics.runs("causal");
  ASSERT_TRUE(runOnce(kernel, problem.shape(), problem.operands(), {}, options));
  ASSERT_TRUE(runOnce(kernel, problem.shape(), problem.operands(), {}, options));

  const RunTotals totals = metrics.snapshot().runs.at("causal");
  EXPECT_EQ(totals.runs, 2);
  EXPECT_EQ(totals.runsOutOfRange, 0);
  EXPECT_EQ(totals.requests, 2 * 2);
  EXPECT_EQ(totals.queryTokens, 2 * 5);
  EXPECT_EQ(totals.keyTokens, 2 * 8);
  EXPECT_EQ(totals.visiblePairs, 2 * 4 * (5 + 6 + 1 + 2));
  // Of each item, that is of a head and a tile; rows before key 0 have a tile of their own.
  const int64_t items = 4 * (1 + 2);
  EXPECT_EQ(totals.keptPairs, 2 * 4 * (11 / 2 + 3 / 2));
  EXPECT_EQ(totals.tilesVisited, 2 * 2 * items);
  EXPECT_EQ(totals.tilesMasked, 2 * items);
  EXPECT_EQ(totals.restEntries, 2 * 3 * items);
  EXPECT_EQ(totals.pagesVisited, 0);
  EXPECT_DOUBLE_EQ(totals.lastDensity, 6.0 / 14);
  EXPECT_EQ(totals.selectionSeconds.count(), 2);
  EXPECT_EQ(totals.selectionSeconds.sum(), 0);
  EXPECT_EQ(totals.attentionSeconds.count(), 2);
  EXPECT_GT(totals.attentionSeconds.sum(), 0);
}

TEST(Metrics, countPagesOnceAVisit) {
  Problem problem({{1, 6}});
  LaunchPlan plan = causalPlan(problem.heads);
  plan.kernels[0].keyTile = 40; // up to 3 pages of 16
  const Kernel kernel = *Kernel::create(plan, {everySecondKey});
  std::vector<float> pool(16 * 2 * 8);
  const std::vector<int32_t> table = {0};
  Operands operands = problem.operands();
  operands.kvLayout = KvLayout::PagedNhd;
  operands.k = TensorView::contiguous(pool.data(), DType::F32, {1, 16, 2, 8});
  operands.v = operands.k;
  operands.cuSeqlensKv = {};
  operands.blockTable = TensorView::contiguous(table.data(), DType::I32, {1, 1});
  RunMetrics metrics;
  RunOptions options;
  options.metrics = &metrics;
  ASSERT_TRUE(runOnce(kernel, problem.shape(), operands, {}, options));
  EXPECT_EQ(metrics.totals().pagesVisited, 4 * 2 * 3);
}

TEST(Metrics, tellRefusedRunsFromThoseWithValuesOutOfRange) {
  Problem problem({{3, 20}});
  const Kernel kernel = *Kernel::create(listPlan(problem.heads), {listAttention});
  const std::vector<int32_t> blocks = {0, 99};
  Operands operands = problem.operands();
  RunMetrics metrics;
  RunOptions options;
  options.metrics = &metrics;
  EXPECT_EQ(runOnce(kernel, problem.shape(), operands, {}, options).code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(metrics.totals().runs, 0);
  operands.inputs = {{"blocks", TensorView::contiguous(blocks.data(), DType::I32, {1, 2})}};
  EXPECT_EQ(runOnce(kernel, problem.shape(), operands, {}, options).code(),
            StatusCode::DataOutOfRange);
  EXPECT_EQ(metrics.totals().runs, 1);
  EXPECT_EQ(metrics.totals().runsOutOfRange, 1);
}

TEST(Metrics, addUpOverThreads) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 1000; ++i) {
        metrics.runs(i % 2 ? "a" : "b").record(RunRecord{.requests = t, .visiblePairs = 1});
        const ProbedRow row = {.keptMass = 0.5};
        metrics.runs("a").record({&row, 1}, 0.25);
        metrics.recordCompile(1);
        metrics.recordCacheLookup(i % 4 == 0);
        metrics.recordCacheEvictions(2);
        metrics.recordQueueing(0.5);
        metrics.recordTimeToFirstToken(2);
        metrics.setKvCache("cache", {.pages = t});
        if (i % 100 == 0) {
          EXPECT_TRUE(prometheusText(metrics.snapshot()));
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  const MetricsSnapshot snapshot = metrics.snapshot();
  EXPECT_EQ(snapshot.runs.at("a").requests, 500 * (0 + 1 + 2 + 3));
  EXPECT_EQ(snapshot.runs.at("b").runs, 2000);
  EXPECT_EQ(snapshot.runs.at("a").keptMass.count(), 4000);
  EXPECT_EQ(snapshot.runs.at("a").probeSeconds, 1000);
  EXPECT_EQ(snapshot.compile.seconds.sum(), 4000);
  EXPECT_EQ(snapshot.compile.cacheHits, 1000);
  EXPECT_EQ(snapshot.compile.cacheMisses, 3000);
  EXPECT_EQ(snapshot.compile.cacheEvictions, 8000);
  EXPECT_EQ(snapshot.requests.queueSeconds.sum(), 2000);
  EXPECT_EQ(snapshot.requests.timeToFirstToken.count(), 4000);
}

TEST(Metrics, keepRowsWithoutANumberApart) {
  RunMetrics metrics;
  const ProbedRow rows[] = {{0.9, 0.01}, {std::nan(""), 0}, {1, HUGE_VAL}};
  metrics.record(rows, 1);
  EXPECT_EQ(metrics.totals().keptMass.count(), 1);
  EXPECT_EQ(metrics.totals().outputError.sum(), 0.01);
  EXPECT_EQ(metrics.totals().rowsNotFinite, 2);
}

TEST(PrometheusText, hasFamiliesForWhatThereIs) {
  Metrics metrics;
  const std::string empty = *prometheusText(metrics.snapshot());
  EXPECT_THAT(empty, HasSubstr("# TYPE skim_compile_seconds histogram\n"));
  EXPECT_THAT(empty, HasSubstr("skim_compile_seconds_bucket{le=\"0.00025\"} 0\n"));
  EXPECT_THAT(empty, HasSubstr("skim_kernel_cache_lookups_total{result=\"hit\"} 0\n"));
  EXPECT_THAT(empty, HasSubstr("skim_kernel_cache_evictions_total 0\n"));
  EXPECT_THAT(empty, Not(HasSubstr("skim_runs_total")));
  EXPECT_THAT(empty, Not(HasSubstr("skim_kv_cache")));

  metrics.runs("b").record(RunRecord{.visiblePairs = 3, .keptPairs = 1, .attentionSeconds = 0.2});
  metrics.setKvCache("layer \"0\"\\\n", {.pages = 7, .pagesFree = 3});
  const MetricLabel labels[] = {{"model", "m"}};
  const std::string text = *prometheusText(metrics.snapshot(), labels);
  EXPECT_THAT(text, HasSubstr("# HELP skim_runs_total Runs that were not refused.\n"
                              "# TYPE skim_runs_total counter\n"
                              "skim_runs_total{model=\"m\",pattern=\"b\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("skim_run_density_ratio{model=\"m\",pattern=\"b\"} 0.3333333333333333\n"));
  EXPECT_THAT(
      text,
      HasSubstr("skim_run_attention_seconds_bucket{model=\"m\",pattern=\"b\",le=\"0.1\"} 0\n"
                "skim_run_attention_seconds_bucket{model=\"m\",pattern=\"b\",le=\"0.25\"} 1\n"));
  EXPECT_THAT(
      text, HasSubstr("skim_run_attention_seconds_bucket{model=\"m\",pattern=\"b\",le=\"+Inf\"} 1\n"
                      "skim_run_attention_seconds_sum{model=\"m\",pattern=\"b\"} 0.2\n"
                      "skim_run_attention_seconds_count{model=\"m\",pattern=\"b\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("skim_kv_cache_pages{model=\"m\",cache=\"layer \\\"0\\\"\\\\\\n\","
                              "state=\"used\"} 4\n"));
}

TEST(PrometheusText, refusesLabelsThatTheFormatDoesNotAllow) {
  const auto refusal = [](std::vector<MetricLabel> labels) {
    return prometheusText({}, labels).status().message();
  };
  EXPECT_EQ(refusal({{"a-b", "x"}}), "labels: expected names of letters, digits and underscores "
                                     "that no metric uses but got 'a-b'");
  for (const char *name : {"", "1a", "__a", "le", "pattern", "result", "cache", "state"})
    EXPECT_NE(refusal({{name, "x"}}), "") << name;
  EXPECT_NE(refusal({{"a", "x"}, {"a", "y"}}), "");
  EXPECT_EQ(refusal({{"a", "x"}, {"_b1", "y"}}), "");
}

} // namespace
