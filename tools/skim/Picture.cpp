#include "tools/skim/Picture.h"

#include "tools/skim/Failure.h"
#include "tools/skim/KeptRaster.h"
#include "tools/skim/OutputFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace skim::tool {
namespace {

// Lengths in points of the SVG; a PNG has `pngScale` pixels for each.
constexpr double pngScale = 2;
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

constexpr Colour ink{31, 35, 40};
constexpr Colour faintInk{98, 106, 115};
constexpr Colour paper{255, 255, 255};

struct Destroy {
  void operator()(cairo_t *context) const { cairo_destroy(context); }
  void operator()(cairo_surface_t *surface) const { cairo_surface_destroy(surface); }
};
using Context = std::unique_ptr<cairo_t, Destroy>;
using Surface = std::unique_ptr<cairo_surface_t, Destroy>;

enum class Align { Left, Centre, Right };

class Canvas {
public:
  explicit Canvas(cairo_t *context) : context(context) {}

  void colour(Colour c) {
    cairo_set_source_rgb(context, c.red / 255.0, c.green / 255.0, c.blue / 255.0);
  }
  void fill(double x, double y, double width, double height, Colour c) {
    colour(c);
    cairo_rectangle(context, x, y, width, height);
    cairo_fill(context);
  }
  void line(double x0, double y0, double x1, double y1, Colour c, double width) {
    colour(c);
    cairo_set_line_width(context, width);
    cairo_move_to(context, x0, y0);
    cairo_line_to(context, x1, y1);
    cairo_stroke(context);
  }
  void frame(double x, double y, double width, double height, Colour c) {
    colour(c);
    cairo_set_line_width(context, 0.8);
    cairo_rectangle(context, x, y, width, height);
    cairo_stroke(context);
  }
  /// Draws at the baseline and returns the width.
  double text(double x, double y, const std::string &words, double size, Colour c,
              Align align = Align::Left, bool bold = false, bool upwards = false) {
    cairo_select_font_face(context, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(context, size);
    cairo_text_extents_t extents;
    cairo_text_extents(context, words.c_str(), &extents);
    double shift = align == Align::Left     ? 0
                   : align == Align::Centre ? extents.x_advance / 2
                                            : extents.x_advance;
    colour(c);
    cairo_save(context);
    cairo_translate(context, x, y);
    if (upwards)
      cairo_rotate(context, -M_PI / 2);
    cairo_move_to(context, -shift, 0);
    cairo_show_text(context, words.c_str());
    cairo_restore(context);
    return extents.x_advance;
  }
  void image(const KeptRaster &raster, double x, double y, double pointsPerSpot) {
    Surface pixels(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(raster.width),
                                              static_cast<int>(raster.height)));
    cairo_surface_flush(pixels.get());
    unsigned char *data = cairo_image_surface_get_data(pixels.get());
    int stride = cairo_image_surface_get_stride(pixels.get());
    for (int64_t row = 0; row < raster.height; ++row) {
      auto *line = reinterpret_cast<uint32_t *>(data + row * stride);
      for (int64_t column = 0; column < raster.width; ++column) {
        Colour c = raster.spots[row * raster.width + column];
        line[column] = uint32_t(c.red) << 16 | uint32_t(c.green) << 8 | c.blue;
      }
    }
    cairo_surface_mark_dirty(pixels.get());
    cairo_save(context);
    cairo_translate(context, x, y);
    cairo_scale(context, pointsPerSpot, pointsPerSpot);
    cairo_set_source_surface(context, pixels.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(context),
                             raster.tokens == 1 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
    cairo_paint(context);
    cairo_restore(context);
  }
  void clip(double x, double y, double width, double height) {
    cairo_save(context);
    cairo_rectangle(context, x, y, width, height);
    cairo_clip(context);
  }
  void unclip() { cairo_restore(context); }

private:
  cairo_t *context;
};

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
    canvas.text(at, y + layout.planeHeight + 15, std::to_string(key), 9, faintInk, Align::Centre);
  }
  step = tickStep(picture.queries);
  int64_t first = llvm::divideCeilSigned(picture.base, step) * step;
  for (int64_t query = first; query <= picture.base + picture.queries; query += step) {
    double at = y + (query - picture.base) * perQuery;
    canvas.line(x - 4, at, x, at, faintInk, 0.8);
    canvas.text(x - 7, at + 3, std::to_string(query), 9, faintInk, Align::Right);
  }
  canvas.text(x + layout.planeWidth / 2, y + layout.planeHeight + 31, "key position k \xE2\x86\x92",
              10, ink, Align::Centre);
  canvas.text(x - 44, y + layout.planeHeight / 2, "\xE2\x86\x90 query position q", 10, ink,
              Align::Centre, /*bold=*/false, /*upwards=*/true);
}

