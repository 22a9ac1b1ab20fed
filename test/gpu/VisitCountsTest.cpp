// What compiled kernels count of the visits of attention's items, and the order that follows.
#include "runtime/WorkspaceLayout.h"
#include "runtime/cuda/device/OrderArguments.h"
#include "test/gpu/CudaRun.h"
#include "test/numerics/Cases.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace skim;
using namespace skim::numerics;

namespace {

class CudaVisitCounts : public CudaTest {};

constexpr int64_t kHeads = 8, kKvHeads = 4, kRows = 9000, kLength = 12000, kBase = kLength - kRows;
constexpr int64_t kBlock = 64, kQueryBlocks = kRows / kBlock + 2,
                  kKeyBlocks = (kLength + kBlock - 1) / kBlock;

/// Heads with few blocks and heads with many.
bool isListed(int64_t head, int64_t queryBlock, int64_t keyBlock) {
  return (queryBlock * 7919 + keyBlock * 131 + head) % 97 < (head == 5 ? 97 : head * head);
}

/// How many tiles the item visits, from the mask alone.
int32_t visitsOf(const KernelDescription &kernel, const skim_work_item &item) {
  int64_t first = std::max(kBase, item.tile * kernel.tileSize);
  int64_t end = std::min(kLength, (item.tile + 1) * kernel.tileSize);
  int32_t visits = 0;
  for (int64_t key = 0; key < end; key += kernel.keyTile) {
    int64_t last = std::min(key + kernel.keyTile, kLength) - 1;
    bool found = false;
    for (int64_t q = first / kBlock; q <= (end - 1) / kBlock; ++q)
      for (int64_t k = key / kBlock; k <= last / kBlock; ++k)
        found |= isListed(item.head, q - kBase / kBlock, k);
    visits += found;
  }
  return visits;
}

TEST_F(CudaVisitCounts, agreeWithTheMaskAndOrderTheItems) {
  Case c = makeCase("pattern p { input layout: bool[head, q / 64, k / 64]\n keep layout }",
                    {{kRows, kLength}},
                    {.heads = kHeads, .kvHeads = kKvHeads, .operand = OperandType::bf16});
  addInput(c, "layout", "bool", {kHeads, kQueryBlocks, kKeyBlocks}, [&](int64_t i) {
    return isListed(i / (kQueryBlocks * kKeyBlocks), i / kKeyBlocks % kQueryBlocks, i % kKeyBlocks);
  });
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  const LaunchPlan &launchPlan = kernel->launchPlan();
  const KernelDescription &attention = launchPlan.kernels.back();
  ASSERT_TRUE(attention.cuda->orderedBy);

  PreparedRun prepared(*kernel, c, {.padding = 0});
  Expected<std::unique_ptr<cuda::DeviceArena>> arena = cuda::DeviceArena::create(device);
  ASSERT_TRUE(arena) << arena.status().message();
  Expected<DeviceOperands> onDevice = DeviceOperands::copy(**arena, prepared.operands);
  ASSERT_TRUE(onDevice) << onDevice.status().message();
  BatchShape shape = {1, kRows, kRows, kLength};
  Expected<Plan> plan = kernel->plan(shape);
  ASSERT_TRUE(plan) << plan.status().message();
  const test::DeviceBytes workspace(static_cast<size_t>(plan->workspaceBytes()), 0xff);
  RunOptions options;
  options.stream = (*arena)->stream();
  Status status =
      kernel->run(*plan, onDevice->operands, prepared.parameters, workspace.span(), options);
  ASSERT_TRUE(status) << status.message();
  ASSERT_TRUE(kernel->status(options.stream));

  WorkspaceLayout layout = *layOutDeviceWorkspace(launchPlan, shape, 1);
  auto itemsOf = [&](size_t number) {
    std::vector<skim_work_item> items(
        static_cast<size_t>(kHeads * (llvm::divideFloorSigned(kLength - 1, attention.tileSize) -
                                      kBase / attention.tileSize + 1)));
    workspace.read(std::as_writable_bytes(std::span(items)),
                   static_cast<size_t>(layout.kernels[number].items));
    return items;
  };
  std::vector<skim_work_item> counted = itemsOf(static_cast<size_t>(*attention.cuda->orderedBy));
  std::vector<skim_work_item> ordered = itemsOf(launchPlan.kernels.size() - 1);
  auto places = [](const std::vector<skim_work_item> &items) {
    std::map<std::tuple<int, int, int>, int32_t> visits;
    for (const skim_work_item &item : items)
      visits[{item.request, item.head, item.tile}] = item.visits;
    return visits;
  };
  EXPECT_EQ(places(counted).size(), counted.size());
  EXPECT_EQ(places(counted), places(ordered)) << "the same items";
  for (const skim_work_item &item : counted)
    EXPECT_EQ(item.visits, visitsOf(attention, item)) << item.head << " " << item.tile;

  // Query heads of a KV head together, up to a step of the longest item in falling order; so the
  // KV heads.
  size_t group = ordered.size() / kKvHeads;
  int32_t longestBefore = ordered.front().visits;
  for (size_t first = 0; first < ordered.size(); first += group) {
    int32_t longest = 0, least = ordered[first].visits;
    for (size_t i = first; i < first + group; ++i) {
      EXPECT_EQ(ordered[i].head / (kHeads / kKvHeads), ordered[first].head / (kHeads / kKvHeads));
      longest = std::max(longest, ordered[i].visits);
    }
    EXPECT_LE(longest, first == 0 ? longest : longestBefore);
    longestBefore = longest;
    for (size_t i = first; i < first + group; ++i) {
      EXPECT_LE(ordered[i].visits, least + longest / SKIM_ORDER_BINS + 1);
      least = std::min(least, ordered[i].visits);
    }
  }
}

} // namespace
