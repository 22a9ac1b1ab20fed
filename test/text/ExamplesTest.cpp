// The example patterns, and the patterns in the language reference, build, all but one without a
// word.
#include "frontends/text/Check.h"

#include "mlir/IR/MLIRContext.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace skim::text {
namespace {

std::vector<std::string> exampleFiles() {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(SKIM_EXAMPLES, error), end; it != end && !error;
       it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".skim")
      files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

class ExamplesTest : public testing::TestWithParam<std::string> {};

/// What is said about `program` while it is built.
std::string buildAndPrint(const Program &program, Diagnostics &diagnostics) {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(program, {}, context, diagnostics);
  EXPECT_EQ(static_cast<bool>(module), !diagnostics.hasErrors());
  std::string printed;
  llvm::raw_string_ostream os(printed);
  diagnostics.print(os);
  return printed;
}

TEST_P(ExamplesTest, Builds) {
  Diagnostics diagnostics;
  Program program = loadFile(GetParam(), diagnostics);
  std::string printed = buildAndPrint(program, diagnostics);
  // What it samples is not known to be less than all; that its scores are costly is said.
  if (llvm::sys::path::stem(GetParam()) == "xattention")
    EXPECT_TRUE(llvm::StringRef(printed).contains("warning: this scores all (q, k) pairs"));
  else
    EXPECT_EQ(printed, "");
  const Pattern *entry = findEntry(program, "", diagnostics);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->name, llvm::sys::path::stem(GetParam()));
}

TEST_P(ExamplesTest, HasAtMostFifteenLines) {
  auto memory = llvm::MemoryBuffer::getFile(GetParam());
  ASSERT_TRUE(memory);
  EXPECT_LE((*memory)->getBuffer().count('\n'), 15U);
}

TEST(LanguageReferenceTest, EveryPatternBuilds) {
  auto memory = llvm::MemoryBuffer::getFile(SKIM_LANGUAGE_REFERENCE);
  ASSERT_TRUE(memory);
  llvm::StringRef rest = (*memory)->getBuffer();
  unsigned blocks = 0;
  while (true) {
    auto [before, after] = rest.split("```skim\n");
    if (after.empty())
      break;
    auto [block, following] = after.split("```");
    rest = following;
    ++blocks;
    Diagnostics diagnostics;
    // Beside the examples, from which it may import.
    std::string name = std::string(SKIM_EXAMPLES) + "/block" + std::to_string(blocks) + ".skim";
    Program program = loadBuffer(llvm::MemoryBuffer::getMemBufferCopy(block, name), diagnostics);
    EXPECT_EQ(buildAndPrint(program, diagnostics), "") << block.str();
  }
  EXPECT_GE(blocks, 4U);
}

INSTANTIATE_TEST_SUITE_P(Files, ExamplesTest, testing::ValuesIn(exampleFiles()),
                         [](const auto &info) { return llvm::sys::path::stem(info.param).str(); });

} // namespace
} // namespace skim::text
