#include "tools/skim/eval/FrontierPicture.h"

#include "tools/skim/Canvas.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace skim::tool {
namespace {

using palette::faintInk, palette::ink;

// Lengths in points.
constexpr double margin = 24;
constexpr double axisWidth = 62;
constexpr double planeWidth = 430;
constexpr double planeHeight = 330;
constexpr double axisHeight = 48;
constexpr double planeTitle = 26;
constexpr double legendTop = 78;
constexpr double legendLine = 19;
constexpr double legendColumn = 150;
constexpr int64_t legendColumns = 6;
constexpr double width = 2 * (margin + axisWidth + planeWidth) + margin;

/// Told apart by people who see colours differently, too (Okabe and Ito's set, darkened).
constexpr Colour seriesColours[] = {{0, 114, 178}, {213, 94, 0},   {0, 138, 100}, {184, 84, 148},
                                    {190, 130, 0}, {70, 160, 213}, {96, 96, 96},  {142, 52, 38}};
constexpr size_t colours = std::size(seriesColours);

/// Which way a mark of a series is drawn, since there may be more series than colours.
void drawMark(Canvas &canvas, size_t series, Dot at) {
  Colour colour = seriesColours[series % colours];
  canvas.disc(at, 4.2, colour);
  if (series / colours % 2 == 1)
    canvas.disc(at, 2.4, palette::paper);
}

struct Axis {
  double least, most;
  bool isLogarithmic;

  bool ends(double value) const { return value > most; }
  /// From 0 to 1: what lies beyond the axis stands at its end.
  double share(double value) const {
    value = std::clamp(value, least, most);
    if (isLogarithmic)
      return std::log(value / least) / std::log(most / least);
    return (value - least) / (most - least);
  }
};

struct Plane {
  std::string title, unit;
  Axis horizontal, vertical;
  std::vector<double> ticks;
  double FrontierPoint::*value;
  double left, top;

