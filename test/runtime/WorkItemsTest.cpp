// Which work items a batch has, in which order, and that plans leave room for all of them.
#include "runtime/WorkItems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>
#include <vector>

using namespace skim;

namespace {

using Item = std::tuple<int, int, int>; // request, head, tile

struct Batch {
  std::vector<int32_t> cuSeqlensQ{0};
  std::vector<int32_t> kvLens;

  Batch(std::initializer_list<std::pair<int, int>> lengths) {
    for (const auto &[query, kv] : lengths)
      add(query, kv);
  }
  void add(int query, int kv) {
    cuSeqlensQ.push_back(cuSeqlensQ.back() + query);
    kvLens.push_back(kv);
  }
  BatchLengths lengths() const {
    return {cuSeqlensQ.data(), kvLens.data(), static_cast<int64_t>(kvLens.size())};
  }
  BatchShape shape() const {
    const auto count = static_cast<int64_t>(kvLens.size());
    return *BatchShape::of(TensorView::contiguous(cuSeqlensQ.data(), DType::I32, {count + 1}),
                           TensorView::contiguous(kvLens.data(), DType::I32, {count}));
  }
};

Signature heads(int64_t query, int64_t kv) {
  Signature signature;
  signature.queryHeads = query;
  signature.kvHeads = kv;
  return signature;
}

std::vector<Item> itemsOf(const KernelDescription &kernel, const Signature &signature,
                          const Batch &batch) {
  std::vector<int32_t> order(batch.kvLens.size());
  order.resize(static_cast<size_t>(orderRequests(batch.lengths(), order.data())));
  const CheckedSize most = maxWorkItems(kernel, signature, batch.shape());
  EXPECT_TRUE(most.isValid());
  std::vector<skim_work_item> items(static_cast<size_t>(most.value()) + 1000, {-9, -9, -9, -9});
  const int64_t count = enumerateWorkItems(kernel, signature, batch.lengths(), order, items.data());
  EXPECT_LE(count, most.value());
  std::vector<Item> result;
  result.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    result.emplace_back(items[i].request, items[i].head, items[i].tile);
  return result;
}

TEST(WorkItems, queryTilesAreAbsolute) {
  // Rows 90 to 99: tiles 5 (80..95) and 6 (96..111).
  EXPECT_EQ(itemsOf({"k", HeadAxis::None, ItemAxis::Queries, 16}, heads(1, 1), {{10, 100}}),
            (std::vector<Item>{{0, 0, 6}, {0, 0, 5}}));
}

TEST(WorkItems, K3_rowsBeforeTheFirstKeyHaveNegativeTiles) {
  // Rows -3 to 1.
  EXPECT_EQ(itemsOf({"k", HeadAxis::None, ItemAxis::Queries, 2}, heads(1, 1), {{5, 2}}),
            (std::vector<Item>{{0, 0, 0}, {0, 0, -1}, {0, 0, -2}}));
}

TEST(WorkItems, K4_requestsWithoutRowsHaveNoneAndThoseWithoutKeysHaveAll) {
  const Batch batch = {{0, 50}, {3, 0}, {0, 0}};
  EXPECT_EQ(itemsOf({"k", HeadAxis::KvHead, ItemAxis::Queries, 8}, heads(2, 2), batch),
            (std::vector<Item>{{1, 0, -1}, {1, 1, -1}}));
  EXPECT_TRUE(itemsOf({"k", HeadAxis::KvHead, ItemAxis::Keys, 8}, heads(2, 2), batch).empty());
  EXPECT_EQ(itemsOf({"k", HeadAxis::None, ItemAxis::None, 1}, heads(2, 2), batch),
            (std::vector<Item>{{1, 0, 0}}));
  EXPECT_TRUE(itemsOf({"k", HeadAxis::QueryHead, ItemAxis::Queries, 8}, heads(2, 2), {}).empty());
}

TEST(WorkItems, keyBlocksStartAtKeyZero) {
  EXPECT_EQ(itemsOf({"k", HeadAxis::None, ItemAxis::Keys, 8}, heads(1, 1), {{1, 17}}),
            (std::vector<Item>{{0, 0, 2}, {0, 0, 1}, {0, 0, 0}}));
}

TEST(WorkItems, areGroupedByKvHeadWithTheLongestFirst) {
  const Batch batch = {{4, 4}, {8, 8}};
  EXPECT_EQ(itemsOf({"k", HeadAxis::QueryHead, ItemAxis::Queries, 4}, heads(4, 2), batch),
            (std::vector<Item>{{1, 0, 1},
                               {1, 1, 1},
                               {1, 0, 0},
                               {1, 1, 0}, // KV head 0
                               {1, 2, 1},
                               {1, 3, 1},
                               {1, 2, 0},
                               {1, 3, 0}, // KV head 1
                               {0, 0, 0},
                               {0, 1, 0},
                               {0, 2, 0},
                               {0, 3, 0}})); // shorter request
}

TEST(WorkItems, requestsOfEqualLengthKeepTheirOrder) {
  const Batch batch = {{1, 5}, {2, 5}, {1, 9}, {2, 5}, {0, 99}};
  std::vector<int32_t> order(5);
  ASSERT_EQ(orderRequests(batch.lengths(), order.data()), 4);
  order.resize(4);
  EXPECT_EQ(order, (std::vector<int32_t>{2, 1, 3, 0}));
}

/// Every (request, head, tile) that has a row or key, by definition.
std::set<Item> expectedItems(const KernelDescription &kernel, const Signature &signature,
                             const Batch &batch) {
  std::set<Item> items;
  const int64_t headCount = kernel.head == HeadAxis::None     ? 1
                            : kernel.head == HeadAxis::KvHead ? signature.kvHeads
                                                              : signature.queryHeads;
  const auto tile = [&](int64_t position) {
    int64_t t = 0;
    while (t * kernel.tileSize > position)
      --t;
    while ((t + 1) * kernel.tileSize <= position)
      ++t;
    return static_cast<int>(t);
  };
  for (size_t r = 0; r < batch.kvLens.size(); ++r) {
    const int64_t rows = batch.cuSeqlensQ[r + 1] - batch.cuSeqlensQ[r];
    for (int64_t head = 0; head < headCount && rows > 0; ++head) {
      const auto add = [&](int t) {
        items.emplace(static_cast<int>(r), static_cast<int>(head), t);
      };
      if (kernel.axis == ItemAxis::None)
        add(0);
      for (int64_t row = 0; kernel.axis == ItemAxis::Queries && row < rows; ++row)
        add(tile(batch.kvLens[r] - rows + row));
      for (int64_t key = 0; kernel.axis == ItemAxis::Keys && key < batch.kvLens[r]; ++key)
        add(tile(key));
    }
  }
  return items;
}

TEST(WorkItems, agreeWithTheirDefinitionOnRandomBatchesAndFitTheirPlan) {
  std::mt19937 random(4);
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    Batch batch({});
    for (int r = below(5); r > 0; --r)
      batch.add(below(4) == 0 ? 0 : below(60), below(4) == 0 ? 0 : below(60));
    const int64_t kv = 1 + below(3);
    const Signature signature = heads(kv * (1 + below(3)), kv);
    const KernelDescription kernel = {"k", static_cast<HeadAxis>(below(3)),
                                      static_cast<ItemAxis>(below(3)), 1 + below(20)};
    const std::vector<Item> items = itemsOf(kernel, signature, batch);
    const std::set<Item> unique(items.begin(), items.end());
    ASSERT_EQ(unique.size(), items.size()) << "an item twice in round " << round;
    ASSERT_EQ(unique, expectedItems(kernel, signature, batch)) << round;
  }
}

