// Rule 15: whatever the host holds is checked at launch. Each case spoils one argument of a batch
// that runs, and must be refused with its message and with nothing written.
#include "Problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

using namespace skim;
using namespace skim::test;

namespace {

/// Two requests, paged keys and values with pages of 4, and all optional results.
struct Scene {
  Problem problem{{{5, 7}, {3, 9}}};
  std::vector<float> kCache = std::vector<float>(6 * 4 * 2 * 8);
  std::vector<float> vCache = std::vector<float>(6 * 4 * 2 * 8);
  std::vector<int32_t> blockTable = {5, 2, -1, 0, 1, 3};
  std::vector<uint8_t> kept = std::vector<uint8_t>(4 * 8 * 9, 9);
  std::vector<float> room = std::vector<float>(1024);
  std::vector<int32_t> numbers = std::vector<int32_t>(64);
  skim_statistics statistics = {-1, -1, -1, -1};

  Operands operands;
  RunOptions options;
  LaunchPlan launchPlan = causalPlan({});
  BatchShape shape = problem.shape();
  std::function<std::span<std::byte>(std::span<std::byte>)> chooseWorkspace;

  Scene() {
    operands = problem.operands();
    options.statistics = &statistics;
    options.kept = TensorView::contiguous(kept.data(), DType::U8, {4, 8, 9});
  }

  void usePages() {
    operands.kvLayout = KvLayout::PagedNhd;
    operands.k = TensorView::contiguous(kCache.data(), DType::F32, {6, 4, 2, 8});
    operands.v = TensorView::contiguous(vCache.data(), DType::F32, {6, 4, 2, 8});
    operands.cuSeqlensKv = TensorView();
    operands.blockTable = TensorView::contiguous(blockTable.data(), DType::I32, {2, 3});
  }

