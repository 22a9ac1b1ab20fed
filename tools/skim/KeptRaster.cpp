#include "tools/skim/KeptRaster.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace skim::tool {
namespace {

enum class TileKind : uint8_t { Skipped, Partial, Full };

/// Tiles lie at absolute positions, as the kernels' do.
class Tiles {
public:
  Tiles(const Picture &picture, const Panel &panel)
      : picture(picture), firstRow(llvm::divideFloorSigned(picture.base, picture.tileRows)),
        rows(llvm::divideFloorSigned(picture.base + picture.queries - 1, picture.tileRows) -
             firstRow + 1),
        columns(llvm::divideCeilSigned(picture.keys, picture.tileKeys)) {
    std::vector<int64_t> keptPairs(rows * columns);
    std::vector<int64_t> allPairs(rows * columns);
    for (int64_t i = 0; i < picture.queries; ++i)
      for (int64_t k = 0; k < picture.keys; ++k) {
        int64_t tile = indexOf(i, k);
        keptPairs[tile] += panel.kept[i * picture.keys + k] != 0;
        ++allPairs[tile];
      }
    kinds.resize(rows * columns);
    for (size_t tile = 0; tile < kinds.size(); ++tile)
      if (keptPairs[tile] > 0)
        kinds[tile] = keptPairs[tile] == allPairs[tile] ? TileKind::Full : TileKind::Partial;
  }

  TileKind kindAt(int64_t row, int64_t key) const { return kinds[indexOf(row, key)]; }

private:
  int64_t indexOf(int64_t row, int64_t key) const {
    int64_t tile = llvm::divideFloorSigned(picture.base + row, picture.tileRows) - firstRow;
    return tile * columns + key / picture.tileKeys;
  }

  const Picture &picture;
  int64_t firstRow, rows, columns;
  std::vector<TileKind> kinds;
};

Colour blend(Colour from, Colour to, double share) {
  auto mix = [&](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + (b - a) * share));
  };
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

Colour spotColour(const Picture &picture, const Panel &panel, const Tiles &tiles, int64_t row,
                  int64_t key, int64_t tokens) {
  int64_t kept = 0;
  int64_t visible = 0;
  int64_t rowEnd = std::min(row + tokens, picture.queries);
  int64_t keyEnd = std::min(key + tokens, picture.keys);
  for (int64_t i = row; i < rowEnd; ++i)
    for (int64_t k = key; k < keyEnd; ++k)
      if (!picture.causal || k <= picture.base + i) {
        ++visible;
        kept += panel.kept[i * picture.keys + k] != 0;
      }
  TileKind kind = tiles.kindAt(row, key);
  if (visible == 0)
    return palette::future;
  if (kind == TileKind::Full)
    return palette::fullTile;
  if (kind == TileKind::Skipped)
    return palette::skipped;
  // The root lets a single column of a wide spot still be seen.
  return blend(palette::partialTile, palette::keptPair, std::sqrt(double(kept) / double(visible)));
}

} // namespace

KeptRaster rasterise(const Picture &picture, const Panel &panel, int64_t side) {
  Tiles tiles(picture, panel);
  KeptRaster raster;
  while (raster.tokens * side < std::max(picture.queries, picture.keys))
    raster.tokens *= 2;
  raster.width = llvm::divideCeilSigned(picture.keys, raster.tokens);
  raster.height = llvm::divideCeilSigned(picture.queries, raster.tokens);
  raster.spots.reserve(raster.width * raster.height);
  for (int64_t y = 0; y < raster.height; ++y)
    for (int64_t x = 0; x < raster.width; ++x)
      raster.spots.push_back(
          spotColour(picture, panel, tiles, y * raster.tokens, x * raster.tokens, raster.tokens));
  return raster;
}

} // namespace skim::tool
