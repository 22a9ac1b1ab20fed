#include "tools/skim/Picture.h"

#include "tools/skim/Canvas.h"
#include "tools/skim/KeptRaster.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace skim::tool {
namespace {

// Lengths in points.
constexpr double longSide = 300;
constexpr double shortestSide = 40;
constexpr double margin = 24;
constexpr double axisWidth = 58;   // left of a plane: tick numbers and the axis' name
constexpr double titleHeight = 24; // above a plane
constexpr double axisHeight = 40;  // below a plane: tick numbers and the axis' name
constexpr double notesHeight = 34; // below that: two lines of figures
constexpr double headerHeight = 92;
constexpr int64_t mostColumns = 4;
constexpr int64_t rasterSide = 600;

using palette::faintInk, palette::ink;

/// Sizes that follow from the shape of the plane and the number of panels.
struct Layout {
  explicit Layout(const Picture &picture) {
    pointsPerToken = longSide / double(std::max(picture.queries, picture.keys));
    planeWidth = std::max(picture.keys * pointsPerToken, shortestSide);
    planeHeight = std::max(picture.queries * pointsPerToken, shortestSide);
    columns = std::min<int64_t>(picture.panels.size(), mostColumns);
    rows = (static_cast<int64_t>(picture.panels.size()) + columns - 1) / columns;
    panelWidth = axisWidth + std::max(planeWidth, 200.0) + margin;
    panelHeight = titleHeight + planeHeight + axisHeight + notesHeight + margin;
    width = std::max(margin + columns * panelWidth, 760.0);
    height = headerHeight + rows * panelHeight;
  }

  double pointsPerToken, planeWidth, planeHeight, panelWidth, panelHeight, width, height;
  int64_t columns, rows;
};

/// A round distance between ticks: 1, 2, 4 or 5 times a power of ten, or a power of
/// two where the length is one.
int64_t tickStep(int64_t length) {
  if (length >= 64 && (length & (length - 1)) == 0)
    return length / 4;
  double rough = double(length) / 4;
  auto power = static_cast<int64_t>(std::pow(10, std::floor(std::log10(std::max(rough, 1.0)))));
  for (int64_t factor : {1, 2, 5, 10})
    if (double(factor * power) >= rough)
      return factor * power;
  return 10 * power;
}

void drawAxes(Canvas &canvas, const Picture &picture, const Layout &layout, double x, double y) {
  canvas.frame(x, y, layout.planeWidth, layout.planeHeight, faintInk);
  double perKey = layout.planeWidth / double(picture.keys);
  double perQuery = layout.planeHeight / double(picture.queries);
  int64_t step = tickStep(picture.keys);
  for (int64_t key = 0; key <= picture.keys; key += step) {
    double at = x + key * perKey;
    canvas.line(at, y + layout.planeHeight, at, y + layout.planeHeight + 4, faintInk, 0.8);
    canvas.text(at, y + layout.planeHeight + 15, std::to_string(key), {9, faintInk, Align::Centre});
  }
  step = tickStep(picture.queries);
  int64_t first = llvm::divideCeilSigned(picture.base, step) * step;
  for (int64_t query = first; query <= picture.base + picture.queries; query += step) {
    double at = y + (query - picture.base) * perQuery;
    canvas.line(x - 4, at, x, at, faintInk, 0.8);
    canvas.text(x - 7, at + 3, std::to_string(query), {9, faintInk, Align::Right});
  }
  canvas.text(x + layout.planeWidth / 2, y + layout.planeHeight + 31, "key position k \xE2\x86\x92",
              {10, ink, Align::Centre});
  canvas.text(x - 44, y + layout.planeHeight / 2, "\xE2\x86\x90 query position q",
              {.size = 10, .align = Align::Centre, .upwards = true});
}

void drawPanel(Canvas &canvas, const Picture &picture, const Panel &panel, const Layout &layout,
               double left, double top) {
  double x = left + axisWidth;
  double y = top + titleHeight;
  canvas.text(x, y - 8, panel.title, {.size = 12, .bold = true});

  KeptRaster raster = rasterise(picture, panel, rasterSide);
  canvas.clip(x, y, layout.planeWidth, layout.planeHeight);
  canvas.image(raster.spots, raster.width, raster.height, x, y,
               layout.pointsPerToken * double(raster.tokens), /*coarse=*/raster.tokens > 1);
  if (picture.causal) {
    double perKey = layout.planeWidth / double(picture.keys);
    double perQuery = layout.planeHeight / double(picture.queries);
    // Row i sees the keys up to base + i: a staircase, drawn as its diagonal.
    canvas.line(x + picture.base * perKey, y, x + (picture.base + picture.queries) * perKey,
                y + picture.queries * perQuery, ink, 1);
  }
  canvas.unclip();
  drawAxes(canvas, picture, layout, x, y);

  double notes = y + layout.planeHeight + axisHeight + 10;
  canvas.text(x, notes,
              llvm::formatv("keeps {0:F1} % of the visible pairs", panel.density * 100).str(), {});
  if (panel.mass)
    canvas.text(x, notes + 15,
                llvm::formatv("and {0:F1} % of the attention mass", *panel.mass * 100).str(), {});
}

void drawLegend(Canvas &canvas, const Picture &picture, double x, double y) {
  std::string tile = llvm::formatv("{0} x {1}", picture.tileRows, picture.tileKeys).str();
  auto entry = [&](auto paint, const std::string &words) {
    paint();
    canvas.frame(x, y - 10, 16, 12, faintInk);
    x += 22 + canvas.text(x + 22, y, words, {}) + 18;
  };
  auto solid = [&](Colour c) { return [&canvas, &x, y, c] { canvas.fill(x, y - 10, 16, 12, c); }; };
  entry(solid(palette::fullTile), "full tile (" + tile + "): every pair kept");
  entry(
      [&] {
        canvas.fill(x, y - 10, 16, 12, palette::partialTile);
        canvas.fill(x, y - 10, 8, 12, palette::keptPair);
      },
      "partial tile: kept and dropped pairs");
  entry(solid(palette::skipped), "skipped tile");
  if (picture.causal)
    entry(
        [&] {
          canvas.fill(x, y - 10, 16, 12, palette::future);
          canvas.line(x, y - 10, x + 16, y + 2, ink, 1);
        },
        "causal boundary, k = q");
}

void drawPicture(Canvas &canvas, const Picture &picture, const Layout &layout) {
  canvas.text(margin, 34, picture.title, {.size = 18, .bold = true});
  canvas.text(margin, 54, picture.subtitle, {11, faintInk});
  drawLegend(canvas, picture, margin, 78);
  double left = margin;
  double top = headerHeight;
  for (size_t i = 0; i < picture.panels.size(); ++i) {
    drawPanel(canvas, picture, picture.panels[i], layout, left, top);
    left += layout.panelWidth;
    if ((i + 1) % layout.columns == 0) {
      left = margin;
      top += layout.panelHeight;
    }
  }
}

} // namespace

llvm::Error draw(const Picture &picture, llvm::StringRef path) {
  Layout layout(picture);
  return drawFile(path, layout.width, layout.height,
                  [&](Canvas &canvas) { drawPicture(canvas, picture, layout); });
}

} // namespace skim::tool
