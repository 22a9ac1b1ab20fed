// What the cost model counts, against numbers computed by hand. Eight query and two KV heads of
// dimension 128, bf16; a tile of 64 rows by 64 keys costs 2 * 64 * 64 * (128 + 128) FLOPs.
#include "runtime/LaunchPlan.h"
#include "test/report/ReportTestSupport.h"

using namespace skim;

namespace {

constexpr double kTileFlops = 2.0 * 64 * 64 * (128 + 128);
constexpr double kHeads = 8, kKvHeads = 2, kRows = 512;
/// One row of a head: output in f32 and log-sum-exp.
constexpr double kResultBytes = 128 * 4 + 4;

ReportOptions callOf(std::map<std::string, std::vector<double>> parameters = {}) {
  ReportOptions call;
  call.tokens = call.context = 512;
  call.parameters = std::move(parameters);
  return call;
}

const KernelReport &kernel(const Report &report, const std::string &name) {
  for (const KernelReport &each : report.kernels)
    if (each.name == name)
      return each;
  ADD_FAILURE() << "no kernel " << name;
  return report.kernels.back();
}

TEST(Cost, StreamingIsExact) {
  Report report = reportOn("pattern p(sink: index = 64, window: index = 4096) {\n"
                           "  keep k < sink or q - k < window\n}",
                           callOf({{"window", {128}}}));
  ASSERT_EQ(report.kernels.size(), 1U);
  const KernelReport &attention = report.kernels.front();
  // Query tile t meets tiles t - 2 to t and tile 0: 1 + 2 + 3 + 4 * 5.
  constexpr double kTiles = 26;
  EXPECT_TRUE(attention.isExact());
  EXPECT_EQ(attention.workItems, 64);
  EXPECT_EQ(attention.source.line, 2);
  EXPECT_EQ(attention.mostTiles, kTiles * kHeads);
  EXPECT_EQ(attention.most.flops, kTiles * kHeads * kTileFlops);
  // One power a score, one a row to scale what was there.
  EXPECT_EQ(attention.most.exponentials, kTiles * kHeads * (64 * 64 + 64));
  double queries = kRows * kHeads * 128 * 2, keysAndValues = kTiles * kHeads * 64 * (128 + 128) * 2;
  EXPECT_EQ(attention.most.bytesRead, queries + keysAndValues);
  EXPECT_EQ(attention.most.bytesWritten, kRows * kHeads * kResultBytes);
  EXPECT_EQ(attention.most.scratchBytes, 0);
  // 1 + 2 + ... + 8 tiles.
  EXPECT_EQ(report.denseFlops, 36 * kHeads * kTileFlops);
}

TEST(Cost, LastChunkOfALongerContext) {
  ReportOptions call = callOf({{"window", {128}}});
  call.tokens = 100; // rows 412 to 511: 36 rows of tile 6, all of tile 7
  Report report = reportOn("pattern p(window: index = 64) { keep k < 64 or q - k < window }", call);
  const KernelReport &attention = report.kernels.front();
  EXPECT_EQ(attention.workItems, 2 * 8);
  // The first existing row of tile 6 is 412: its window begins at key 285, in tile 4.
  EXPECT_EQ(attention.most.flops, 4.0 * kHeads * 2 * (36 + 64) * 64 * 256);
  EXPECT_EQ(report.denseFlops, kHeads * 2.0 * (36 * 7 * 64 + 64 * 8 * 64) * 256);
}

TEST(Cost, ParametersOneAHead) {
  ReportOptions call = callOf({{"window", {1, 1, 1, 1, 1, 1, 1, 4096}}});
  Report report = reportOn("pattern p(window: index[head] = 1) { keep q - k < window }", call);
  // Seven heads meet the diagonal tile alone, one all.
  EXPECT_EQ(report.kernels.front().most.flops, (7 * 8 + 36) * kTileFlops);
}

TEST(Cost, JoinedHeadsAreThoseOfTheMap) {
  // Each item joins 64 columns: a cell a KV head, or a cell a query head.
  for (auto [axis, heads] : {std::pair("kv_head", kKvHeads), std::pair("head", kHeads)}) {
    Report report = reportOn(std::string("pattern p {\n  input x: f32[") + axis +
                                 ", k]\n  keep top_k(sum(x, over: heads), 64)\n}",
                             callOf());
    const KernelReport &sums = kernel(report, "reduced");
    EXPECT_EQ(sums.workItems, 8) << axis;
    EXPECT_EQ(sums.most.bytesRead, kRows * heads * 4) << axis;
    EXPECT_EQ(sums.most.bytesWritten, kRows * 4) << axis;
  }
}

TEST(Cost, BlockMaskDependsOnTheRun) {
  Report report = reportOn("pattern p {\n  input layout: bool[head, q / 128, k / 128]\n"
                           "  keep layout\n}",
                           callOf());
  const KernelReport &attention = report.kernels.back();
  EXPECT_FALSE(attention.isExact());
  EXPECT_EQ(attention.least.flops, 0);
  EXPECT_EQ(attention.leastTiles, 0);
  EXPECT_EQ(attention.mostTiles, 36 * kHeads);
  EXPECT_EQ(attention.most.flops, report.denseFlops);
  // Query tile t looks at the mask of keys 0 to 64 t + 63: 1, 1, 2, 2, 3, 3, 4, 4 bytes.
  double queries = kRows * kHeads * 128 * 2, keysAndValues = 36 * kHeads * 64 * 256 * 2;
  EXPECT_EQ(attention.most.bytesRead, queries + keysAndValues + 20 * kHeads);
  EXPECT_EQ(attention.least.bytesRead, queries);
  EXPECT_EQ(attention.least.bytesWritten, kRows * kHeads * kResultBytes);
}

TEST(Cost, GatheredTokensDependOnTheRun) {
  Report report = reportOn("pattern p {\n  input chosen: bool[kv_head, k / 16]\n"
                           "  keep q - k < 64\n  compact chosen\n}",
                           callOf());
  const KernelReport &compact = kernel(report, "compact");
  EXPECT_EQ(compact.workItems, 2);
  EXPECT_EQ(compact.source.line, 4);
  EXPECT_EQ(compact.most.bytesRead, 32 * kKvHeads);
  EXPECT_EQ(compact.most.bytesWritten, (512 + 1) * 4 * kKvHeads);
  EXPECT_EQ(compact.least.bytesWritten, 4 * kKvHeads);
}

TEST(Cost, FlashPrefill) {
  Report report =
      reportOn("pattern p(alpha: f32 = 0.1, sink: index = 64, window: index = 128) {\n"
               "  let energy = sum(exp(dot(Q, bf16(mean(K, 128)))), into: q / 128, over: group)\n"
               "  keep energy >= alpha * max(energy, over: k / 128) or k < sink or q - k < window\n"
               "  rest mean(128, q / 128)\n}",
               callOf());
  // Means of four blocks of keys, in f32, then rounded.
  const KernelReport &means = kernel(report, "reduced");
  EXPECT_TRUE(means.isExact());
  EXPECT_EQ(means.workItems, 4 * 2);
  EXPECT_EQ(means.most.flops, 0);
  EXPECT_EQ(means.most.bytesRead, kRows * kKvHeads * 128 * 2);
  EXPECT_EQ(means.most.bytesWritten, 4 * kKvHeads * 128 * 4);
  EXPECT_EQ(kernel(report, "cast").most.bytesRead, 4 * kKvHeads * 128 * 4);

  // 128 rows of a tile against the blocks that its last row sees: 1 + 2 + 3 + 4.
  const KernelReport &energy = kernel(report, "reduced_0");
  EXPECT_EQ(energy.workItems, 4 * 2);
  EXPECT_EQ(energy.source.line, 2);
  EXPECT_EQ(energy.most.flops, 2.0 * 128 * 10 * 128 * kHeads);
  EXPECT_EQ(energy.most.exponentials, 128.0 * 10 * kHeads);
  EXPECT_EQ(energy.most.bytesRead, kRows * kHeads * 128 * 2 + 10 * 128 * 4 * kHeads);
  EXPECT_EQ(energy.most.bytesWritten, 4.0 * 4 * 4 * kKvHeads);
  // Queries are written and read once, products too; of these, what is summed is read.
  EXPECT_EQ(energy.most.scratchBytes,
            4 * kHeads * (2 * kRows * 128 + kRows * 4) + 4 * kHeads * 128 * 10);
  EXPECT_EQ(kernel(report, "reduced_1").most.bytesRead, 10 * 4 * kKvHeads);

  const KernelReport &covered = kernel(report, "rest_covered");
  // Tiles of 128: all that causality admits, or those of sink and window.
  EXPECT_EQ(covered.most.bytesWritten, 10 * kKvHeads);
  EXPECT_EQ(covered.least.bytesWritten, 9 * kKvHeads);

  const KernelReport &attention = kernel(report, "attention");
  EXPECT_EQ(attention.mostTiles, 36 * kHeads);
  EXPECT_EQ(attention.leastTiles, 26 * kHeads);
  // Query tiles 2 to 7 may meet all four block means.
  constexpr double kMeans = 6 * 4;
  EXPECT_EQ(attention.most.flops, kHeads * (36 * kTileFlops + kMeans * 2 * 64 * 256));
  EXPECT_EQ(attention.least.flops, kHeads * 26 * kTileFlops);
  // Beside the powers, one logarithm for each score of a mean.
  EXPECT_EQ(attention.most.exponentials,
            kHeads * (36 * (64 * 64 + 64) + 6 * (64 * 4 + 64) + kMeans * 64));
  double ofMeans = kMeans * (256 * 4 + 1), energies = (20 + 8) * 4;
  EXPECT_EQ(attention.most.bytesRead,
            kHeads * (kRows * 128 * 2 + 36 * 64 * 256 * 2 + ofMeans + energies));
  EXPECT_EQ(report.most().flops, energy.most.flops + attention.most.flops);
}

TEST(Cost, WorkspaceIsThatOfThePlan) {
  for (const char *text :
       {"pattern p { keep q - k < 100 }",
        "pattern p(n: index = 40) {\n  input importance: f32[kv_head, k]\n"
        "  keep top_k(importance, n) or q - k < 64\n  rest mean(64, q / 64)\n}"}) {
    ReportOptions call;
    call.tokens = 300;
    call.context = 1000;
    call.workers = 3;
    Report report = reportOn(text, call);
    Expected<Kernel> kernel = Compiler().compile(Pattern::fromText(text), problem());
    ASSERT_TRUE(kernel) << kernel.status().message();
    Expected<Plan> plan = kernel->plan({1, 300, 300, 1000}, 3);
    ASSERT_TRUE(plan) << plan.status().message();
    EXPECT_EQ(report.workspaceBytes, plan->workspaceBytes());
    EXPECT_EQ(report.buffers.size(), kernel->launchPlan().buffers.size());
  }
}

TEST(Cost, ImpossibleCallsAreRefused) {
  auto messageOf = [](const ReportOptions &call) {
    Expected<Report> report = Compiler().report(
        Pattern::fromText("pattern p(window: index = 64) { keep q - k < window }"), problem(),
        call);
    return report ? "" : report.status().message();
  };
  ReportOptions call;
  call.tokens = call.context + 1;
  EXPECT_EQ(messageOf(call), "expected 1 to 8192 tokens, as many as the context, but got 8193");
  call = {};
  call.context = ReportOptions::kLargestContext + 1;
  EXPECT_EQ(messageOf(call), "expected a context of 1 to 1048576 keys but got 1048577");
  call = {};
  call.workers = 0;
  EXPECT_EQ(messageOf(call), "expected 1 to 4096 workers but got 0");
  call = {};
  call.parameters = {{"windw", {1}}};
  EXPECT_EQ(messageOf(call), "pattern 'p' has no launch parameter 'windw'");
  call.parameters = {{"window", {1, 2}}};
  EXPECT_EQ(messageOf(call), "parameter 'window': expected 1 value but got 2 values");
}

} // namespace
