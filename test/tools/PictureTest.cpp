// What each spot of a picture shows, and that both formats are written.
#include "tools/skim/Picture.h"
#include "tools/skim/KeptRaster.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skim::tool {

static bool operator==(const Colour &a, const Colour &b) {
  return a.red == b.red && a.green == b.green && a.blue == b.blue;
}

namespace {

/// Sinks and a window, over the last `queries` of `keys` positions.
std::vector<uint8_t> streaming(int64_t queries, int64_t keys, int64_t sink, int64_t window) {
  std::vector<uint8_t> kept(queries * keys);
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t k = 0, q = keys - queries + i; k <= q && k < keys; ++k)
      kept[i * keys + k] = k < sink || q - k < window;
  return kept;
}

Picture pictureOf(int64_t queries, int64_t keys, llvm::ArrayRef<uint8_t> kept) {
  Picture picture;
  picture.title = "streaming(sink = 16, window = 100)";
  picture.subtitle = "for a test";
  picture.queries = queries;
  picture.keys = keys;
  picture.base = keys - queries;
  picture.panels.push_back({"head 0", kept, 0.5, 0.987});
  return picture;
}

Colour spotAt(const KeptRaster &raster, int64_t row, int64_t key) {
  return raster.spots[row / raster.tokens * raster.width + key / raster.tokens];
}

TEST(KeptRaster, TellsTilesApart) {
  std::vector<uint8_t> kept = streaming(256, 256, 64, 60);
  Picture picture = pictureOf(256, 256, kept);
  KeptRaster raster = rasterise(picture, picture.panels[0], 1000);
  EXPECT_EQ(raster.tokens, 1);
  EXPECT_EQ(raster.width, 256);
  EXPECT_EQ(raster.height, 256);
  // Rows of tile 3 keep all keys of tile 0, none of tile 1 and some of tile 2.
  EXPECT_TRUE(spotAt(raster, 200, 10) == palette::fullTile);
  EXPECT_TRUE(spotAt(raster, 200, 100) == palette::skipped);
  EXPECT_TRUE(spotAt(raster, 250, 130) == palette::partialTile);
  EXPECT_TRUE(spotAt(raster, 192, 150) == palette::keptPair);
  EXPECT_TRUE(spotAt(raster, 10, 200) == palette::future);
  // The diagonal tile holds pairs that no row sees: it is not full.
  EXPECT_TRUE(spotAt(raster, 60, 10) == palette::keptPair);
}

TEST(KeptRaster, AnchorsTilesAtAbsolutePositions) {
  // Queries 100 to 199: the tile of rows 64 to 127 is cut at its top.
  std::vector<uint8_t> kept = streaming(100, 200, 64, 1);
  Picture picture = pictureOf(100, 200, kept);
  KeptRaster raster = rasterise(picture, picture.panels[0], 1000);
  EXPECT_TRUE(spotAt(raster, 0, 63) == palette::fullTile);
  EXPECT_TRUE(spotAt(raster, 0, 70) == palette::partialTile);
  EXPECT_TRUE(spotAt(raster, 28, 70) == palette::skipped);
}

TEST(KeptRaster, ShowsOneColumnOfAWideSpot) {
  std::vector<uint8_t> kept = streaming(512, 512, 1, 0);
  Picture picture = pictureOf(512, 512, kept);
  KeptRaster raster = rasterise(picture, picture.panels[0], 64);
  EXPECT_EQ(raster.tokens, 8);
  Colour spot = spotAt(raster, 400, 0);
  EXPECT_FALSE(spot == palette::partialTile);
  EXPECT_FALSE(spot == palette::skipped);
  EXPECT_TRUE(spotAt(raster, 400, 8) == palette::partialTile);
}

TEST(KeptRaster, SeesTheFutureWhereNothingIsCausal) {
  std::vector<uint8_t> kept(64 * 64, 1);
  Picture picture = pictureOf(64, 64, kept);
  picture.causal = false;
  KeptRaster raster = rasterise(picture, picture.panels[0], 1000);
  EXPECT_TRUE(spotAt(raster, 0, 63) == palette::fullTile);
}

TEST(KeptRaster, TakesMoreQueriesThanKeys) {
  // The first 60 rows stand at negative positions and see nothing.
  std::vector<uint8_t> kept = streaming(100, 40, 8, 4);
  Picture picture = pictureOf(100, 40, kept);
  KeptRaster raster = rasterise(picture, picture.panels[0], 1000);
  EXPECT_TRUE(spotAt(raster, 10, 0) == palette::future);
  EXPECT_TRUE(spotAt(raster, 99, 0) == palette::keptPair);
}

class Drawing : public testing::TestWithParam<const char *> {};

TEST_P(Drawing, WritesAFileOfItsFormat) {
  llvm::SmallString<128> name;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("skim", GetParam(), name));
  std::vector<uint8_t> kept = streaming(1024, 1024, 64, 200);
  Picture picture = pictureOf(1024, 1024, kept);
  while (picture.panels.size() < 6)
    picture.panels.push_back(picture.panels[0]);
  EXPECT_FALSE(bool(draw(picture, name)));
  auto file = llvm::MemoryBuffer::getFile(name, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  ASSERT_TRUE(bool(file));
  llvm::StringRef bytes = (*file)->getBuffer();
  if (llvm::StringRef(GetParam()) == "png") {
    EXPECT_TRUE(bytes.starts_with("\x89PNG\r\n"));
  } else {
    EXPECT_TRUE(bytes.starts_with("<?xml"));
    EXPECT_TRUE(bytes.trim().ends_with("</svg>"));
  }
  EXPECT_GT(bytes.size(), 4000u);
  EXPECT_FALSE(llvm::sys::fs::remove(name));
}
INSTANTIATE_TEST_SUITE_P(Formats, Drawing, testing::Values("svg", "png"));

TEST(Picture, SaysWhereItCannotWrite) {
  std::vector<uint8_t> kept = streaming(8, 8, 1, 1);
  llvm::Error error = draw(pictureOf(8, 8, kept), "/nonexistent/picture.svg");
  EXPECT_THAT(llvm::toString(std::move(error)), testing::HasSubstr("cannot write"));
}

} // namespace
} // namespace skim::tool
