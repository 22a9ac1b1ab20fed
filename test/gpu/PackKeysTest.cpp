// The bits that the runtime makes of inputs ahead of kernels that ask for them.
#include "test/gpu/Device.h"

#include "runtime/WorkspaceLayout.h"

#include <skim/Kernel.h>

#include <gtest/gtest.h>

#include <random>

using namespace skim;
using namespace skim::test;

namespace {

class DevicePackedKeys : public GpuTest {};

constexpr int64_t kQueryHeads = 4, kKvHeads = 2, kDim = 64, kMostKeys = 5000;
constexpr const char *kIdleImage =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry idle(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, "
    ".param .align 64 .b8 e[128], .param .align 64 .b8 f[128], .param .align 64 .b8 g[128]) { ret; "
    "}\n";

LaunchPlan idlePlan(HeadAxis head, int64_t heads) {
  LaunchPlan plan;
  plan.pattern = "idle";
  plan.signature.queryHeads = kQueryHeads;
  plan.signature.kvHeads = kKvHeads;
  plan.signature.headDim = plan.signature.valueDim = kDim;
  plan.signature.operand = plan.signature.output = DType::BF16;
  plan.inputs = {{"chosen", InputElement::Bool, head, 0, 1}};
  plan.buffers = {
      {"other", DType::F32, 1, {ShapeSymbol::Requests, 3, 1, 1}},
      {"bits",
       DType::U8,
       16,
       {ShapeSymbol::Requests, heads, 1, ShapeExpr::ceilDiv(ShapeSymbol::MaxKvLength, 128)}}};
  plan.kernels = {{.symbol = "idle", .cuda = CudaLaunch{.threads = 32, .packedKeys = {{0, 1}}}}};
  return plan;
}

/// Requests whose truths lie `keyStride` bytes apart, rows at odd addresses. Every byte that
/// belongs to no key is true.
struct Batch {
  Batch(std::vector<int32_t> lengths, HeadAxis head, int64_t keyStride)
      : kvLens(std::move(lengths)), head(head), heads(head == HeadAxis::None     ? 1
                                                      : head == HeadAxis::KvHead ? kKvHeads
                                                                                 : kQueryHeads),
        keyStride(keyStride), rowBytes(keyStride * kMostKeys + 1) {
    for (int32_t length : kvLens) {
      cuSeqlensQ.push_back(cuSeqlensQ.back() + 1);
      cuSeqlensKv.push_back(cuSeqlensKv.back() + length);
    }
    const auto requests = static_cast<int64_t>(kvLens.size());
    truths.assign(static_cast<size_t>(requests * heads * rowBytes), 0xff);
    std::mt19937 random(11);
    for (int64_t request = 0; request < requests; ++request)
      for (int64_t row = 0; row < heads; ++row)
        for (int32_t key = 0; key < kvLens[static_cast<size_t>(request)]; ++key)
          // True is every byte that is not 0.
          at(request, row, key) = random() % 3 ? 0 : static_cast<uint8_t>(1 + random() % 255);
  }

  uint8_t &at(int64_t request, int64_t row, int64_t key) {
    return truths[static_cast<size_t>((request * heads + row) * rowBytes + key * keyStride)];
  }

  /// Runs, and compares all bits of blocks that hold a key. Then the same as a graph that is
  /// replayed after the truths and lengths have changed in place.
  void check() {
    const LaunchPlan launchPlan = idlePlan(head, heads);
    const Expected<Kernel> kernel = Kernel::createCuda(launchPlan, kIdleImage, -1);
    ASSERT_TRUE(kernel) << kernel.status().message();
    const auto requests = static_cast<int64_t>(kvLens.size());
    const BatchShape shape = {requests, cuSeqlensQ.back(), 1, mostKeys};
    const Expected<Plan> plan = kernel->plan(shape);
    ASSERT_TRUE(plan) << plan.status().message();
    const BufferPlacement placement = layOutDeviceWorkspace(launchPlan, shape, 1)->placements[1];
    const DeviceBytes queries(static_cast<size_t>(requests * kQueryHeads * kDim * 2));
    const DeviceBytes results(queries.size());
    const DeviceBytes keys(static_cast<size_t>(cuSeqlensKv.back() * kKvHeads * kDim * 2));
    const DeviceArray deviceQ(cuSeqlensQ), deviceLens(kvLens), deviceKv(cuSeqlensKv);
    const DeviceArray deviceTruths(truths);
    Operands operands;
    operands.q = TensorView::contiguous(queries.data(), DType::BF16, {requests, kQueryHeads, kDim});
    operands.out =
        TensorView::contiguous(results.data(), DType::BF16, {requests, kQueryHeads, kDim});
    operands.k =
        TensorView::contiguous(keys.data(), DType::BF16, {cuSeqlensKv.back(), kKvHeads, kDim});
    operands.v = operands.k;
    operands.cuSeqlensQ = TensorView::contiguous(deviceQ.data(), DType::I32, {requests + 1});
    operands.cuSeqlensKv = TensorView::contiguous(deviceKv.data(), DType::I32, {requests + 1});
    operands.kvLens = TensorView::contiguous(deviceLens.data(), DType::I32, {requests});
    operands.inputs = {{"chosen", viewOf(deviceTruths.data())}};

    const DeviceStream stream;
    RunOptions options;
    options.stream = stream.get();
    const auto bytes = static_cast<size_t>(plan->workspaceBytes());
    const DeviceBytes workspace(bytes, 0xff);
    const auto run = [&] {
      const Status status = kernel->run(*plan, operands, {}, workspace.span(), options);
      ASSERT_TRUE(status) << status.message();
    };
    // Captured first: later runs are told of lengths out of range.
    const CapturedGraph graph(stream, run);
    run();
    stream.wait();
    compare(workspace, placement);

    for (uint8_t &truth : truths)
      truth = truth == 0 ? 1 : 0;
    for (int32_t &length : kvLens)
      length = length * 2 / 3;
    deviceTruths.write(truths);
    deviceLens.write(kvLens);
    workspace.write(std::vector<std::byte>(bytes, std::byte{0xff}));
    graph.launch(stream);
    stream.wait();
    SCOPED_TRACE("replayed");
    compare(workspace, placement);
  }

  TensorView viewOf(uint8_t *data) const {
    TensorView view = TensorView::contiguous(
        data, DType::U8, {static_cast<int64_t>(kvLens.size()), heads, kMostKeys});
    view.strides[0] = heads * rowBytes;
    view.strides[1] = rowBytes;
    view.strides[2] = keyStride;
    if (head == HeadAxis::None) {
      view.rank = 2;
      view.shape[1] = kMostKeys;
      view.strides[1] = keyStride;
    }
    return view;
  }

  void compare(const DeviceBytes &workspace, const BufferPlacement &placement) {
    std::vector<uint8_t> bits(static_cast<size_t>(placement.bytes));
    workspace.read(std::as_writable_bytes(std::span(bits)), static_cast<size_t>(placement.offset));
    const auto requests = static_cast<int64_t>(kvLens.size());
    for (int64_t request = 0; request < requests; ++request)
      for (int64_t row = 0; row < heads; ++row) {
        const int32_t length = kvLens[static_cast<size_t>(request)];
        const int64_t held = length <= mostKeys ? length : 0;
        const auto first =
            static_cast<size_t>(request * placement.strides[0] + row * placement.strides[1]);
        for (int64_t key = 0; key < (held + 127) / 128 * 128; ++key) {
          const bool found = bits[first + static_cast<size_t>(key / 8)] >> (key % 8) & 1;
          ASSERT_EQ(found, key < held && at(request, row, key) != 0)
              << "request " << request << " head " << row << " key " << key;
        }
        // What lies behind them was not written.
        const int64_t blocks = (mostKeys + 127) / 128, written = (held + 127) / 128;
        for (int64_t i = 16 * written; i < 16 * blocks; ++i)
          ASSERT_EQ(bits[first + static_cast<size_t>(i)], 0xff)
              << "request " << request << " head " << row << " byte " << i;
      }
  }

  std::vector<int32_t> kvLens;
  HeadAxis head;
  int64_t heads, keyStride, rowBytes, mostKeys = kMostKeys;
  std::vector<int32_t> cuSeqlensQ{0}, cuSeqlensKv{0};
  std::vector<uint8_t> truths;
};

TEST_F(DevicePackedKeys, areBitsOfEveryByteThatIsNotZero) {
  for (HeadAxis head : {HeadAxis::None, HeadAxis::KvHead, HeadAxis::QueryHead})
    for (int64_t stride : {1, 3}) {
      SCOPED_TRACE(testing::Message() << "head " << static_cast<int>(head) << " stride " << stride);
      Batch({1, 127, 128, 129, 4097, 5000, 31, 32}, head, stride).check();
    }
}

TEST_F(DevicePackedKeys, lengthsOutOfRangeTouchNoMemory) {
  Batch batch({700, 900}, HeadAxis::KvHead, 1);
  batch.mostKeys = 800;
  batch.check();
}

} // namespace
