// Runs on a device: results, tables, graphs, streams, and what is refused.
#include "test/gpu/DeviceProblem.h"
#include "test/gpu/TestImage.h"

#include <gmock/gmock.h>

using namespace skim;
using namespace skim::test;
using testing::HasSubstr;

namespace {

class DeviceRun : public GpuTest {
protected:
  static Kernel attentionKernel(const Heads &heads) {
    Expected<Kernel> kernel = Kernel::createCuda(attentionPlan(heads), kTestImage);
    EXPECT_TRUE(kernel) << kernel.status().message();
    return *kernel;
  }
};

const std::vector<Lengths> kMixed = {{33, 70}, {0, 9}, {1, 130}, {20, 12}, {5, 0}, {64, 64}};

TEST_F(DeviceRun, contiguousAttentionIsRight) {
  Problem problem(kMixed);
  DeviceProblem onGpu(problem);
  const Kernel kernel = attentionKernel(problem.heads);
  const Plan plan = *kernel.plan(problem.shape());
  const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()), 0xff);
  const DeviceStream stream;
  RunOptions options;
  options.stream = stream.get();
  const Status status = kernel.run(plan, onGpu.operands(), {}, workspace.span(), options);
  ASSERT_TRUE(status) << status.message();
  ASSERT_TRUE(kernel.status(stream.get()));
  onGpu.read(problem);
  expectAttention(problem, referenceAttention(problem));
}

TEST_F(DeviceRun, K7_pagesOfEverySizeAndLayoutAreRight) {
  const DeviceStream stream;
  RunOptions options;
  options.stream = stream.get();
  for (const KvLayout layout : {KvLayout::PagedNhd, KvLayout::PagedHnd})
    for (const int64_t pageSize : {1, 3, 16, 128}) {
      Problem problem(kMixed);
      DeviceProblem onGpu(problem);
      onGpu.page(problem, pageSize, layout);
      const Kernel kernel = attentionKernel(problem.heads);
      const Plan plan = *kernel.plan(problem.shape());
      const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()), 0xff);
      const Status status = kernel.run(plan, onGpu.operands(), {}, workspace.span(), options);
      ASSERT_TRUE(status) << status.message();
      const Status met = kernel.status(stream.get());
      ASSERT_TRUE(met) << met.message();
      onGpu.read(problem);
      expectAttention(problem, referenceAttention(problem));
    }
}

TEST_F(DeviceRun, pagesOutOfRangeTouchNoMemoryAndAreReported) {
  Problem problem({{4, 40}, {4, 40}, {4, 40}});
  DeviceProblem onGpu(problem);
  onGpu.page(problem, 16, KvLayout::PagedNhd);
  std::vector<int32_t> table = onGpu.blockTable.read();
  table[3 + 1] = 1 << 30;
  table[6 + 2] = -1;
  onGpu.blockTable.write(table);
  const Kernel kernel = attentionKernel(problem.heads);
  const Plan plan = *kernel.plan(problem.shape());
  const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()));
  const DeviceStream stream;
  RunOptions options;
  options.stream = stream.get();
  ASSERT_TRUE(kernel.run(plan, onGpu.operands(), {}, workspace.span(), options));
  stream.wait();
  const Status next = kernel.run(plan, onGpu.operands(), {}, workspace.span(), options);
  EXPECT_EQ(next.code(), StatusCode::DataOutOfRange);
  EXPECT_THAT(next.message(), HasSubstr("a page in block_table lies outside of the cache"));
  EXPECT_EQ(kernel.status(stream.get()).code(), StatusCode::DataOutOfRange);
  EXPECT_TRUE(kernel.status(stream.get()));

  const Attention expected = referenceAttention(problem);
  onGpu.read(problem);
  const size_t sound = 4 * 4 * 8; // rows, heads, dim of request 0
  for (size_t i = 0; i < problem.out.size(); ++i)
    if (i < sound)
      ASSERT_NEAR(problem.out[i], expected.out[i], 1e-5) << i;
    else
      ASSERT_EQ(std::bit_cast<uint32_t>(problem.out[i]), 0xcdcdcdcd) << i;
}