  Status run() {
    const Expected<Kernel> kernel = Kernel::create(launchPlan, {causalAttention});
    if (!kernel)
      return kernel.status();
    return runOnce(*kernel, shape, operands, {}, options);
  }
};

TEST(Arguments, theSceneItselfRuns) {
  Scene contiguous;
  EXPECT_TRUE(contiguous.run()) << contiguous.run().message();
  Scene paged;
  paged.usePages();
  EXPECT_TRUE(paged.run()) << paged.run().message();
}

struct Fault {
  const char *name;
  std::function<void(Scene &)> spoil;
  const char *message;
  StatusCode code = StatusCode::InvalidArgument;
};

class Refused : public testing::TestWithParam<Fault> {};

TEST_P(Refused, withItsMessageAndNothingWritten) {
  Scene scene;
  GetParam().spoil(scene);
  const Status status = scene.run();
  EXPECT_EQ(status.message(), GetParam().message);
  EXPECT_EQ(status.code(), GetParam().code);
  for (const float value : scene.problem.out)
    ASSERT_TRUE(std::isnan(value));
  for (const float value : scene.problem.lse)
    ASSERT_TRUE(std::isnan(value));
  for (const uint8_t value : scene.kept)
    ASSERT_EQ(value, 9);
  EXPECT_EQ(scene.statistics.pairs_kept, -1);
}

TensorView floats(Scene &scene, std::initializer_list<int64_t> shape) {
  return TensorView::contiguous(scene.kCache.data(), DType::F32, shape);
}
TensorView integers(Scene &scene, std::initializer_list<int64_t> shape) {
  return TensorView::contiguous(scene.numbers.data(), DType::I32, shape);
}

const char *faultName(const testing::TestParamInfo<Fault> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Lengths, Refused,
    testing::Values(
        Fault{"cuSeqlensQMissing", [](Scene &s) { s.operands.cuSeqlensQ = {}; },
              "cu_seqlens_q: expected i32[1 or more] but got nothing"},
        Fault{"cuSeqlensQEmpty", [](Scene &s) { s.operands.cuSeqlensQ = integers(s, {0}); },
              "cu_seqlens_q: expected i32[1 or more] but got i32[0]"},
        Fault{"cuSeqlensQType", [](Scene &s) { s.operands.cuSeqlensQ.dtype = DType::I64; },
              "cu_seqlens_q: expected i32[1 or more] but got i64[3]"},
        Fault{"cuSeqlensQRank", [](Scene &s) { s.operands.cuSeqlensQ = integers(s, {3, 1}); },
              "cu_seqlens_q: expected i32[1 or more] but got i32[3, 1]"},
        Fault{"cuSeqlensQStride", [](Scene &s) { s.operands.cuSeqlensQ.strides[0] = 2; },
              "cu_seqlens_q: expected stride 1 in the last axis but got stride 2 in i32[3]"},
        Fault{"cuSeqlensQNull", [](Scene &s) { s.operands.cuSeqlensQ.data = nullptr; },
              "cu_seqlens_q: expected the data of i32[3] but got a null pointer"},
        Fault{"cuSeqlensQStart", [](Scene &s) { s.problem.cuSeqlensQ[0] = 1; },
              "cu_seqlens_q: expected 0 at entry 0 but got 1"},
        Fault{"cuSeqlensQFalls", [](Scene &s) { s.problem.cuSeqlensQ[2] = 4; },
              "cu_seqlens_q: expected at least 5 at entry 2 (entries never fall) but got 4"},
        Fault{"kvLensCount", [](Scene &s) { s.operands.kvLens = integers(s, {3}); },
              "kv_lens: expected i32[2] but got i32[3]"},
        Fault{"kvLensNegative", [](Scene &s) { s.problem.kvLens[1] = -9; },
              "kv_lens: expected at least 0 at entry 1 but got -9"},
        Fault{"tooManyRequests", [](Scene &s) { s.shape.requests = 1; },
              "cu_seqlens_q: expected at most 1 requests (the plan's shape) but got 2"},
        Fault{"tooManyTokens", [](Scene &s) { s.shape.totalQueryTokens = 7; },
              "cu_seqlens_q: expected at most 7 query tokens (the plan's shape) but got 8"},
        Fault{"queryTooLong", [](Scene &s) { s.shape.maxQueryLength = 4; },
              "cu_seqlens_q: expected at most 4 query tokens in request 0 (the plan's shape) but "
              "got 5"},
        Fault{"keysTooLong", [](Scene &s) { s.shape.maxKvLength = 8; },
              "kv_lens: expected at most 8 keys in request 1 (the plan's shape) but got 9"}),
    faultName);

INSTANTIATE_TEST_SUITE_P(
    Queries, Refused,
    testing::Values(
        Fault{"missing", [](Scene &s) { s.operands.q = {}; },
              "q: expected f32[8 or more, 4, 8] but got nothing"},
        Fault{"type", [](Scene &s) { s.operands.q.dtype = DType::BF16; },
              "q: expected f32[8 or more, 4, 8] but got bf16[8, 4, 8]"},
        Fault{"rank", [](Scene &s) { s.operands.q = floats(s, {1, 8, 4, 8}); },
              "q: expected f32[8 or more, 4, 8] but got f32[1, 8, 4, 8]"},
        Fault{"rankBeyondAll", [](Scene &s) { s.operands.q = floats(s, {1, 1, 1, 1, 8, 4, 8}); },
              "q: expected f32[8 or more, 4, 8] but got f32[1, 1, 1, 1, 8, 4, ...]"},
        Fault{"fewTokens", [](Scene &s) { s.operands.q.shape[0] = 7; },
              "q: expected f32[8 or more, 4, 8] but got f32[7, 4, 8]"},
        Fault{"negativeExtent", [](Scene &s) { s.operands.q.shape[0] = -1; },
              "q: expected f32[8 or more, 4, 8] but got f32[-1, 4, 8]"},
        Fault{"heads", [](Scene &s) { s.operands.q = floats(s, {8, 3, 8}); },
              "q: expected f32[8 or more, 4, 8] but got f32[8, 3, 8]"},
        Fault{"headDim", [](Scene &s) { s.operands.q = floats(s, {8, 4, 6}); },
              "q: expected f32[8 or more, 4, 8] but got f32[8, 4, 6]"},
        Fault{"K11_lastStride", [](Scene &s) { s.operands.q.strides[2] = 2; },
              "q: expected stride 1 in the last axis but got stride 2 in f32[8, 4, 8]"},
        Fault{"null", [](Scene &s) { s.operands.q.data = nullptr; },
              "q: expected the data of f32[8, 4, 8] but got a null pointer"},
        Fault{"alignment",
              [](Scene &s) { s.operands.q.data = static_cast<char *>(s.operands.q.data) + 2; },
              "q: expected data aligned to 4 bytes but got an address that is not"},
        Fault{"K5_strideOverflow",
              [](Scene &s) { s.operands.q.strides[0] = std::numeric_limits<int64_t>::max() / 2; },
              "q: expected strides that stay within the address space but got f32[8, 4, 8] "
              "reaching past it"},
        Fault{"K5_strideBelowZero", [](Scene &s) { s.operands.q.strides[0] = -(int64_t{1} << 58); },
              "q: expected strides that stay within the address space but got f32[8, 4, 8] "
              "reaching past it"},
        Fault{"scale",
              [](Scene &s) { s.operands.softmaxScale = std::numeric_limits<double>::infinity(); },
              "softmax_scale: expected a finite number but got inf"}),
    faultName);

INSTANTIATE_TEST_SUITE_P(
    Contiguous, Refused,
    testing::Values(
        Fault{"kType", [](Scene &s) { s.operands.k.dtype = DType::F16; },
              "k: expected f32[tokens, 2, 8] but got f16[16, 2, 8]"},
        Fault{"kHeads", [](Scene &s) { s.operands.k = floats(s, {16, 1, 8}); },
              "k: expected f32[tokens, 2, 8] but got f32[16, 1, 8]"},
        Fault{"kStride", [](Scene &s) { s.operands.k.strides[2] = 3; },
              "k: expected stride 1 in the last axis but got stride 3 in f32[16, 2, 8]"},
        Fault{"vTokens", [](Scene &s) { s.operands.v.shape[0] = 15; },
              "v: expected f32[16, 2, 8] but got f32[15, 2, 8]"},
        Fault{"vDim", [](Scene &s) { s.operands.v = floats(s, {16, 2, 4}); },
              "v: expected f32[16, 2, 8] but got f32[16, 2, 4]"},
        Fault{"cuSeqlensKvMissing", [](Scene &s) { s.operands.cuSeqlensKv = {}; },
              "cu_seqlens_kv: expected i32[3] but got nothing"},
        Fault{"cuSeqlensKvStart", [](Scene &s) { s.problem.cuSeqlensKv[0] = -1; },
              "cu_seqlens_kv: expected 0 at entry 0 but got -1"},
        Fault{"cuSeqlensKvFalls", [](Scene &s) { s.problem.cuSeqlensKv[1] = 20; },
              "cu_seqlens_kv: expected at least 20 at entry 2 (entries never fall) but got 16"},
        Fault{"cuSeqlensKvPastK", [](Scene &s) { s.problem.cuSeqlensKv[2] = 17; },
              "cu_seqlens_kv: expected at most 16 tokens (those of k) but got 17"},
        Fault{"noRoom", [](Scene &s) { s.problem.cuSeqlensKv[1] = 6; },
              "cu_seqlens_kv: expected room for the 7 keys of request 0 (kv_lens) but got 6"},
        Fault{"blockTableGiven", [](Scene &s) { s.operands.blockTable = integers(s, {2, 3}); },
              "block_table: expected nothing (keys and values are contiguous) but got i32[2, 3]"},
        Fault{"compiledForPages", [](Scene &s) { s.launchPlan.signature.pageSize = 16; },
              "kv_layout: expected pages of 16 keys (the kernel was compiled for them) but got "
              "contiguous keys and values"}),
    faultName);

/// A fault in the paged variant of the scene.
Fault paged(const char *name, void (*spoil)(Scene &), const char *message) {
  return {name,
          [spoil](Scene &scene) {
            scene.usePages();
            spoil(scene);
          },
          message};
}

INSTANTIATE_TEST_SUITE_P(
    Paged, Refused,
    testing::Values(
        paged(
            "kRank", [](Scene &s) { s.operands.k = floats(s, {24, 2, 8}); },
            "k: expected f32[pages, page_size, 2, 8] but got f32[24, 2, 8]"),
        paged(
            "hndTakenForNhd", [](Scene &s) { s.operands.k = floats(s, {6, 2, 4, 8}); },
            "k: expected f32[pages, page_size, 2, 8] but got f32[6, 2, 4, 8]"),
        paged(
            "nhdTakenForHnd", [](Scene &s) { s.operands.kvLayout = KvLayout::PagedHnd; },
            "k: expected f32[pages, 2, page_size, 8] but got f32[6, 4, 2, 8]"),
        paged(
            "vPages", [](Scene &s) { s.operands.v.shape[0] = 5; },
            "v: expected f32[6, 4, 2, 8] but got f32[5, 4, 2, 8]"),
        paged(
            "vPageSize", [](Scene &s) { s.operands.v = floats(s, {6, 2, 2, 8}); },
            "v: expected f32[6, 4, 2, 8] but got f32[6, 2, 2, 8]"),
        paged(
            "emptyPages",
            [](Scene &s) {
              s.operands.k = floats(s, {6, 0, 2, 8});
              s.operands.v = floats(s, {6, 0, 2, 8});
            },
            "k: expected a page size of at least 1 but got f32[6, 0, 2, 8]"),
        paged(
            "otherPageSize", [](Scene &s) { s.launchPlan.signature.pageSize = 16; },
            "k: expected f32[pages, 16, 2, 8] but got f32[6, 4, 2, 8]"),
        paged(
            "compiledForContiguous", [](Scene &s) { s.launchPlan.signature.pageSize = 0; },
            "kv_layout: expected contiguous keys and values (the kernel was compiled for them) "
            "but got pages"),
        paged(
            "cuSeqlensKvGiven", [](Scene &s) { s.operands.cuSeqlensKv = integers(s, {3}); },
            "cu_seqlens_kv: expected nothing (keys and values are paged) but got i32[3]"),
        paged(
            "blockTableMissing", [](Scene &s) { s.operands.blockTable = {}; },
            "block_table: expected i32[2, max pages] but got nothing"),
        paged(
            "blockTableRows", [](Scene &s) { s.operands.blockTable = integers(s, {3, 3}); },
            "block_table: expected i32[2, max pages] but got i32[3, 3]"),
        paged(
            "blockTableStride", [](Scene &s) { s.operands.blockTable.strides[1] = 2; },
            "block_table: expected stride 1 in the last axis but got stride 2 in i32[2, 3]"),
        paged(
            "fewPages", [](Scene &s) { s.operands.blockTable.shape[1] = 2; },
            "block_table: expected 3 pages or more for the 9 keys of request 1 but got "
            "i32[2, 2]"),
        paged(
            "pageBelowZero", [](Scene &s) { s.blockTable[1] = -1; },
            "block_table: expected a page from 0 to 5 at [0, 1] but got -1"),
        paged(
            "pagePastTheCache", [](Scene &s) { s.blockTable[5] = 6; },
            "block_table: expected a page from 0 to 5 at [1, 2] but got 6")),
    faultName);

INSTANTIATE_TEST_SUITE_P(
    Results, Refused,
    testing::Values(
        Fault{"outMissing", [](Scene &s) { s.operands.out = {}; },
              "out: expected f32[8 or more, 4, 8] but got nothing"},
        Fault{"outType", [](Scene &s) { s.operands.out.dtype = DType::BF16; },
              "out: expected f32[8 or more, 4, 8] but got bf16[8, 4, 8]"},
        Fault{"outTokens", [](Scene &s) { s.operands.out.shape[0] = 7; },
              "out: expected f32[8 or more, 4, 8] but got f32[7, 4, 8]"},
        Fault{"outStride", [](Scene &s) { s.operands.out.strides[2] = 0; },
              "out: expected stride 1 in the last axis but got stride 0 in f32[8, 4, 8]"},
        Fault{"outBroadcast", [](Scene &s) { s.operands.out.strides[0] = 0; },
              "out: expected strides that give every element its own memory but got overlapping "
              "elements in f32[8, 4, 8]"},
        Fault{"outOverlapping", [](Scene &s) { s.operands.out.strides[0] = 31; },
              "out: expected strides that give every element its own memory but got overlapping "
              "elements in f32[8, 4, 8]"},
        Fault{"lseShape", [](Scene &s) { s.operands.lse = floats(s, {8, 4}); },
              "lse: expected f32[4, 8 or more] but got f32[8, 4]"},
        Fault{"lseBroadcast", [](Scene &s) { s.operands.lse.strides[1] = 0; },
              "lse: expected strides that give every element its own memory but got overlapping "
              "elements in f32[4, 8]"},
        Fault{"keptNotCompiled", [](Scene &s) { s.launchPlan.signature.writesKept = false; },
              "kept: the kernel was compiled without the code that writes the kept relation",
              StatusCode::Unsupported},
        Fault{"keptKeys", [](Scene &s) { s.options.kept.shape[2] = 8; },
              "kept: expected u8[4, 8 or more, 9 or more] but got u8[4, 8, 8]"},
        Fault{"keptBroadcast", [](Scene &s) { s.options.kept.strides[0] = 0; },
              "kept: expected strides that give every element its own memory but got overlapping "
              "elements in u8[4, 8, 9]"}),
    faultName);

INSTANTIATE_TEST_SUITE_P(
    Aliasing, Refused,
    testing::Values(
        Fault{"outInQ", [](Scene &s) { s.operands.out.data = s.operands.q.data; },
              "out: expected memory of its own but got memory that overlaps q"},
        Fault{"outEndsInK",
              [](Scene &s) {
                s.operands.out.data = s.room.data(); // 256 elements
                s.operands.k.data = s.room.data() + 255;
              },
              "out: expected memory of its own but got memory that overlaps k"},
        Fault{"outInV", [](Scene &s) { s.operands.out.data = s.operands.v.data; },
              "out: expected memory of its own but got memory that overlaps v"},
        Fault{"lseInOut", [](Scene &s) { s.operands.lse.data = s.operands.out.data; },
              "lse: expected memory of its own but got memory that overlaps out"},
        Fault{"keptInLengths", [](Scene &s) { s.options.kept.data = s.problem.kvLens.data(); },
              "kept: expected memory of its own but got memory that overlaps kv_lens"},
        Fault{"lseInStarts", [](Scene &s) { s.operands.lse.data = s.problem.cuSeqlensKv.data(); },
              "lse: expected memory of its own but got memory that overlaps cu_seqlens_kv"},
        Fault{"secondsInV",
              [](Scene &s) {
                s.options.kernelSeconds = {reinterpret_cast<double *>(s.problem.v.data()), 1};
              },
              "kernel_seconds: expected memory of its own but got memory that overlaps v"},
        Fault{"statisticsInQ",
              [](Scene &s) {
                s.options.statistics = reinterpret_cast<skim_statistics *>(s.problem.q.data());
              },
              "statistics: expected memory of its own but got memory that overlaps q"},
        Fault{"headStatisticsInK",
              [](Scene &s) {
                s.options.headStatistics = {reinterpret_cast<skim_statistics *>(s.problem.k.data()),
                                            4};
              },
              "head_statistics: expected memory of its own but got memory that overlaps k"}),
    faultName);

INSTANTIATE_TEST_SUITE_P(
    Options, Refused,
    testing::Values(Fault{"threads", [](Scene &s) { s.options.threads = -1; },
                          "threads: expected at least 0 but got -1"},
                    Fault{"layer",
                          [](Scene &s) {
                            s.launchPlan.allowedLayers = {0, 2};
                            s.operands.layer = 1;
                          },
                          "layer: expected a label of the pattern's match (0, 2) but got 1"},
                    Fault{"inconsistentPlan", [](Scene &s) { s.launchPlan.signature.kvHeads = 3; },
                          "launch plan: query_heads: expected a multiple of kv_heads 3 but got 4"}),
    faultName);

TEST(Arguments, workspaceMustNotOverlapOperands) {
  Problem problem({{5, 7}});
  const Kernel kernel = causalKernel({});
  const Plan plan = *kernel.plan(problem.shape());
  WorkspaceMemory memory = filledWorkspace(plan.workspaceBytes() + 4096);
  Operands operands = problem.operands();
  operands.q.data = memory.span().data() + plan.workspaceBytes() / 4 * 4 - 4;
  EXPECT_EQ(kernel.run(plan, operands, {}, memory.span()).message(),
            "workspace: expected memory of its own but got memory that overlaps q");
}

TEST(Arguments, planOfAnotherKernelIsRefused) {
  Problem problem({{5, 7}});
  const Kernel one = causalKernel({});
  const Kernel other = causalKernel({});
  const Plan plan = *other.plan(problem.shape());
  WorkspaceMemory memory = filledWorkspace(plan.workspaceBytes());
  EXPECT_EQ(one.run(plan, problem.operands(), {}, memory.span()).message(),
            "plan: expected a plan of this kernel but got one of another kernel");
}

TEST(Arguments, entryPointsMustMatchThePlan) {
  EXPECT_EQ(Kernel::create(causalPlan({}), {}).status().message(),
            "functions: expected 1 entry points, one a kernel but got 0");
  EXPECT_EQ(Kernel::create(causalPlan({}), {nullptr}).status().message(),
            "functions: expected the entry point of kernel 'attention' but got a null pointer");
}

} // namespace
