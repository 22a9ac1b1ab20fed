// Machine code that the driver makes of PTX, and bundles that hold either or both.
#include "test/gpu/DeviceProblem.h"
#include "test/gpu/TestImage.h"

#include "runtime/bundle/Bundle.h"
#include "runtime/cuda/Assemble.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>

using namespace skim;
using namespace skim::test;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

constexpr const char *kTarget = "sm_90a"; // loading knows GPUs by the prefix

class DeviceCubin : public GpuTest {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped())
      return;
    const Expected<std::string> assembled = cuda::assemble(kTestImage);
    ASSERT_TRUE(assembled) << assembled.status().message();
    cubin = *assembled;
  }

  /// A bundle of the attention kernel with these images, empty ones left out.
  static std::string bundleOf(const std::string &cubin, const std::string &ptx) {
    BundleEntry entry;
    entry.target = kTarget;
    entry.launchPlan = attentionPlan({});
    entry.launchPlan.pattern = "attention";
    for (const auto &[kind, image] :
         {std::pair(SectionKind::Ptx, &ptx), std::pair(SectionKind::Cubin, &cubin)})
      if (!image->empty()) {
        const auto bytes = std::as_bytes(std::span(*image));
        entry.code.push_back({kind, {bytes.begin(), bytes.end()}});
      }
    return writeBundle({&entry, 1});
  }

  static Expected<Kernel> load(const std::string &cubin, const std::string &ptx) {
    const std::string bundle = bundleOf(cubin, ptx);
    return Kernel::load(std::as_bytes(std::span(bundle)), {.target = kTarget});
  }

  static void expectRuns(const Expected<Kernel> &kernel) {
    ASSERT_TRUE(kernel) << kernel.status().message();
    Problem problem({{33, 70}, {0, 9}, {1, 130}});
    DeviceProblem onGpu(problem);
    const Plan plan = *kernel->plan(problem.shape());
    const DeviceBytes workspace(static_cast<size_t>(plan.workspaceBytes()), 0xff);
    const DeviceStream stream;
    RunOptions options;
    options.stream = stream.get();
    const Status status = kernel->run(plan, onGpu.operands(), {}, workspace.span(), options);
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(kernel->status(stream.get()));
    onGpu.read(problem);
    expectAttention(problem, referenceAttention(problem));
  }

  std::string cubin;
};

TEST_F(DeviceCubin, whatTheDriverAssemblesRuns) {
  EXPECT_THAT(cubin, StartsWith("\177ELF"));
  expectRuns(Kernel::createCuda(attentionPlan({}), cubin));
  expectRuns(load(cubin, ""));
  expectRuns(load("", kTestImage));
}

TEST_F(DeviceCubin, machineCodeGoesBeforePtxWhichStandsInForIt) {
  expectRuns(load(cubin, "no PTX"));
  expectRuns(load("\177ELF that is none", kTestImage));
  const Expected<Kernel> neither = load("\177ELF that is none", "no PTX");
  ASSERT_FALSE(neither);
  EXPECT_EQ(neither.status().code(), StatusCode::Environment);
  EXPECT_THAT(neither.status().message(), HasSubstr("bundle: kernel of 'attention' for sm_90a: "
                                                    "cuda: loading code failed with CUDA_ERROR_"));
}

TEST_F(DeviceCubin, whatIsWrongWithPtxIsSaid) {
  const Expected<std::string> wrong =
      cuda::assemble(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry attention() "
                     "{ frobnicate; }\n");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.status().code(), StatusCode::Environment);
  EXPECT_THAT(wrong.status().message(), HasSubstr("frobnicate")) << "the compiler's log";
}

TEST_F(DeviceCubin, theDriversVersionNamesItsFile) {
  const Expected<std::string> version = cuda::driverVersion();
  ASSERT_TRUE(version) << version.status().message();
  EXPECT_THAT(*version, HasSubstr(" libcuda.so."));
  std::printf("driver %s\n", version->c_str());
}

/// Bar: 5 ms, as for CPU code. The median of 21 loads, with the context there.
TEST_F(DeviceCubin, machineCodeLoadsWithinFiveMilliseconds) {
  const std::string bundle = bundleOf(cubin, kTestImage);
  const Expected<Kernel> first =
      Kernel::load(std::as_bytes(std::span(bundle)), {.target = kTarget});
  ASSERT_TRUE(first) << first.status().message();
  std::vector<double> milliseconds;
  for (int i = 0; i < 21; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(Kernel::load(std::as_bytes(std::span(bundle)), {.target = kTarget}));
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::ranges::nth_element(milliseconds, milliseconds.begin() + 10);
  std::printf("a cubin from a bundle takes %.3f ms\n", milliseconds[10]);
  EXPECT_LE(milliseconds[10], 5);
}

} // namespace