TEST_F(DeviceRun, aGraphIsReplayedWithOtherLengthsPagesAndContents) {
  const Heads heads;
  Problem largest({{64, 200}, {64, 200}, {64, 200}, {64, 200}}, heads);
  DeviceProblem onGpu(largest);
  onGpu.page(largest, 16, KvLayout::PagedHnd);
  const Kernel kernel = attentionKernel(heads);
  const Plan plan = *kernel.plan(largest.shape());
  const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()), 0xff);
  const DeviceStream stream;
  RunOptions options;
  options.stream = stream.get();
  const CapturedGraph graph(stream, [&] {
    const Status status = kernel.run(plan, onGpu.operands(), {}, workspace.span(), options);
    ASSERT_TRUE(status) << status.message();
  });
  const std::vector<std::vector<Lengths>> batches = {{{64, 200}, {64, 200}, {64, 200}, {64, 200}},
                                                     {{1, 1}, {0, 0}, {60, 199}, {7, 3}},
                                                     {{0, 0}, {0, 0}, {0, 0}, {0, 0}},
                                                     {{1, 130}, {1, 131}, {1, 200}, {1, 7}}};
  const std::vector<float> poison(largest.out.size(), kNaN);
  for (size_t i = 0; i < batches.size(); ++i) {
    Problem problem(batches[i], heads, static_cast<unsigned>(10 + i));
    DeviceProblem contents(problem);
    contents.page(problem, 16, KvLayout::PagedHnd);
    // The same memory holds another batch; the arrays are as large as the largest needs.
    const auto overwrite = [](const auto &target, const auto &source) {
      auto values = target.read();
      const auto given = source.read();
      std::copy(given.begin(), given.end(), values.begin());
      target.write(values);
    };
    overwrite(onGpu.q, contents.q);
    overwrite(onGpu.k, contents.k);
    overwrite(onGpu.v, contents.v);
    overwrite(onGpu.cuSeqlensQ, contents.cuSeqlensQ);
    overwrite(onGpu.kvLens, contents.kvLens);
    std::vector<int32_t> table(4 * 13, -1);
    const std::vector<int32_t> pages = contents.blockTable.read();
    const size_t columns = pages.size() / 4;
    for (size_t r = 0; r < 4; ++r)
      std::copy_n(&pages[r * columns], columns, &table[r * 13]);
    onGpu.blockTable.write(table);
    onGpu.out.write(std::as_bytes(std::span(poison)));

    graph.launch(stream);
    const Status met = kernel.status(stream.get());
    ASSERT_TRUE(met) << met.message();
    std::vector<float> out(largest.out.size());
    std::vector<float> lse(largest.lse.size());
    onGpu.out.read(std::as_writable_bytes(std::span(out)));
    onGpu.lse.read(std::as_writable_bytes(std::span(lse)));
    std::copy_n(out.begin(), problem.out.size(), problem.out.begin());
    for (int64_t head = 0; head < heads.query; ++head)
      std::copy_n(&lse[head * largest.tokens()], problem.tokens(),
                  problem.lse.begin() + head * problem.tokens());
    expectAttention(problem, referenceAttention(problem));
    for (size_t j = problem.out.size(); j < out.size(); ++j)
      ASSERT_TRUE(std::isnan(out[j])) << "written past the batch at " << j;
  }
}

TEST_F(DeviceRun, twoStreamsRunAtOnce) {
  const Heads heads;
  const Kernel kernel = attentionKernel(heads);
  Problem problems[] = {Problem(kMixed, heads, 1), Problem({{100, 300}, {9, 250}}, heads, 2)};
  std::vector<DeviceProblem> onGpu;
  std::vector<DeviceBytes> workspaces;
  const DeviceStream streams[2];
  std::vector<Plan> plans;
  for (Problem &problem : problems) {
    onGpu.emplace_back(problem);
    plans.push_back(*kernel.plan(problem.shape()));
    workspaces.emplace_back(static_cast<size_t>(plans.back().workspaceBytes()), 0xff);
  }
  for (int round = 0; round < 20; ++round)
    for (size_t i = 0; i < 2; ++i) {
      RunOptions options;
      options.stream = streams[i].get();
      const Status status =
          kernel.run(plans[i], onGpu[i].operands(), {}, workspaces[i].span(), options);
      ASSERT_TRUE(status) << status.message();
    }
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(kernel.status(streams[i].get()));
    onGpu[i].read(problems[i]);
    expectAttention(problems[i], referenceAttention(problems[i]));
  }
}

