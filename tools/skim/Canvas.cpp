#include "tools/skim/Canvas.h"

#include "tools/skim/Failure.h"
#include "tools/skim/OutputFile.h"

#include "llvm/Support/raw_ostream.h"

#include <cairo-svg.h>

#include <cmath>
#include <memory>
#include <numbers>

namespace skim::tool {
namespace {

constexpr double pngScale = 2;

struct Destroy {
  void operator()(cairo_t *context) const { cairo_destroy(context); }
  void operator()(cairo_surface_t *surface) const { cairo_surface_destroy(surface); }
};
using Context = std::unique_ptr<cairo_t, Destroy>;
using Surface = std::unique_ptr<cairo_surface_t, Destroy>;

cairo_status_t append(void *bytes, const unsigned char *data, unsigned length) {
  static_cast<std::string *>(bytes)->append(reinterpret_cast<const char *>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

/// The finished file, or cairo's word for what failed.
cairo_status_t render(bool svg, double width, double height,
                      llvm::function_ref<void(Canvas &)> draw, std::string &bytes) {
  Surface surface(svg ? cairo_svg_surface_create_for_stream(append, &bytes, width, height)
                      : cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                                   static_cast<int>(std::ceil(width * pngScale)),
                                                   static_cast<int>(std::ceil(height * pngScale))));
  Context context(cairo_create(surface.get()));
  if (!svg)
    cairo_scale(context.get(), pngScale, pngScale);
  Canvas canvas(context.get());
  canvas.clear(palette::paper);
  draw(canvas);
  if (cairo_status_t status = cairo_status(context.get()))
    return status;
  if (!svg)
    return cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
  cairo_surface_finish(surface.get());
  return cairo_surface_status(surface.get());
}

} // namespace

void Canvas::colour(Colour c) {
  cairo_set_source_rgb(context, c.red / 255.0, c.green / 255.0, c.blue / 255.0);
}

void Canvas::clear(Colour c) {
  colour(c);
  cairo_paint(context);
}

void Canvas::fill(double x, double y, double width, double height, Colour c) {
  colour(c);
  cairo_rectangle(context, x, y, width, height);
  cairo_fill(context);
}

void Canvas::line(double x0, double y0, double x1, double y1, Colour c, double width) {
  polyline({{x0, y0}, {x1, y1}}, c, width);
}

void Canvas::polyline(llvm::ArrayRef<Dot> dots, Colour c, double width) {
  colour(c);
  cairo_set_line_width(context, width);
  // Text leaves a current point behind.
  cairo_new_path(context);
  for (const Dot &dot : dots)
    cairo_line_to(context, dot.x, dot.y);
  cairo_stroke(context);
}

void Canvas::disc(Dot centre, double radius, Colour c) {
  colour(c);
  cairo_new_path(context);
  cairo_arc(context, centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  cairo_fill(context);
}

void Canvas::frame(double x, double y, double width, double height, Colour c) {
  colour(c);
  cairo_set_line_width(context, 0.8);
  cairo_rectangle(context, x, y, width, height);
  cairo_stroke(context);
}

double Canvas::text(double x, double y, const std::string &words, const TextStyle &style) {
  cairo_select_font_face(context, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, style.size);
  cairo_text_extents_t extents;
  cairo_text_extents(context, words.c_str(), &extents);
  double shift = style.align == Align::Left     ? 0
                 : style.align == Align::Centre ? extents.x_advance / 2
                                                : extents.x_advance;
  colour(style.colour);
  cairo_save(context);
  cairo_translate(context, x, y);
  if (style.upwards)
    cairo_rotate(context, -std::numbers::pi / 2);
  cairo_move_to(context, -shift, 0);
  cairo_show_text(context, words.c_str());
  cairo_restore(context);
  return extents.x_advance;
}

void Canvas::image(llvm::ArrayRef<Colour> spots, int64_t width, int64_t height, double x, double y,
                   double side, bool coarse) {
  Surface pixels(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width),
                                            static_cast<int>(height)));
  cairo_surface_flush(pixels.get());
  unsigned char *data = cairo_image_surface_get_data(pixels.get());
  int stride = cairo_image_surface_get_stride(pixels.get());
  for (int64_t row = 0; row < height; ++row) {
    auto *line = reinterpret_cast<uint32_t *>(data + row * stride);
    for (int64_t column = 0; column < width; ++column) {
      Colour c = spots[row * width + column];
      line[column] = uint32_t(c.red) << 16 | uint32_t(c.green) << 8 | c.blue;
    }
  }
  cairo_surface_mark_dirty(pixels.get());
  cairo_save(context);
  cairo_translate(context, x, y);
  cairo_scale(context, side, side);
  cairo_set_source_surface(context, pixels.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(context),
                           coarse ? CAIRO_FILTER_GOOD : CAIRO_FILTER_NEAREST);
  cairo_paint(context);
  cairo_restore(context);
}

void Canvas::clip(double x, double y, double width, double height) {
  cairo_save(context);
  cairo_rectangle(context, x, y, width, height);
  cairo_clip(context);
}

void Canvas::unclip() { cairo_restore(context); }

llvm::Error drawFile(llvm::StringRef path, double width, double height,
                     llvm::function_ref<void(Canvas &)> draw) {
  std::string bytes;
  if (cairo_status_t status = render(path.ends_with(".svg"), width, height, draw, bytes))
    return environmentFailed("cannot draw '" + path + "': " + cairo_status_to_string(status));
  return writeOutput(path, [&](llvm::raw_ostream &stream) { stream << bytes; });
}

} // namespace skim::tool
