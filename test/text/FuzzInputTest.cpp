// The fuzzer's work on fixed inputs: the seeds, and each seed cut short or damaged at every token.
#include "test/text/FuzzInput.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace skim::text {
namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(SKIM_EXAMPLES, error), end; it != end && !error;
       it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".skim")
      if (auto memory = llvm::MemoryBuffer::getFile(it->path()))
        texts.push_back((*memory)->getBuffer().str());
  std::sort(texts.begin(), texts.end());
  return texts;
}

/// Where words and operators start, comments left out.
std::vector<size_t> tokenStarts(llvm::StringRef text) {
  std::vector<size_t> starts;
  bool inComment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    inComment = text.substr(i).starts_with("//") || (inComment && text[i] != '\n');
    bool inWord = i > 0 && llvm::isAlnum(text[i]) && llvm::isAlnum(text[i - 1]);
    if (!inComment && !llvm::isSpace(text[i]) && !inWord)
      starts.push_back(i);
  }
  return starts;
}

TEST(FuzzInputTest, SeedsBuild) {
  ASSERT_GE(seeds().size(), 10U);
  for (const std::string &seed : seeds())
    EXPECT_TRUE(buildFuzzInput(seed)) << seed;
}

TEST(FuzzInputTest, CutSeedsAreRefused) {
  for (const std::string &seed : seeds()) {
    size_t close = seed.rfind('}');
    for (size_t start : tokenStarts(seed)) {
      if (start > close)
        break;
      EXPECT_FALSE(buildFuzzInput(seed.substr(0, start))) << seed.substr(0, start);
    }
  }
}

TEST(FuzzInputTest, DamagedSeedsDoNotCrash) {
  constexpr llvm::StringLiteral damages[] = {"",  "(", "}",      "- ",     "0 ",
                                             "q", "K", "where ", "0.5e9 ", "\xff"};
  for (const std::string &seed : seeds())
    for (size_t start : tokenStarts(seed))
      for (llvm::StringRef damage : damages) {
        std::string text = seed;
        text.replace(start, 1, damage.data(), damage.size());
        buildFuzzInput(text);
      }
}

} // namespace
} // namespace skim::text
