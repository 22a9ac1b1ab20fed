// The picture of a frontier is written in both formats, with every series, and for extreme values.
#include "tools/skim/eval/FrontierPicture.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <limits>

namespace skim::tool {
namespace {

std::string drawn(const FrontierPicture &picture, llvm::StringRef ending) {
  llvm::SmallString<128> path;
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("skim", ending, path));
  llvm::Error error = draw(picture, path);
  EXPECT_FALSE(error) << llvm::toString(std::move(error));
  auto buffer = llvm::MemoryBuffer::getFile(path);
  EXPECT_FALSE(llvm::sys::fs::remove(path));
  return buffer ? (*buffer)->getBuffer().str() : "";
}

FrontierPicture somePicture() {
  FrontierPicture picture{"a title", "over prompts", {}, FrontierPoint{"", 1, 1, 1.1}};
  picture.series.push_back({"streaming", {{"128", 0.02, 0.1, 1.4}, {"512", 0.1, 0.5, 1.2}}});
  picture.series.push_back({"causal", {{"", 1, 1, 1.1}}});
  return picture;
}

TEST(FrontierPicture, IsWrittenInBothFormats) {
  EXPECT_TRUE(llvm::StringRef(drawn(somePicture(), "svg")).contains("<svg"));
  EXPECT_TRUE(llvm::StringRef(drawn(somePicture(), "png")).starts_with("\x89PNG"));
  EXPECT_TRUE(drawn(somePicture(), "png") == drawn(somePicture(), "png"));
}

TEST(FrontierPicture, ShowsEveryPoint) {
  FrontierPicture less = somePicture();
  less.series[0].points.pop_back();
  FrontierPicture other = somePicture();
  other.series[0].points[1].retrieval = 0.9;
  EXPECT_FALSE(drawn(less, "png") == drawn(somePicture(), "png"));
  EXPECT_FALSE(drawn(other, "png") == drawn(somePicture(), "png"));
}

TEST(FrontierPicture, TakesAnyValues) {
  FrontierPicture empty{"nothing", "", {}, std::nullopt};
  EXPECT_TRUE(llvm::StringRef(drawn(empty, "svg")).contains("<svg"));
  FrontierPicture extreme = somePicture();
  for (int i = 0; i < 40; ++i)
    extreme.series.push_back(
        {"series " + std::to_string(i), {{"0", 0, 0, 8}, {"1", 1e-9, 1, 1.1}}});
  EXPECT_TRUE(llvm::StringRef(drawn(extreme, "svg")).contains("<svg"));
  extreme.dense.reset();
  EXPECT_TRUE(llvm::StringRef(drawn(extreme, "svg")).contains("<svg"));
}

} // namespace
} // namespace skim::tool
