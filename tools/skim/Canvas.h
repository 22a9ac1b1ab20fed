// Drawing with cairo into an SVG or a PNG: what all pictures of the tool share.
#ifndef SKIM_TOOLS_SKIM_CANVAS_H
#define SKIM_TOOLS_SKIM_CANVAS_H

#include "tools/skim/Colour.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cairo.h>

#include <cstdint>
#include <string>

namespace skim::tool {

enum class Align { Left, Centre, Right };

struct TextStyle {
  double size = 10.5;
  Colour colour = palette::ink;
  Align align = Align::Left;
  bool bold = false;
  bool upwards = false;
};

struct Dot {
  double x, y;
};

/// Lengths are points of the SVG; a PNG has two pixels for each.
class Canvas {
public:
  explicit Canvas(cairo_t *context) : context(context) {}

  void clear(Colour c);
  void fill(double x, double y, double width, double height, Colour c);
  void line(double x0, double y0, double x1, double y1, Colour c, double width);
  void polyline(llvm::ArrayRef<Dot> dots, Colour c, double width);
  void disc(Dot centre, double radius, Colour c);
  void frame(double x, double y, double width, double height, Colour c);
  /// Draws at the baseline and returns the width.
  double text(double x, double y, const std::string &words, const TextStyle &style);
  /// Row-major spots [height, width], each `side` points wide; smoothed where they are `coarse`.
  void image(llvm::ArrayRef<Colour> spots, int64_t width, int64_t height, double x, double y,
             double side, bool coarse);
  void clip(double x, double y, double width, double height);
  void unclip();

private:
  void colour(Colour c);

  cairo_t *context;
};

/// Writes `path`, whose ending says the format: .svg or .png. Fails with EnvironmentFailed.
llvm::Error drawFile(llvm::StringRef path, double width, double height,
                     llvm::function_ref<void(Canvas &)> draw);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_CANVAS_H