  Dot place(const FrontierPoint &point) const {
    return {left + horizontal.share(point.density) * planeWidth,
            top + (1 - vertical.share(point.*value)) * planeHeight};
  }
};

std::string percent(double share) {
  double value = share * 100;
  return value > 0 && value < 1 ? llvm::formatv("{0:F1} %", value).str()
                                : llvm::formatv("{0:F0} %", value).str();
}

/// 1, 2 and 5 times powers of ten within the axis.
std::vector<double> densityTicks(const Axis &axis) {
  std::vector<double> ticks;
  for (int exponent : {-4, -3, -2, -1, 0})
    for (double factor : {1.0, 2.0, 5.0})
      if (double tick = factor * std::pow(10, exponent);
          tick >= axis.least * 0.999 && tick <= axis.most)
        ticks.push_back(tick);
  return ticks;
}

/// The axis over all values with some room, and round ticks on it. It ends a bit above dense
/// attention: what is worse would press all else together.
Axis bitsAxis(const FrontierPicture &picture, std::vector<double> &ticks) {
  double least = picture.dense ? picture.dense->bitsPerByte : INFINITY;
  double most = picture.dense ? picture.dense->bitsPerByte : -INFINITY;
  for (const FrontierSeries &series : picture.series)
    for (const FrontierPoint &point : series.points) {
      least = std::min(least, point.bitsPerByte);
      most = std::max(most, point.bitsPerByte);
    }
  if (least > most)
    least = most = 0; // nothing ran
  if (picture.dense)
    most = std::min(most, picture.dense->bitsPerByte + 0.6);
  double room = std::max((most - least) * 0.06, 0.01);
  Axis axis{least - room, most + room, /*isLogarithmic=*/false};
  double step = std::pow(10, std::floor(std::log10(axis.most - axis.least)));
  while ((axis.most - axis.least) / step < 4)
    step /= 2;
  auto first = static_cast<int64_t>(std::ceil(axis.least / step));
  for (int64_t i = first; double(i) * step <= axis.most; ++i)
    ticks.push_back(double(i) * step);
  return axis;
}

double leastDensity(const FrontierPicture &picture) {
  double least = 0.5;
  for (const FrontierSeries &series : picture.series)
    for (const FrontierPoint &point : series.points)
      least = std::min(least, point.density);
  return std::max(least * 0.8, 1e-4);
}

void drawAxes(Canvas &canvas, const Plane &plane, const FrontierPicture &picture) {
  canvas.text(plane.left, plane.top - 10, plane.title, {.size = 12, .bold = true});
  for (double tick : densityTicks(plane.horizontal)) {
    double x = plane.left + plane.horizontal.share(tick) * planeWidth;
    canvas.line(x, plane.top, x, plane.top + planeHeight, palette::skipped, 0.8);
    canvas.text(x, plane.top + planeHeight + 15, percent(tick), {9, faintInk, Align::Centre});
  }
  for (double tick : plane.ticks) {
    double y = plane.top + (1 - plane.vertical.share(tick)) * planeHeight;
    canvas.line(plane.left, y, plane.left + planeWidth, y, palette::skipped, 0.8);
    canvas.text(plane.left - 6, y + 3,
                plane.unit.empty() ? percent(tick) : llvm::formatv("{0:F3}", tick).str(),
                {9, faintInk, Align::Right});
  }
  canvas.frame(plane.left, plane.top, planeWidth, planeHeight, faintInk);
  canvas.text(plane.left + planeWidth / 2, plane.top + planeHeight + 34,
              "density: kept pairs of the visible ones (logarithmic) \xE2\x86\x92",
              {.size = 10, .align = Align::Centre});
  if (!picture.dense)
    return;
  double y = plane.place(*picture.dense).y;
  canvas.line(plane.left, y, plane.left + planeWidth, y, ink, 1.2);
  canvas.text(plane.left + 6, y - 5, "dense", {9.5, ink});
}

void drawSeries(Canvas &canvas, const Plane &plane, const FrontierSeries &series, size_t number) {
  std::vector<Dot> dots;
  dots.reserve(series.points.size());
  for (const FrontierPoint &point : series.points)
    dots.push_back(plane.place(point));
  canvas.polyline(dots, seriesColours[number % colours], 1.6);
  for (size_t i = 0; i < dots.size(); ++i) {
    drawMark(canvas, number, dots[i]);
    std::string label = series.points[i].label;
    if (double value = series.points[i].*plane.value; plane.vertical.ends(value))
      label += llvm::formatv("{0}at {1:F2}", label.empty() ? "" : ", ", value);
    if (!label.empty())
      canvas.text(dots[i].x + 6, dots[i].y + 11, label, {8, seriesColours[number % colours]});
  }
}

void drawLegend(Canvas &canvas, const FrontierPicture &picture) {
  for (size_t i = 0; i < picture.series.size(); ++i) {
    auto [line, column] = std::div(static_cast<int64_t>(i), legendColumns);
    double x = margin + double(column) * legendColumn;
    double y = legendTop + double(line) * legendLine;
    drawMark(canvas, i, {x + 6, y - 4});
    canvas.text(x + 17, y, picture.series[i].name, {});
  }
}

} // namespace

llvm::Error draw(const FrontierPicture &picture, llvm::StringRef path) {
  auto lines = (static_cast<int64_t>(picture.series.size()) + legendColumns - 1) / legendColumns;
  double top = legendTop + double(lines) * legendLine + planeTitle;
  Axis density{leastDensity(picture), 1.08, /*isLogarithmic=*/true};
  std::vector<double> bitsTicks;
  Axis bits = bitsAxis(picture, bitsTicks);
  Plane planes[] = {{"retrieval: questions answered exactly",
                     "",
                     density,
                     {-0.04, 1.08, /*isLogarithmic=*/false},
                     {0, 0.2, 0.4, 0.6, 0.8, 1},
                     &FrontierPoint::retrieval,
                     margin + axisWidth,
                     top},
                    {"bits per byte of the text, less is better", "bits", density, bits, bitsTicks,
                     &FrontierPoint::bitsPerByte, 2 * (margin + axisWidth) + planeWidth, top}};
  return drawFile(path, width, top + planeHeight + axisHeight, [&](Canvas &canvas) {
    canvas.text(margin, 34, picture.title, {.size = 18, .bold = true});
    canvas.text(margin, 54, picture.subtitle, {11, faintInk});
    drawLegend(canvas, picture);
    for (const Plane &plane : planes) {
      drawAxes(canvas, plane, picture);
      for (size_t i = 0; i < picture.series.size(); ++i)
        drawSeries(canvas, plane, picture.series[i], i);
    }
  });
}

} // namespace skim::tool