TEST(WorkItems, boundIsReachedByTheWorstBatch) {
  // Each request's rows straddle tile borders as badly as they can.
  const Batch batch = {{2, 17}, {2, 17}, {2, 17}};
  const KernelDescription kernel = {"k", HeadAxis::None, ItemAxis::Queries, 16};
  EXPECT_EQ(maxWorkItems(kernel, heads(1, 1), batch.shape()).value(), 6);
  EXPECT_EQ(itemsOf(kernel, heads(1, 1), batch).size(), 6U);
}

TEST(WorkItems, K5_countsBeyond32BitsAndReportsOverflow) {
  const int64_t most = (int64_t{1} << 31) - 1;
  const BatchShape shape = {most, most, most, most};
  EXPECT_EQ(maxWorkItems({"k", HeadAxis::None, ItemAxis::Queries, 1}, heads(1, 1), shape).value(),
            most);
  EXPECT_EQ(maxWorkItems({"k", HeadAxis::None, ItemAxis::Keys, 64}, heads(1, 1), shape).value(),
            most * (most / 64 + 1));
  EXPECT_FALSE(
      maxWorkItems({"k", HeadAxis::QueryHead, ItemAxis::Keys, 1}, heads(64, 1), shape).isValid());
}

TEST(WorkItems, K5_enumeratesMoreThan65535) {
  Batch batch({});
  for (int r = 0; r < 70000; ++r)
    batch.add(1, 1);
  EXPECT_EQ(itemsOf({"k", HeadAxis::QueryHead, ItemAxis::Queries, 64}, heads(2, 1), batch).size(),
            140000U);
}

} // namespace