void drawPanel(Canvas &canvas, const Picture &picture, const Panel &panel, const Layout &layout,
               double left, double top) {
  double x = left + axisWidth;
  double y = top + titleHeight;
  canvas.text(x, y - 8, panel.title, 12, ink, Align::Left, /*bold=*/true);

  KeptRaster raster = rasterise(picture, panel, rasterSide);
  canvas.clip(x, y, layout.planeWidth, layout.planeHeight);
  canvas.image(raster, x, y, layout.pointsPerToken * double(raster.tokens));
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
              llvm::formatv("keeps {0:F1} % of the visible pairs", panel.density * 100).str(), 10.5,
              ink);
  if (panel.mass)
    canvas.text(x, notes + 15,
                llvm::formatv("and {0:F1} % of the attention mass", *panel.mass * 100).str(), 10.5,
                ink);
}

void drawLegend(Canvas &canvas, const Picture &picture, double x, double y) {
  std::string tile = llvm::formatv("{0} x {1}", picture.tileRows, picture.tileKeys).str();
  auto entry = [&](auto paint, const std::string &words) {
    paint();
    canvas.frame(x, y - 10, 16, 12, faintInk);
    x += 22 + canvas.text(x + 22, y, words, 10.5, ink) + 18;
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

void drawPicture(cairo_t *context, const Picture &picture, const Layout &layout) {
  Canvas canvas(context);
  canvas.colour(paper);
  cairo_paint(context);
  canvas.text(margin, 34, picture.title, 18, ink, Align::Left, /*bold=*/true);
  canvas.text(margin, 54, picture.subtitle, 11, faintInk);
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

cairo_status_t append(void *bytes, const unsigned char *data, unsigned length) {
  static_cast<std::string *>(bytes)->append(reinterpret_cast<const char *>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

/// The finished file, or cairo's word for what failed.
cairo_status_t render(const Picture &picture, bool svg, std::string &bytes) {
  Layout layout(picture);
  Surface surface(
      svg ? cairo_svg_surface_create_for_stream(append, &bytes, layout.width, layout.height)
          : cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                       static_cast<int>(std::ceil(layout.width * pngScale)),
                                       static_cast<int>(std::ceil(layout.height * pngScale))));
  Context context(cairo_create(surface.get()));
  if (!svg)
    cairo_scale(context.get(), pngScale, pngScale);
  drawPicture(context.get(), picture, layout);
  if (cairo_status_t status = cairo_status(context.get()))
    return status;
  if (!svg)
    return cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
  cairo_surface_finish(surface.get());
  return cairo_surface_status(surface.get());
}

} // namespace

llvm::Error draw(const Picture &picture, llvm::StringRef path) {
  std::string bytes;
  if (cairo_status_t status = render(picture, path.ends_with(".svg"), bytes))
    return environmentFailed("cannot draw '" + path + "': " + cairo_status_to_string(status));
  return writeOutput(path, [&](llvm::raw_ostream &stream) { stream << bytes; });
}

} // namespace skim::tool
