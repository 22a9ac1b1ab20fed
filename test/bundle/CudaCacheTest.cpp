// Kernels for GPUs in bundles and in the cache, over a driver that counts what it compiles: ctest
// puts one before the machine's own.
#include "test/bundle/FakeDriver.h"
#include "test/bundle/SampleBundle.h"

#include "codegen/nvvm/Ptxas.h"
#include "runtime/bundle/LoadKernel.h"
#include "runtime/cuda/Assemble.h"
#include "runtime/cuda/Device.h"

#include <skim/Compiler.h>
#include <skim/Metrics.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace skim::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const char *kText = "pattern streaming(window: index = 64) { keep q - k < window }\n";

CompileOptions forHopper() {
  CompileOptions options;
  options.target = "sm_90a";
  options.queryHeads = 4;
  options.kvHeads = 2;
  options.headDim = 128;
  return options;
}

class CudaCacheTest : public testing::Test {
protected:
  void SetUp() override {
    driver = static_cast<FakeDriver *>(cuda::driverSymbol("skim_fake_driver"));
    ASSERT_NE(driver, nullptr) << "expected the driver of the tests before the machine's own: run "
                                  "this by ctest";
    *driver = {};
    const Expected<std::shared_ptr<const cuda::Device>> opened = cuda::Device::open();
    ASSERT_TRUE(opened) << opened.status().message();
    device = *opened; // the runtime's own kernels are loaded once, here
    *driver = {};
    std::string name = testing::TempDir() + "skim-cuda-cache-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  Expected<Kernel> compile(const std::string &cache) {
    return Compiler({cache, {}, &metrics}).compile(Pattern::fromText(kText), forHopper());
  }

  FakeDriver *driver = nullptr;
  std::shared_ptr<const cuda::Device> device;
  std::filesystem::path folder;
  Metrics metrics;
};

TEST_F(CudaCacheTest, AKernelFromTheCacheIsNotAssembledAgain) {
  Expected<Kernel> kernel = compile(folder);
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_TRUE(kernel->isOnCuda());
  EXPECT_EQ(driver->assembled, 1);
  EXPECT_EQ(driver->loadedPtx, 0);
  EXPECT_EQ(driver->loadedCubins, 1);
  for (int i = 2; i < 5; ++i) {
    ASSERT_TRUE(compile(folder));
    EXPECT_EQ(driver->loadedCubins, i);
  }
  EXPECT_EQ(driver->assembled, 1);
  EXPECT_EQ(driver->loadedPtx, 0);
  EXPECT_EQ(metrics.snapshot().compile.cacheMisses, 1);
  EXPECT_EQ(metrics.snapshot().compile.cacheHits, 3);
}

TEST_F(CudaCacheTest, AnotherDriverAssemblesForItself) {
  ASSERT_TRUE(compile(folder));
  driver->version = 13000;
  ASSERT_TRUE(compile(folder));
  EXPECT_EQ(driver->assembled, 2);
  EXPECT_EQ(metrics.snapshot().compile.cacheMisses, 2);
  driver->version = 12080;
  ASSERT_TRUE(compile(folder));
  EXPECT_EQ(metrics.snapshot().compile.cacheHits, 1);
}

TEST_F(CudaCacheTest, WithoutACacheTheDriverIsGivenPtx) {
  ASSERT_TRUE(compile(""));
  EXPECT_EQ(driver->assembled, 0);
  EXPECT_EQ(driver->loadedPtx, 1);
}

TEST_F(CudaCacheTest, WhatTheDriverRefusesIsNotKept) {
  driver->refusesPtx = true;
  const Expected<Kernel> kernel = compile(folder);
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.status().message(), HasSubstr("CUDA_ERROR_INVALID_PTX"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(CudaCacheTest, TheVersionNamesTheDriversFile) {
  const Expected<std::string> version = cuda::driverVersion();
  ASSERT_TRUE(version) << version.status().message();
  EXPECT_EQ(*version, "12080 libcuda.so.1");
}

/// What `skim compile --emit bundle` packs, loaded by the runtime alone.
class CudaBundleTest : public CudaCacheTest {
protected:
  void SetUp() override {
    CudaCacheTest::SetUp();
    ASSERT_TRUE(bool(nvvm::findPtxas())) << "expected ptxas, as scripts/install-deps puts it";
    bytes = bundleBytes();
  }
  static std::string bundleBytes() {
    Expected<std::string> bundle =
        Compiler({.cacheDirectory = ""}).bundle({{Pattern::fromText(kText), forHopper()}});
    return bundle ? *bundle : bundle.status().message();
  }
  Expected<Kernel> load() { return Kernel::load(bytesOf(bytes), {.target = "sm_90a"}); }

  std::string bytes;
};

TEST_F(CudaBundleTest, MachineCodeGoesBeforePtx) {
  const Expected<Bundle> bundle = Bundle::fromMemory(bytesOf(bytes));
  ASSERT_TRUE(bundle) << bundle.status().message();
  EXPECT_NE(bundle->entries().front().find(SectionKind::Ptx), nullptr);
  EXPECT_NE(bundle->entries().front().find(SectionKind::Cubin), nullptr);
  const Expected<Kernel> kernel = load();
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_TRUE(kernel->isOnCuda());
  EXPECT_EQ(driver->loadedCubins, 1);
  EXPECT_EQ(driver->loadedPtx + driver->assembled, 0);
}

TEST_F(CudaBundleTest, PtxStandsInForMachineCodeThatIsRefused) {
  driver->refusesCubins = true;
  const Expected<Kernel> kernel = load();
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_EQ(driver->loadedPtx, 1);
  driver->refusesPtx = true;
  EXPECT_THAT(load().status().message(),
              HasSubstr("bundle: kernel of 'streaming' for sm_90a: cuda: loading code failed with "
                        "CUDA_ERROR_INVALID_PTX"));
}

TEST_F(CudaBundleTest, WithoutAnAssemblerThereIsPtxAlone) {
  const std::string assembler = *nvvm::findPtxas();
  ::setenv("SKIM_PTXAS", "", 1);
  bytes = bundleBytes();
  ::setenv("SKIM_PTXAS", "/no/such/program", 1);
  EXPECT_EQ(bundleBytes(), "SKIM_PTXAS: expected a program but got '/no/such/program'");
  ::setenv("SKIM_PTXAS", assembler.c_str(), 1);
  ASSERT_TRUE(load());
  EXPECT_EQ(driver->loadedPtx, 1);
  EXPECT_EQ(driver->loadedCubins, 0);
}

TEST_F(CudaBundleTest, TheCpuIsChosenWhereNoTargetIsAsked) {
  EXPECT_THAT(Kernel::load(bytesOf(bytes)).status().message(), HasSubstr("code for sm_90a"));
}

} // namespace
} // namespace skim::test
