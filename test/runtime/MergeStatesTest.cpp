// K12: attention over parts of the keys, merged, is attention over all of them.
#include "Problem.h"

#include <skim/MergeStates.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace skim;
using namespace skim::test;

namespace {

constexpr int64_t kTokens = 12;
constexpr int64_t kHeads = 4;
constexpr int64_t kDim = 8;

struct State {
  std::vector<float> out = std::vector<float>(kTokens * kHeads * kDim, kNaN);
  std::vector<float> lse = std::vector<float>(kTokens * kHeads, kNaN);

  AttentionState view() {
    return {TensorView::contiguous(out.data(), DType::F32, {kTokens, kHeads, kDim}),
            TensorView::contiguous(lse.data(), DType::F32, {kHeads, kTokens})};
  }
};

State part(const Problem &problem, int64_t first, int64_t last) {
  const Attention attention = referenceAttention(
      problem, [=](int64_t, int64_t, int64_t, int64_t k) { return k >= first && k < last; });
  return {attention.out, attention.lse};
}

State empty() {
  State state; // `out` stays NaN: it must not be read
  std::fill(state.lse.begin(), state.lse.end(), -kInfinity);
  return state;
}

TEST(MergeStates, K12_partsInAnyOrderGiveTheWhole) {
  const Problem problem({{kTokens, 40}});
  State parts[] = {part(problem, 0, 7), empty(), part(problem, 7, 35), part(problem, 35, 40)};
  const Attention whole = referenceAttention(problem);
  int order[] = {0, 1, 2, 3};
  do {
    const AttentionState ordered[] = {parts[order[0]].view(), parts[order[1]].view(),
                                      parts[order[2]].view(), parts[order[3]].view()};
    State merged;
    ASSERT_TRUE(mergeStates(ordered, merged.view()));
    for (size_t i = 0; i < whole.out.size(); ++i)
      ASSERT_NEAR(merged.out[i], whole.out[i], 1e-6);
    for (size_t i = 0; i < whole.lse.size(); ++i)
      ASSERT_NEAR(merged.lse[i], whole.lse[i], 1e-6);
  } while (std::next_permutation(order, order + 4));
}

TEST(MergeStates, K12_nothingAndEmptyPartsGiveZeroAndMinusInfinity) {
  State a = empty();
  State b = empty();
  const AttentionState both[] = {a.view(), b.view()};
  for (const size_t count : {0, 1, 2}) {
    State merged;
    ASSERT_TRUE(mergeStates(std::span(both).first(count), merged.view()));
    EXPECT_TRUE(std::all_of(merged.out.begin(), merged.out.end(), [](float x) { return x == 0; }));
    EXPECT_TRUE(
        std::all_of(merged.lse.begin(), merged.lse.end(), [](float x) { return x == -kInfinity; }));
  }
}

TEST(MergeStates, K12_extremeLogSumExpsNeitherOverflowNorVanish) {
  State a;
  State b;
  std::fill(a.out.begin(), a.out.end(), 2.0f);
  std::fill(b.out.begin(), b.out.end(), 4.0f);
  std::fill(a.lse.begin(), a.lse.end(), 88.9f); // exp overflows f32
  std::fill(b.lse.begin(), b.lse.end(), 88.9f);
  const AttentionState parts[] = {a.view(), b.view()};
  State merged;
  ASSERT_TRUE(mergeStates(parts, merged.view()));
  EXPECT_EQ(merged.out[0], 3.0f);
  EXPECT_NEAR(merged.lse[0], 88.9f + std::log(2.0f), 1e-5);

  std::fill(a.lse.begin(), a.lse.end(), -1e4f); // exp underflows f64
  std::fill(b.lse.begin(), b.lse.end(), -1e4f);
  ASSERT_TRUE(mergeStates(parts, merged.view()));
  EXPECT_EQ(merged.out[0], 3.0f);
  EXPECT_NEAR(merged.lse[0], -1e4f + std::log(2.0f), 1e-3);

  std::fill(b.lse.begin(), b.lse.end(), 1e4f); // the other part no longer matters
  ASSERT_TRUE(mergeStates(parts, merged.view()));
  EXPECT_EQ(merged.out[0], 4.0f);
  EXPECT_EQ(merged.lse[0], 1e4f);
}

TEST(MergeStates, K12_inPlaceIsTheSame) {
  const Problem problem({{kTokens, 40}});
  State prefix = part(problem, 0, 20);
  State suffix = part(problem, 20, 40);
  const AttentionState parts[] = {prefix.view(), suffix.view()};
  State apart;
  ASSERT_TRUE(mergeStates(parts, apart.view()));
  ASSERT_TRUE(mergeStates(parts, prefix.view()));
  EXPECT_EQ(prefix.out, apart.out);
  EXPECT_EQ(prefix.lse, apart.lse);
}

TEST(MergeStates, typesAndStridesMayDiffer) {
  const Problem problem({{kTokens, 40}});
  State a = part(problem, 0, 20);
  State b = part(problem, 20, 40);
  std::vector<uint16_t> half(a.out.size());
  std::transform(a.out.begin(), a.out.end(), half.begin(), f32ToF16);
  std::transform(half.begin(), half.end(), a.out.begin(), f16ToF32); // the same values in f32
  State expected;
  const AttentionState wide[] = {a.view(), b.view()};
  ASSERT_TRUE(mergeStates(wide, expected.view()));

  AttentionState mixed[] = {a.view(), b.view()};
  mixed[0].out = TensorView::contiguous(half.data(), DType::F16, {kTokens, kHeads, kDim});
  std::vector<uint16_t> result(a.out.size());
  std::vector<float> lse(a.lse.size());
  const AttentionState merged = {
      TensorView::strided(result.data(), DType::BF16, {kTokens, kHeads, kDim},
                          {1, kTokens * kDim, kTokens}),
      TensorView::strided(lse.data(), DType::F32, {kHeads, kTokens}, {1, kHeads})};
  ASSERT_TRUE(mergeStates(mixed, merged));
  for (int64_t token = 0; token < kTokens; ++token)
    for (int64_t head = 0; head < kHeads; ++head) {
      EXPECT_EQ(lse[token * kHeads + head], expected.lse[head * kTokens + token]);
      for (int64_t i = 0; i < kDim; ++i)
        EXPECT_NEAR(bf16ToF32(result[(head * kDim + i) * kTokens + token]),
                    expected.out[(token * kHeads + head) * kDim + i], 0x1p-7);
    }
}

TEST(MergeStates, resultsAreRoundedOnce) {
  // 1 + 2^-8 lies between the bf16 numbers 1 and 1 + 2^-7; 2^-40 more decides, which f32 loses.
  float low = 1.0f + 0x1p-8f;
  float lse = 0;
  float high = 1.0f + 0x1p-7f;
  float lseHigh = -27.0f; // weight about 2^-39
  const auto scalar = [](float *out, float *logSumExp) -> AttentionState {
    return {TensorView::contiguous(out, DType::F32, {1, 1, 1}),
            TensorView::contiguous(logSumExp, DType::F32, {1, 1})};
  };
  uint16_t rounded = 0;
  float mergedLse = 0;
  const AttentionState parts[] = {scalar(&low, &lse), scalar(&high, &lseHigh)};
  ASSERT_TRUE(mergeStates(parts, {TensorView::contiguous(&rounded, DType::BF16, {1, 1, 1}),
                                  TensorView::contiguous(&mergedLse, DType::F32, {1, 1})}));
  EXPECT_EQ(bf16ToF32(rounded), 1.0f + 0x1p-7f);
}

TEST(MergeStates, wrongArgumentsAreRefusedByName) {
  State a;
  State b;
  State merged;
  const auto message = [&](const AttentionState &second, const AttentionState &result) {
    const AttentionState parts[] = {a.view(), second};
    return mergeStates(parts, result).message();
  };
  AttentionState wrong = b.view();
  wrong.out.shape[2] = 4;
  EXPECT_EQ(message(wrong, merged.view()),
            "part 1 out: expected f32[12, 4, 8] but got f32[12, 4, 4]");
  wrong = b.view();
  wrong.lse = TensorView::contiguous(b.lse.data(), DType::F32, {kTokens, kHeads});
  EXPECT_EQ(message(wrong, merged.view()), "part 1 lse: expected f32[4, 12] but got f32[12, 4]");
  wrong = b.view();
  wrong.out.dtype = DType::I32;
  EXPECT_EQ(message(wrong, merged.view()),
            "part 1 out: expected f32, f16 or bf16 but got i32[12, 4, 8]");
  EXPECT_EQ(message({}, merged.view()), "part 1 out: expected f32[12, 4, 8] but got nothing");
  EXPECT_EQ(message(b.view(), {}), "merged out: expected f32[tokens, heads, dim] but got nothing");

  AttentionState shifted = merged.view();
  shifted.out.data = b.out.data() + 1;
  shifted.out.shape[0] = kTokens;
  std::vector<float> room(a.out.size() + 8);
  AttentionState shiftedPart = b.view();
  shiftedPart.out.data = room.data();
  shifted.out.data = room.data() + 1;
  EXPECT_EQ(message(shiftedPart, shifted),
            "merged out: expected memory of its own, or exactly that of a part but got memory "
            "that overlaps part 1 out");
  shifted = merged.view();
  shifted.out.strides[0] = 0;
  EXPECT_EQ(message(b.view(), shifted),
            "merged out: expected strides that give every element its own memory but got "
            "overlapping elements in f32[12, 4, 8]");
  shifted = merged.view();
  shifted.lse.data = merged.out.data();
  EXPECT_EQ(message(b.view(), shifted),
            "merged out: expected memory of its own but got memory that overlaps merged lse");
}

} // namespace
