// The order of work items by their visits, as a device makes it, on the host: its phases thread
// after thread.
#include "runtime/cuda/device/OrderPhases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace {

using Visits = std::vector<std::vector<int32_t>>; // of each group's items

/// The items, numbered through all groups by `tile`.
struct Items {
  explicit Items(const Visits &visits) {
    for (size_t group = 0; group < visits.size(); ++group) {
      const auto first = static_cast<int32_t>(items.size());
      for (const int32_t count : visits[group])
        items.push_back(
            {static_cast<int32_t>(group), 0, static_cast<int32_t>(items.size()), count});
      const int32_t longest =
          visits[group].empty() ? 0 : *std::max_element(visits[group].begin(), visits[group].end());
      groups.push_back({first, static_cast<int32_t>(visits[group].size()), longest});
    }
  }

  std::vector<skim_work_item> items;
  std::vector<skim_item_group> groups;
};

std::vector<int32_t> order(Items all) {
  std::vector<skim_work_item> ordered(all.items.size(), {-1, -1, -1, -1});
  skim_order_arguments arguments = {};
  arguments.items = all.items.data();
  arguments.ordered = ordered.data();
  arguments.groups = all.groups.data();
  arguments.group_count = static_cast<int32_t>(all.groups.size());
  const auto state = std::make_unique<skim_order_state>();
  for (int32_t group = 0; group < arguments.group_count; ++group) {
    const auto phase = [](const std::function<void(int32_t)> &run) {
      for (int32_t thread = 0; thread < SKIM_ORDER_THREADS; ++thread)
        run(thread);
    };
    phase([&](int32_t thread) { skim_order_count(&arguments, group, state.get(), thread); });
    phase([&](int32_t thread) { skim_order_sum(state.get(), thread); });
    phase([&](int32_t thread) { skim_order_scan(state.get(), thread); });
    phase([&](int32_t thread) { skim_order_place(&arguments, group, state.get(), thread); });
  }
  std::vector<int32_t> numbers;
  for (const skim_work_item &item : ordered)
    numbers.push_back(item.tile);
  return numbers;
}

/// Groups with the longest item first, and so the items of a group, in steps; else as they were.
std::vector<int32_t> expectedOrder(const Items &all) {
  std::vector<int32_t> numbers(all.items.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ranges::stable_sort(numbers, [&](int32_t a, int32_t b) {
    const skim_work_item &first = all.items[static_cast<size_t>(a)];
    const skim_work_item &second = all.items[static_cast<size_t>(b)];
    const int32_t longest = all.groups[static_cast<size_t>(first.request)].longest;
    const int32_t other = all.groups[static_cast<size_t>(second.request)].longest;
    if (first.request != second.request)
      return longest != other ? longest > other : first.request < second.request;
    return skim_order_bin(first.visits, longest) < skim_order_bin(second.visits, longest);
  });
  return numbers;
}

TEST(OrderItems, stepsAreFineAndFall) {
  for (const int32_t longest : {0, 1, 2, 31, 32, 33, 100, 1024, 8191, (1 << 27) - 1}) {
    EXPECT_EQ(skim_order_bin(longest, longest), 0);
    EXPECT_LT(skim_order_bin(0, longest), SKIM_ORDER_BINS);
    const int32_t step = longest / SKIM_ORDER_BINS + 1;
    for (int64_t visits = longest; visits >= 0; visits -= std::max(longest / 1000, 1)) {
      const int32_t bin = skim_order_bin(static_cast<int32_t>(visits), longest);
      EXPECT_GE(bin, 0);
      if (visits < step)
        continue;
      EXPECT_GT(skim_order_bin(static_cast<int32_t>(visits - step), longest), bin)
          << visits << " of " << longest;
    }
  }
}

TEST(OrderItems, groupsOfEverySize) {
  std::mt19937 random(5);
  const auto below = [&](int32_t n) { return static_cast<int32_t>(random() % n); };
  for (const int32_t size :
       {1, 2, 31, 32, 33, 255, 256, 257, 511, 2047, 2048, 2049, 2732, 4999, 5000})
    for (const int32_t most : {1, 2, 20, 1000, 1 << 20}) {
      Visits visits(1);
      for (int32_t i = 0; i < size; ++i)
        visits[0].push_back(below(most));
      const Items items(visits);
      ASSERT_EQ(order(items), expectedOrder(items)) << size << " items below " << most;
    }
}

TEST(OrderItems, groupsAfterEachOther) {
  std::mt19937 random(11);
  const auto below = [&](int32_t n) { return static_cast<int32_t>(random() % n); };
  for (int32_t round = 0; round < 20; ++round) {
    Visits visits(static_cast<size_t>(1 + below(round < 10 ? 20 : 700)));
    const int32_t most = 1 + below(round % 2 ? 1000 : 4);
    for (std::vector<int32_t> &group : visits) {
      group.resize(below(5) == 0 ? 0 : static_cast<size_t>(below(round < 10 ? 900 : 20)));
      for (int32_t &count : group)
        count = below(most);
    }
    const Items items(visits);
    ASSERT_EQ(order(items), expectedOrder(items)) << "round " << round;
  }
}

TEST(OrderItems, oneLongItemComesFirstAndEqualOnesStay) {
  Visits visits(2, std::vector<int32_t>(1500, 7));
  visits[1][1234] = 900;
  const std::vector<int32_t> numbers = order(Items(visits));
  EXPECT_EQ(numbers.front(), 1500 + 1234);
  EXPECT_TRUE(std::is_sorted(numbers.begin() + 1, numbers.begin() + 1500));
  EXPECT_TRUE(std::is_sorted(numbers.begin() + 1500, numbers.end()));
  EXPECT_EQ(numbers.back(), 1499);
}

} // namespace
