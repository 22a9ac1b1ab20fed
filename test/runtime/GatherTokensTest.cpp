// Packing the tokens that a run gathered.
#include <skim/GatherTokens.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

using namespace skim;
using testing::ElementsAre;

namespace {

/// Three requests of 4, 0 and 3 tokens; two heads of which the second has positions that count.
struct Scene {
  std::vector<float> tokens = std::vector<float>(7 * 2 * 3);
  std::vector<int32_t> starts = {0, 4, 4, 7};
  std::vector<int32_t> lengths = {4, 0, 3};
  std::vector<int32_t> positions = {9, 9, 9, 9, 0, 3, -1, -1, 9, 9, 9, 9,
                                    9, 9, 9, 9, 9, 9, 9,  9,  2, 1, 0, -1};
  std::vector<int32_t> counts = {4, 2, 4, 0, 4, 3};
  std::vector<float> gathered = std::vector<float>(6 * 2 * 3, -1);
  std::vector<int32_t> newStarts = {-1, -1, -1, -1};
  std::vector<int32_t> newPositions = std::vector<int32_t>(6, -1);
  TokenGather gather;

  Scene() {
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = static_cast<float>(i);
    gather.tokens = TensorView::contiguous(tokens.data(), DType::F32, {7, 2, 3});
    gather.cuSeqlens = TensorView::contiguous(starts.data(), DType::I32, {4});
    gather.positions = TensorView::contiguous(positions.data(), DType::I32, {3, 2, 4});
    gather.counts = TensorView::contiguous(counts.data(), DType::I32, {3, 2});
    gather.head = 1;
    gather.gathered = TensorView::contiguous(gathered.data(), DType::F32, {6, 2, 3});
    gather.gatheredCuSeqlens = TensorView::contiguous(newStarts.data(), DType::I32, {4});
    gather.gatheredPositions = TensorView::contiguous(newPositions.data(), DType::I32, {6});
  }
  TensorView lengthsView() { return TensorView::contiguous(lengths.data(), DType::I32, {3}); }

