// The assembler: what it makes, what it reports, and what counts as a failure.
#include "codegen/nvvm/Ptxas.h"
#include "runtime/cuda/KeyNormsImage.h"
#include "runtime/cuda/PackKeysImage.h"
#include "runtime/cuda/SetupImage.h"

#include "llvm/ADT/StringExtras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

using namespace skim::nvvm;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

std::string messageOf(llvm::Error error) { return llvm::toString(std::move(error)); }

std::string entry(const std::string &body, const std::string &target = "sm_90a") {
  return ".version 8.0\n.target " + target +
         "\n.address_size 64\n.visible .entry kernel(.param .u64 out)\n" + body;
}

TEST(Ptxas, makesMachineCodeAndReportsItsResources) {
  llvm::Expected<Assembly> assembly = assemble(
      entry(".reqntid 128 { .reg .b64 %d; .shared .b8 s[512]; .reg .b32 %r;\n"
            "ld.param.u64 %d, [out]; ld.shared.b32 %r, [s]; st.global.b32 [%d], %r; ret; }"),
      "sm_90a");
  ASSERT_TRUE(bool(assembly)) << messageOf(assembly.takeError());
  EXPECT_THAT(assembly->cubin, StartsWith("\177ELF"));
  ASSERT_EQ(assembly->kernels.size(), 1U);
  EXPECT_EQ(assembly->kernels[0].symbol, "kernel");
  EXPECT_GT(assembly->kernels[0].registers, 0);
  EXPECT_EQ(assembly->kernels[0].sharedBytes, 512);
}

TEST(Ptxas, wrongCodeIsAnErrorThatNamesTheLine) {
  llvm::Expected<Assembly> assembly = assemble(entry("{\nfrobnicate;\nret; }"), "sm_90a");
  ASSERT_FALSE(bool(assembly));
  std::string message = messageOf(assembly.takeError());
  EXPECT_THAT(message, HasSubstr("failed for sm_90a"));
  EXPECT_THAT(message, HasSubstr("PTX, line 6"));
}

TEST(Ptxas, spillsAreAnError) {
  // 64 values that all live across a barrier, in 16 registers.
  std::string body = ".maxnreg 24 { .reg .b64 %d; .reg .f32 %f<64>;\nld.param.u64 %d, [out];\n";
  for (int i = 0; i < 64; ++i)
    body +=
        "ld.volatile.global.f32 %f" + std::to_string(i) + ", [%d+" + std::to_string(4 * i) + "];\n";
  body += "bar.sync 0;\n";
  for (int i = 0; i < 64; ++i)
    body += "st.volatile.global.f32 [%d+" + std::to_string(4 * i) + "], %f" +
            std::to_string(63 - i) + ";\n";
  llvm::Expected<Assembly> assembly = assemble(entry(body + "ret; }"), "sm_90a");
  ASSERT_FALSE(bool(assembly));
  std::string message = messageOf(assembly.takeError());
  EXPECT_THAT(message, HasSubstr("kernel 'kernel': "));
  EXPECT_THAT(message, HasSubstr("bytes spill stores"));
}

TEST(Ptxas, ignoredRegisterCountsAndSerialProductsAreErrors) {
  llvm::Expected<Assembly> assembly = assemble(
      entry("{ .reg .b64 %d<2>; .reg .f32 %f<5>; .reg .pred %p;\n"
            "ld.param.u64 %d0, [out]; mov.u64 %d1, 4611686293305294848; setp.ne.b32 %p, 1, 0;\n"
            "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"
            "wgmma.fence.sync.aligned;\n"
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d1, %d1, %p, "
            "1, 1, 0, 0;\n"
            "add.f32 %f4, %f0, %f1;\n"
            "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
            "setmaxnreg.dec.sync.aligned.u32 24;\nst.global.f32 [%d0], %f4; ret; }"),
      "sm_90a");
  ASSERT_FALSE(bool(assembly));
  std::string message = messageOf(assembly.takeError());
  EXPECT_THAT(message, HasSubstr("(C7508)"));
  EXPECT_THAT(message, HasSubstr("(C7517)"));
}

TEST(Ptxas, theKernelsOfTheRuntimeAssembleForEveryGeneration) {
  for (const char *architecture : {"sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"}) {
    llvm::Expected<Assembly> assembly = assemble(skim::cuda::kSetupImage, architecture);
    ASSERT_TRUE(bool(assembly)) << messageOf(assembly.takeError());
    EXPECT_EQ(assembly->kernels.size(), 4U);
    for (const char *image : {skim::cuda::kKeyNormsImage, skim::cuda::kPackKeysImage}) {
      assembly = assemble(image, architecture);
      ASSERT_TRUE(bool(assembly)) << messageOf(assembly.takeError());
      EXPECT_EQ(assembly->kernels.size(), 1U);
    }
  }
}

TEST(Ptxas, aMissingAssemblerIsAnErrorThatSaysWhereItWasLookedFor) {
  const char *former = std::getenv("SKIM_PTXAS");
  std::string restored = former ? former : "";
  setenv("SKIM_PTXAS", "/nowhere/ptxas", 1);
  llvm::Expected<std::string> found = findPtxas();
  former ? setenv("SKIM_PTXAS", restored.c_str(), 1) : unsetenv("SKIM_PTXAS");
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(messageOf(found.takeError()),
            "SKIM_PTXAS: expected a program but got '/nowhere/ptxas'");
}

} // namespace