TEST_F(DeviceRun, emptyBatchesRun) {
  const Kernel kernel = attentionKernel({});
  const DeviceStream stream;
  RunOptions options;
  options.stream = stream.get();
  for (const std::vector<Lengths> &lengths :
       {std::vector<Lengths>{}, std::vector<Lengths>{{0, 0}, {0, 5}}}) {
    Problem problem(lengths);
    DeviceProblem onGpu(problem);
    for (const BatchShape &shape : {problem.shape(), BatchShape{7, 100, 50, 50}}) {
      const Plan plan = *kernel.plan(shape);
      const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()), 0xff);
      const Status status = kernel.run(plan, onGpu.operands(), {}, workspace.span(), options);
      ASSERT_TRUE(status) << status.message();
      ASSERT_TRUE(kernel.status(stream.get()));
    }
  }
}

/// Parameters, inputs and buffers of every kind, for the kernel `echo`.
LaunchPlan echoPlan(const Heads &heads, size_t moreParameters) {
  LaunchPlan plan = attentionPlan(heads);
  plan.parameters = {{"gain", ParameterType::F32, true, {}, {}},
                     {"window", ParameterType::Index, false, {4096}, {}}};
  for (size_t i = 0; i < moreParameters; ++i)
    plan.parameters.push_back({"more" + std::to_string(i), ParameterType::F32, true, {0.5}, {}});
  plan.inputs = {{"bias", InputElement::F32, HeadAxis::QueryHead, 0, 8},
                 {"blocks", InputElement::List, HeadAxis::None, 16, 8},
                 {"blocks_counts", InputElement::ListCounts, HeadAxis::None, 16, 0}};
  plan.buffers = {
      {"sums", DType::I32, 1, {ShapeSymbol::Requests, ShapeSymbol::QueryHeads, 1, 1}, true}};
  plan.kernels = {{.symbol = "echo", .axis = ItemAxis::None, .cuda = CudaLaunch{.threads = 32}}};
  return plan;
}

TEST_F(DeviceRun, tablesOfAnySizeReachTheKernels) {
  const Heads heads;
  Problem problem({{2, 30}, {3, 16}}, heads);
  DeviceProblem onGpu(problem);
  // bias[2 requests, 4 heads, 5 blocks of 8 keys], all blocks a request could have and one more.
  std::vector<float> bias(2 * 4 * 5);
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] = 100.0f + static_cast<float>(i);
  const DeviceArray<float> biasOnGpu(bias);
  const DeviceArray<int32_t> blocks(std::vector<int32_t>(2 * 3 * 6, 0));
  const DeviceStream stream;
  RunOptions options;
  options.stream = stream.get();
  for (const size_t more : {0, 12, 300}) {
    const Expected<Kernel> kernel = Kernel::createCuda(echoPlan(heads, more), kTestImage);
    ASSERT_TRUE(kernel) << kernel.status().message();
    const Plan plan = *kernel->plan(problem.shape());
    const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()), 0xff);
    Operands operands = onGpu.operands();
    operands.layer = 5;
    operands.softmaxScale = 0.25;
    operands.inputs = {{"bias", TensorView::contiguous(biasOnGpu.data(), DType::F32, {2, 4, 5})},
                       {"blocks", TensorView::contiguous(blocks.data(), DType::I32, {2, 3, 6})}};
    const Parameters parameters = {{"gain", std::vector<double>{1.5, 2.5, 3.5, 4.5}},
                                   {"window", -512}};
    // Twice: the buffer is cleared each time.
    for (int round = 0; round < 2; ++round) {
      const Status status = kernel->run(plan, operands, parameters, workspace.span(), options);
      ASSERT_TRUE(status) << status.message();
    }
    const Status met = kernel->status(stream.get());
    EXPECT_THAT(met.message(), HasSubstr("a value is not a label of the pattern's match"));
    onGpu.read(problem);
    for (int64_t request = 0; request < 2; ++request)
      for (int64_t head = 0; head < 4; ++head) {
        const float *row = &problem.out[(problem.cuSeqlensQ[request] * 4 + head) * 8];
        EXPECT_EQ(row[0], 1.5f + static_cast<float>(head));
        EXPECT_EQ(row[1], -512.0f);
        EXPECT_EQ(row[2], bias[(request * 4 + head) * 5 + 1]);
        EXPECT_EQ(row[3], 6.0f) << "the list's capacity stands in for its counts";
        EXPECT_EQ(row[4], 0.0f);
        EXPECT_EQ(row[5], 5.0f);
        EXPECT_EQ(row[6], 0.25f);
        EXPECT_EQ(row[7], static_cast<float>(SKIM_ABI_VERSION));
      }
  }
}

