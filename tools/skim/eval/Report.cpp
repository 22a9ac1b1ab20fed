#include "tools/skim/eval/Report.h"

#include "tools/skim/eval/FrontierPicture.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>

namespace skim::tool {
namespace {

std::string percent(double share) {
  return std::isfinite(share) ? llvm::formatv("{0:F1} %", share * 100).str() : "no number";
}

/// JSON knows finite numbers alone.
llvm::json::Value orNull(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
}

std::string callOf(const Point &point) { return callText(point.source->entry(), point.settings); }

llvm::StringRef deviceName(const AttentionSetup &setup) { return deviceName(setup.device); }

/// `0, 1, 2:3`: layers, then heads.
std::string denseParts(const AttentionSetup &setup) {
  std::vector<std::string> parts;
  parts.reserve(setup.denseLayers.size() + setup.denseHeads.size());
  for (int64_t layer : setup.denseLayers)
    parts.push_back("layer " + std::to_string(layer));
  for (auto [layer, head] : setup.denseHeads)
    parts.push_back("head " + std::to_string(layer) + ":" + std::to_string(head));
  return llvm::join(parts, ", ");
}

std::string massText(const AttentionSetup &setup, int64_t context) {
  if (setup.massRows == 0)
    return "not taken";
  if (setup.massRows >= context)
    return "over all rows";
  return llvm::formatv("over {0} of {1} rows of a prompt, at even distances", setup.massRows,
                       context);
}

std::string promptsText(const ReportHead &head, size_t prompts) {
  return llvm::formatv("{0} prompt{1} of {2} tokens, {3} key/value pair{4} in each", prompts,
                       prompts == 1 ? "" : "s", head.context, head.pairs,
                       head.pairs == 1 ? "" : "s");
}

void printRow(llvm::raw_ostream &os, size_t width, const std::string &name,
              const PointResult &result, bool withMass) {
  os << llvm::left_justify(name, width) << "  ";
  if (!result.reason.empty()) {
    os << "not run: " << result.reason << '\n';
    return;
  }
  HeadTotals total = result.total();
  os << llvm::right_justify(percent(total.density()), 8)
     << llvm::right_justify(withMass ? percent(total.keptMass()) : "-", 11)
     << llvm::format("%11.4f", result.score.bitsPerByte())
     << llvm::right_justify(result.score.questions == 0 ? "-" : percent(result.score.retrieval()),
                            11)
     << '\n';
}

void printHeads(llvm::raw_ostream &os, const PointResult &result, bool withMass) {
  os << "\nlayer, and for each query head its density" << (withMass ? " and kept mass" : "")
     << ":\n";
  for (size_t layer = 0; layer < result.heads.size(); ++layer) {
    os << llvm::format("%5zu", layer);
    for (const HeadTotals &head : result.heads[layer]) {
      os << llvm::right_justify(percent(head.density()), 12);
      if (withMass)
        os << llvm::right_justify(percent(head.keptMass()), 9);
    }
    os << '\n';
  }
}

void writePoint(llvm::json::OStream &json, const PointResult &result, bool withMass) {
  if (!result.reason.empty()) {
    json.attribute("reason", result.reason);
    return;
  }
  HeadTotals total = result.total();
  json.attribute("bits_per_byte", orNull(result.score.bitsPerByte()));
  json.attribute("retrieval", result.score.questions == 0
                                  ? llvm::json::Value(nullptr)
                                  : llvm::json::Value(result.score.retrieval()));
  json.attribute("questions", result.score.questions);
  json.attribute("answered", result.score.answered);
  json.attribute("density", total.density());
  json.attribute("kept_mass", withMass ? orNull(total.keptMass()) : nullptr);
  auto perHead = [&](llvm::StringRef name, auto value) {
    json.attributeArray(name, [&] {
      for (const std::vector<HeadTotals> &layer : result.heads)
        json.value(llvm::json::Array(llvm::map_range(layer, value)));
    });
  };
  perHead("density_per_head", [](const HeadTotals &head) { return head.density(); });
  if (withMass)
    perHead("kept_mass_per_head", [](const HeadTotals &head) { return orNull(head.keptMass()); });
}

} // namespace

llvm::Error drawFrontier(llvm::StringRef path, const ReportHead &head, llvm::ArrayRef<Point> points,
                         const Measurement &measurement) {
  auto place = [](const PointResult &result, std::string label) {
    return FrontierPoint{std::move(label), result.total().density(), result.score.retrieval(),
                         result.score.bitsPerByte()};
  };
  FrontierPicture picture;
  picture.title = "What patterns keep, and what the model still finds";
  picture.subtitle = promptsText(head, measurement.prompts.size());
  if (measurement.dense)
    picture.dense = place(*measurement.dense, "");
  const PatternSource *last = nullptr;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!measurement.points[i].reason.empty())
      continue;
    if (points[i].source != last)
      picture.series.push_back({points[i].source->entry().name, {}});
    last = points[i].source;
    picture.series.back().points.push_back(place(measurement.points[i], points[i].swept));
  }
  return draw(picture, path);
}

void printTable(llvm::raw_ostream &os, const ReportHead &head, llvm::ArrayRef<Point> points,
                const Measurement &measurement) {
  bool withMass = head.setup.massRows > 0;
  os << promptsText(head, measurement.prompts.size())
     << llvm::formatv(", seed {0}; {1} on {2}, kept mass {3}\n", head.seed,
                      dtypeName(head.setup.dtype), deviceName(head.setup),
                      massText(head.setup, head.context));
  if (std::string parts = denseParts(head.setup); !parts.empty())
    os << "dense: " << parts << '\n';
  size_t width = 7;
  for (const Point &point : points)
    width = std::max(width, callOf(point).size());
  os << '\n'
     << llvm::left_justify("pattern", width) << "   density  kept mass  bits/byte  retrieval\n";
  if (measurement.dense)
    printRow(os, width, "dense", *measurement.dense, withMass);
  for (size_t i = 0; i < points.size(); ++i)
    printRow(os, width, callOf(points[i]), measurement.points[i], withMass);
  if (points.size() == 1 && measurement.points[0].reason.empty())
    printHeads(os, measurement.points[0], withMass);
}

void printJson(llvm::raw_ostream &os, const ReportHead &head, llvm::ArrayRef<Point> points,
               const Measurement &measurement) {
  bool withMass = head.setup.massRows > 0;
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("model", head.model);
    json.attribute("text", head.text);
    json.attribute("context", head.context);
    json.attribute("prompts", int64_t(measurement.prompts.size()));
    json.attribute("pairs", head.pairs);
    json.attribute("seed", head.seed);
    json.attribute("device", deviceName(head.setup));
    json.attribute("dtype", dtypeName(head.setup.dtype));
    json.attribute("mass_rows", std::min(head.setup.massRows, head.context));
    json.attribute("dense_layers", llvm::json::Array(head.setup.denseLayers));
    json.attributeArray("dense_heads", [&] {
      for (auto [layer, number] : head.setup.denseHeads)
        json.value(llvm::json::Array{layer, number});
    });
    json.attributeBegin("dense");
    if (measurement.dense)
      json.object([&] { writePoint(json, *measurement.dense, withMass); });
    else
      json.value(nullptr);
    json.attributeEnd();
    json.attributeArray("points", [&] {
      for (size_t i = 0; i < points.size(); ++i)
        json.object([&] {
          json.attribute("pattern", points[i].source->entry().name);
          json.attribute("call", callOf(points[i]));
          writePoint(json, measurement.points[i], withMass);
        });
    });
  });
  os << '\n';
}

} // namespace skim::tool
