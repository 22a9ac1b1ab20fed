// Random well-typed programs, those on which targets are compared with the reference, build.
#include "frontends/text/Check.h"
#include "test/numerics/ProgramGenerator.h"

#include "mlir/IR/MLIRContext.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace skim::text {
namespace {

class GeneratedProgramsTest : public testing::TestWithParam<numerics::Profile> {};

TEST_P(GeneratedProgramsTest, Build) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    numerics::Case test = numerics::generateProgram(GetParam(), seed);
    Diagnostics diagnostics;
    llvm::vfs::InMemoryFileSystem files;
    Program program = loadBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(test.program, "generated.skim"), diagnostics, files);
    BuildOptions options;
    options.constants = test.constants;
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(program, options, context, diagnostics);
    std::string printed;
    llvm::raw_string_ostream os(printed);
    diagnostics.print(os);
    ASSERT_TRUE(module) << "seed " << seed << "\n" << printed << test.program;
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, GeneratedProgramsTest,
                         testing::Values(numerics::Profile::staticAndInputs,
                                         numerics::Profile::whole),
                         [](const auto &info) {
                           return info.param == numerics::Profile::whole ? "Whole" : "Static";
                         });

} // namespace
} // namespace skim::text