TEST_F(DeviceRun, requestsThatInputsHaveNoRoomForAreLeftOut) {
  const Heads heads;
  Problem problem({{2, 30}, {3, 41}, {40, 40}}, heads);
  DeviceProblem onGpu(problem);
  const DeviceArray<float> bias(std::vector<float>(3 * 4 * 5, 1.0f));
  const DeviceArray<int32_t> blocks(std::vector<int32_t>(3 * 2 * 6, 0));
  const Expected<Kernel> kernel = Kernel::createCuda(echoPlan(heads, 0), kTestImage);
  ASSERT_TRUE(kernel) << kernel.status().message();
  const Plan plan = *kernel->plan(problem.shape());
  const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()), 0xff);
  Operands operands = onGpu.operands();
  // 5 blocks of 8 keys serve 40 keys; 2 blocks of 16 rows serve rows 0 to 31.
  operands.inputs = {{"bias", TensorView::contiguous(bias.data(), DType::F32, {3, 4, 5})},
                     {"blocks", TensorView::contiguous(blocks.data(), DType::I32, {3, 2, 6})}};
  const DeviceStream stream;
  RunOptions options;
  options.stream = stream.get();
  ASSERT_TRUE(kernel->run(plan, operands, {{"gain", 1.0}}, workspace.span(), options));
  EXPECT_THAT(kernel->status(stream.get()).message(), HasSubstr("the lengths of a request"));
  onGpu.read(problem);
  EXPECT_EQ(problem.out[0], 1.0f);
  EXPECT_EQ(std::bit_cast<uint32_t>(problem.out[2 * 4 * 8]), 0xcdcdcdcd);
  EXPECT_EQ(std::bit_cast<uint32_t>(problem.out[5 * 4 * 8]), 0xcdcdcdcd);
}

TEST_F(DeviceRun, refusesWhatTheHostCanSee) {
  Problem problem(kMixed);
  DeviceProblem onGpu(problem);
  const Kernel kernel = attentionKernel(problem.heads);
  const Plan plan = *kernel.plan(problem.shape());
  const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()));
  const auto message = [&](const Operands &operands, const RunOptions &options = {}) {
    return kernel.run(plan, operands, {}, workspace.span(), options).message();
  };
  Operands operands = onGpu.operands();
  operands.q = problem.operands().q;
  EXPECT_EQ(message(operands),
            "q: expected memory of the CUDA device but got an address that the driver does not "
            "know");
  operands = onGpu.operands();
  operands.k.dtype = DType::BF16;
  EXPECT_THAT(message(operands), HasSubstr("k: expected f32["));
  operands = onGpu.operands();
  operands.kvLens.shape[0] = 3;
  EXPECT_THAT(message(operands), HasSubstr("kv_lens: expected i32[6] but got i32[3]"));
  RunOptions options;
  options.threads = 2;
  EXPECT_THAT(message(onGpu.operands(), options), HasSubstr("threads: expected 0"));
  std::vector<double> seconds(1);
  options = {};
  options.kernelSeconds = seconds;
  EXPECT_THAT(message(onGpu.operands(), options), HasSubstr("kernel_seconds"));
  EXPECT_EQ(kernel.run(plan, onGpu.operands(), {}, workspace.span().first(workspace.size() - 1), {})
                .code(),
            StatusCode::WorkspaceTooSmall);
}

TEST_F(DeviceRun, codeThatDoesNotLoadIsRefusedWithTheReason) {
  const Expected<Kernel> broken = Kernel::createCuda(attentionPlan({}), "not a program");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.status().code(), StatusCode::Environment);
  EXPECT_THAT(broken.status().message(), HasSubstr("loading code failed with CUDA_ERROR_"));
  const Expected<Kernel> wrong = Kernel::createCuda(
      attentionPlan({}),
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry attention() "
      "{ frobnicate; }\n");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.status().message(), HasSubstr("frobnicate")) << "the compiler's log";
  LaunchPlan plan = attentionPlan({});
  plan.kernels[0].symbol = "absent";
  const Expected<Kernel> absent = Kernel::createCuda(plan, kTestImage);
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.status().message(), HasSubstr("looking for kernel 'absent'"));
  plan = attentionPlan({});
  plan.kernels[0].cuda.reset();
  EXPECT_THAT(Kernel::createCuda(plan, kTestImage).status().message(),
              HasSubstr("expected a plan for CUDA devices but got one for the CPU"));
  EXPECT_THAT(Kernel::createCuda(attentionPlan({}), kTestImage, 99).status().message(),
              HasSubstr("cuda: expected a device from 0 to"));
}

} // namespace