  /// The token that lies at entry `i` of the result, by its elements; -1 where none was written.
  int64_t tokenAt(int64_t i) const {
    const float first = gathered[i * 6];
    for (int64_t element = 0; element < 6; ++element)
      EXPECT_EQ(gathered[i * 6 + element], first < 0 ? first : first + static_cast<float>(element));
    return first < 0 ? -1 : static_cast<int64_t>(first) / 6;
  }
  std::vector<int64_t> result() const {
    std::vector<int64_t> list;
    for (int64_t i = 0; i < 6; ++i)
      list.push_back(tokenAt(i));
    return list;
  }
};

TEST(GatherTokens, packsRequestsOneAfterAnother) {
  Scene scene;
  const Status status = gatherTokens(scene.gather);
  ASSERT_TRUE(status) << status.message();
  EXPECT_THAT(scene.result(), ElementsAre(0, 3, 6, 5, 4, -1));
  EXPECT_THAT(scene.newStarts, ElementsAre(0, 2, 2, 5));
  EXPECT_THAT(scene.newPositions, ElementsAre(0, 3, 2, 1, 0, -1));
}

TEST(GatherTokens, passesOverKeysBeforeTheTokens) {
  Scene scene;
  // The tokens of request 0 sit at 2 to 5, those of request 2 at 1 to 3.
  scene.lengths = {6, 0, 4};
  scene.gather.kvLens = scene.lengthsView();
  ASSERT_TRUE(gatherTokens(scene.gather));
  EXPECT_THAT(scene.result(), ElementsAre(1, 5, 4, -1, -1, -1));
  EXPECT_THAT(scene.newStarts, ElementsAre(0, 1, 1, 3));
  EXPECT_THAT(scene.newPositions, ElementsAre(3, 2, 1, -1, -1, -1));

  // More tokens than positions: token 3 of request 0 is the only one at a position from 0 on.
  Scene longer;
  longer.lengths = {1, 0, 3};
  longer.counts[1] = 1;
  longer.gather.kvLens = longer.lengthsView();
  ASSERT_TRUE(gatherTokens(longer.gather));
  EXPECT_THAT(longer.result(), ElementsAre(3, 6, 5, 4, -1, -1));
}

TEST(GatherTokens, takesAnyStrides) {
  Scene scene;
  // [7, 2, 3] read from the transpose, written with gaps and backwards along the last axis.
  std::vector<float> turned(scene.tokens.size());
  for (int64_t token = 0; token < 7; ++token)
    for (int64_t i = 0; i < 6; ++i)
      turned[i * 7 + token] = scene.tokens[token * 6 + i];
  scene.gather.tokens = TensorView::strided(turned.data(), DType::F32, {7, 2, 3}, {1, 21, 7});
  std::vector<float> out(6 * 10, -1);
  scene.gather.gathered = TensorView::strided(out.data() + 2, DType::F32, {6, 2, 3}, {10, 4, -1});
  ASSERT_TRUE(gatherTokens(scene.gather));
  EXPECT_THAT(std::vector<float>(out.begin() + 10, out.begin() + 20),
              ElementsAre(20, 19, 18, -1, 23, 22, 21, -1, -1, -1));
}

TEST(GatherTokens, takesAnyTypeAndOptionalPositions) {
  Scene scene;
  std::vector<uint16_t> from = {1, 2, 3, 4, 5, 6, 7}, to(5, 99);
  scene.gather.tokens = TensorView::contiguous(from.data(), DType::BF16, {7});
  scene.gather.gathered = TensorView::contiguous(to.data(), DType::BF16, {5});
  scene.gather.gatheredPositions = {};
  ASSERT_TRUE(gatherTokens(scene.gather));
  EXPECT_THAT(to, ElementsAre(1, 4, 7, 6, 5));
}

TEST(GatherTokens, nothingToGather) {
  Scene scene;
  scene.counts.assign(6, 0);
  scene.gather.gathered.shape[0] = 0;
  scene.gather.gathered.data = nullptr;
  ASSERT_TRUE(gatherTokens(scene.gather));
  EXPECT_THAT(scene.newStarts, ElementsAre(0, 0, 0, 0));

  Scene empty;
  empty.gather.counts.shape[0] = empty.gather.positions.shape[0] = 0;
  empty.gather.cuSeqlens.shape[0] = empty.gather.gatheredCuSeqlens.shape[0] = 1;
  ASSERT_TRUE(gatherTokens(empty.gather));
  EXPECT_THAT(empty.newStarts, ElementsAre(0, -1, -1, -1));
}

struct Fault {
  const char *name;
  std::function<void(Scene &)> spoil;
  const char *message;
};

class GatherRefused : public testing::TestWithParam<Fault> {};

TEST_P(GatherRefused, withItsMessageAndNothingWritten) {
  Scene scene;
  GetParam().spoil(scene);
  const Status status = gatherTokens(scene.gather);
  EXPECT_EQ(status.message(), GetParam().message);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_THAT(scene.gathered, testing::Each(-1));
  EXPECT_THAT(scene.newStarts, testing::Each(-1));
  EXPECT_THAT(scene.newPositions, testing::Each(-1));
}

INSTANTIATE_TEST_SUITE_P(
    All, GatherRefused,
    testing::Values(
        Fault{"noCounts", [](Scene &s) { s.gather.counts = {}; },
              "counts: expected i32[requests, heads] but got nothing"},
        Fault{"positionsShape", [](Scene &s) { s.gather.positions.shape[1] = 1; },
              "positions: expected i32[3, 2, capacity] but got i32[3, 1, 4]"},
        Fault{"head", [](Scene &s) { s.gather.head = 2; },
              "head: expected an index of the 2 heads but got 2"},
        Fault{"headBelowZero", [](Scene &s) { s.gather.head = -1; },
              "head: expected an index of the 2 heads but got -1"},
        Fault{"starts", [](Scene &s) { s.gather.cuSeqlens.shape[0] = 3; },
              "cu_seqlens: expected i32[4] but got i32[3]"},
        Fault{"startsFall", [](Scene &s) { s.starts[2] = 3; },
              "cu_seqlens: expected at least 4 at entry 2 (entries never fall) but got 3"},
        Fault{"newStarts", [](Scene &s) { s.gather.gatheredCuSeqlens = {}; },
              "gathered_cu_seqlens: expected i32[4] but got nothing"},
        Fault{"lengths",
              [](Scene &s) {
                s.gather.kvLens = s.lengthsView();
                s.lengths[1] = -2;
              },
              "kv_lens: expected at least 0 at entry 1 but got -2"},
        Fault{"countBelowZero", [](Scene &s) { s.counts[1] = -1; },
              "counts: expected 0 to 4 at [0, 1] but got -1"},
        Fault{"countAboveCapacity", [](Scene &s) { s.counts[5] = 5; },
              "counts: expected 0 to 4 at [2, 1] but got 5"},
        Fault{"padding", [](Scene &s) { s.counts[1] = 3; },
              "positions: expected a position of the request's 4 tokens at [0, 1, 2] but got -1"},
        Fault{"pastTheEnd", [](Scene &s) { s.positions[20] = 3; },
              "positions: expected a position of the request's 3 tokens at [2, 1, 0] but got 3"},
        Fault{"tokensMissing", [](Scene &s) { s.gather.tokens = {}; },
              "tokens: expected 1 to 6 axes, tokens first but got nothing"},
        Fault{"fewTokens", [](Scene &s) { s.gather.tokens.shape[0] = 6; },
              "tokens: expected f32[7 or more, 2, 3] but got f32[6, 2, 3]"},
        Fault{"noRoom", [](Scene &s) { s.gather.gathered.shape[0] = 4; },
              "gathered: expected f32[5 or more, 2, 3] but got f32[4, 2, 3]"},
        Fault{"otherType", [](Scene &s) { s.gather.gathered.dtype = DType::I32; },
              "gathered: expected f32[5 or more, 2, 3] but got i32[6, 2, 3]"},
        Fault{"otherAxes", [](Scene &s) { s.gather.gathered.shape[2] = 2; },
              "gathered: expected f32[5 or more, 2, 3] but got f32[6, 2, 2]"},
        Fault{"broadcast", [](Scene &s) { s.gather.gathered.strides[0] = 0; },
              "gathered: expected strides that give every element its own memory but got "
              "overlapping elements in f32[6, 2, 3]"},
        Fault{"newPositions", [](Scene &s) { s.gather.gatheredPositions.shape[0] = 4; },
              "gathered_positions: expected i32[5 or more] but got i32[4]"},
        Fault{"inPlace", [](Scene &s) { s.gather.tokens.data = s.gather.gathered.data; },
              "gathered: expected memory of its own but got memory that overlaps tokens"},
        Fault{"startsInPlace", [](Scene &s) { s.gather.gatheredCuSeqlens.data = s.starts.data(); },
              "gathered_cu_seqlens: expected memory of its own but got memory that overlaps "
              "cu_seqlens"},
        Fault{"resultsOverlap",
              [](Scene &s) { s.gather.gatheredPositions.data = s.gathered.data() + 30; },
              "gathered: expected memory of its own but got memory that overlaps "
              "gathered_positions"}),
    [](const auto &info) { return info.param.name; });

} // namespace
