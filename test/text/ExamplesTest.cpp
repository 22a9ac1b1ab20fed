// The example patterns load without a word, alone and together.
#include "frontends/text/Loader.h"

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

TEST_P(ExamplesTest, Loads) {
  Diagnostics diagnostics;
  Program program = loadFile(GetParam(), diagnostics);
  std::string printed;
  llvm::raw_string_ostream os(printed);
  diagnostics.print(os);
  EXPECT_TRUE(diagnostics.all().empty()) << printed;
  const Pattern *entry = findEntry(program, "", diagnostics);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->name, llvm::sys::path::stem(GetParam()));
}

TEST_P(ExamplesTest, HasAtMostFifteenLines) {
  auto memory = llvm::MemoryBuffer::getFile(GetParam());
  ASSERT_TRUE(memory);
  EXPECT_LE((*memory)->getBuffer().count('\n'), 15U);
}

INSTANTIATE_TEST_SUITE_P(Files, ExamplesTest, testing::ValuesIn(exampleFiles()),
                         [](const auto &info) { return llvm::sys::path::stem(info.param).str(); });

} // namespace
} // namespace skim::text
