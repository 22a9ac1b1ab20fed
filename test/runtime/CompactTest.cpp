// The positions that a pattern's `compact` gathers, as results of a run.
#include "Problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

using namespace skim;
using namespace skim::test;

namespace {

/// Writes the even positions of its request where they are asked for.
void gatherEven(const skim_kernel_args *args, const skim_work_item *items, int64_t first,
                int64_t count, int64_t) {
  for (int64_t i = first; i < first + count; ++i) {
    const skim_work_item &item = items[i];
    const int32_t length = args->kv_lens[item.request];
    for (int32_t key = 0; key < length && args->compact_positions; key += 2)
      args->compact_positions[item.request * args->compact_positions_request_stride +
                              item.head * args->compact_positions_head_stride + key / 2] = key;
    if (args->compact_counts)
      args->compact_counts[item.request * args->compact_counts_request_stride +
                           item.head * args->compact_counts_head_stride] = (length + 1) / 2;
  }
}

/// Requests with rows, without rows and without keys; results for each KV head.
struct Scene {
  Problem problem{{{2, 5}, {0, 4}, {3, 0}}};
  std::vector<int32_t> positions = std::vector<int32_t>(3 * 2 * 6, 7);
  std::vector<int32_t> counts = std::vector<int32_t>(3 * 2, 7);
  Operands operands = problem.operands();
  LaunchPlan plan = causalPlan({});

  Scene() {
    plan.signature.compactHeads = HeadAxis::KvHead;
    plan.kernels.insert(plan.kernels.begin(), {"gather", HeadAxis::KvHead, ItemAxis::None, 1});
    operands.compactPositions = TensorView::contiguous(positions.data(), DType::I32, {3, 2, 6});
    operands.compactCounts = TensorView::contiguous(counts.data(), DType::I32, {3, 2});
  }

  Status run() {
    const Expected<Kernel> kernel = Kernel::create(plan, {gatherEven, causalAttention});
    return kernel ? runOnce(*kernel, problem.shape(), operands) : kernel.status();
  }
};

TEST(Compact, positionsArePaddedAlsoOfRequestsWithoutRows) {
  Scene scene;
  // Counts lie head by head.
  scene.operands.compactCounts =
      TensorView::strided(scene.counts.data(), DType::I32, {3, 2}, {1, 3});
  const Status status = scene.run();
  ASSERT_TRUE(status) << status.message();
  std::vector<int32_t> expected(3 * 2 * 6, -1);
  for (const int64_t row : {0, 1})
    for (const int32_t i : {0, 1, 2})
      expected[row * 6 + i] = 2 * i;
  EXPECT_EQ(scene.positions, expected);
  EXPECT_EQ(scene.counts, (std::vector<int32_t>{3, 0, 0, 3, 0, 0}));
  expectAttention(scene.problem, referenceAttention(scene.problem));
}

TEST(Compact, headsAreThoseOfTheLaunchPlan) {
  for (const auto &[axis, heads] : {std::pair(HeadAxis::None, 1), std::pair(HeadAxis::KvHead, 2),
                                    std::pair(HeadAxis::QueryHead, 4)}) {
    Scene scene;
    scene.plan.signature.compactHeads = scene.plan.kernels.front().head = axis;
    std::vector<int32_t> counts(3 * heads, 7);
    scene.operands.compactPositions = {};
    scene.operands.compactCounts = TensorView::contiguous(counts.data(), DType::I32, {3, heads});
    const Status status = scene.run();
    ASSERT_TRUE(status) << status.message();
    for (int64_t i = 0; i < 3 * heads; ++i)
      EXPECT_EQ(counts[i], i < heads ? 3 : 0) << i;
  }
}

struct Fault {
  const char *name;
  std::function<void(Scene &)> spoil;
  const char *message;
};

class CompactRefused : public testing::TestWithParam<Fault> {};

TEST_P(CompactRefused, withItsMessageAndNothingWritten) {
  Scene scene;
  GetParam().spoil(scene);
  const Status status = scene.run();
  EXPECT_EQ(status.message(), GetParam().message);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(scene.positions, std::vector<int32_t>(3 * 2 * 6, 7));
  EXPECT_EQ(scene.counts, std::vector<int32_t>(3 * 2, 7));
  for (const float value : scene.problem.out)
    ASSERT_TRUE(std::isnan(value));
}

INSTANTIATE_TEST_SUITE_P(
    All, CompactRefused,
    testing::Values(
        Fault{"noCompact", [](Scene &s) { s.plan.signature.compactHeads.reset(); },
              "compact_positions: expected nothing (the pattern has no compact) but got "
              "i32[3, 2, 6]"},
        Fault{"noCompactForCounts",
              [](Scene &s) {
                s.plan.signature.compactHeads.reset();
                s.operands.compactPositions = {};
              },
              "compact_counts: expected nothing (the pattern has no compact) but got i32[3, 2]"},
        Fault{"heads", [](Scene &s) { s.plan.signature.compactHeads = HeadAxis::QueryHead; },
              "compact_positions: expected i32[3, 4, 5 or more] but got i32[3, 2, 6]"},
        Fault{"capacity", [](Scene &s) { s.operands.compactPositions.shape[2] = 4; },
              "compact_positions: expected i32[3, 2, 5 or more] but got i32[3, 2, 4]"},
        Fault{"type", [](Scene &s) { s.operands.compactPositions.dtype = DType::I64; },
              "compact_positions: expected i32[3, 2, 5 or more] but got i64[3, 2, 6]"},
        Fault{"stride", [](Scene &s) { s.operands.compactPositions.strides[2] = 2; },
              "compact_positions: expected stride 1 in the last axis but got stride 2 in "
              "i32[3, 2, 6]"},
        Fault{"broadcast", [](Scene &s) { s.operands.compactPositions.strides[1] = 0; },
              "compact_positions: expected strides that give every element its own memory but got "
              "overlapping elements in i32[3, 2, 6]"},
        Fault{"countsShape", [](Scene &s) { s.operands.compactCounts.shape[0] = 2; },
              "compact_counts: expected i32[3, 2] but got i32[2, 2]"},
        Fault{"countsBroadcast", [](Scene &s) { s.operands.compactCounts.strides[0] = 0; },
              "compact_counts: expected strides that give every element its own memory but got "
              "overlapping elements in i32[3, 2]"},
        Fault{"countsInPositions",
              [](Scene &s) { s.operands.compactCounts.data = s.positions.data() + 30; },
              "compact_counts: expected memory of its own but got memory that overlaps "
              "compact_positions"},
        Fault{"positionsInStarts",
              [](Scene &s) { s.operands.compactPositions.data = s.problem.cuSeqlensKv.data(); },
              "compact_positions: expected memory of its own but got memory that overlaps "
              "cu_seqlens_kv"}),
    [](const auto &info) { return info.param.name; });

} // namespace
