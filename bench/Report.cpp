#include "bench/Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/TargetParser/Host.h"

namespace skim::bench {
namespace {

std::string milliseconds(double seconds) { return llvm::formatv("{0:F1} ms", seconds * 1e3); }

llvm::json::Value orNull(const std::optional<double> &value) {
  return value ? llvm::json::Value(*value) : llvm::json::Value(nullptr);
}

std::string ratioText(const Row &row) {
  if (!row.ratio)
    return "-";
  return llvm::formatv(row.beside == "dense" ? "{0:F3}" : "{0:F2}x", *row.ratio);
}

std::string barText(const Row &row) {
  std::optional<bool> meets = row.meetsBar();
  if (!meets)
    return "-";
  return llvm::formatv("{0} {1:F2}: {2}", row.bar->atLeast ? ">=" : "<=", row.bar->value,
                       *meets ? "met" : "missed");
}

} // namespace

void printTable(llvm::raw_ostream &os, const SuiteResult &result) {
  const Geometry &geometry = result.geometry;
  os << llvm::formatv("prefill of {0} tokens, {1} query and {2} KV heads of dimension {3}, causal; "
                      "{4} thread{5}, median of {6}\n",
                      geometry.tokens, geometry.queryHeads, geometry.kvHeads, geometry.headDim,
                      result.threads, result.threads == 1 ? "" : "s", result.repeats);
  os << "device " << llvm::sys::getHostCPUName();
  if (!result.peer.empty())
    os << "; beside " << result.peer << ' ' << result.peerVersion << ", " << result.peerKernel;
  os << llvm::formatv("; load {0:F1} before, {1:F1} after\n\n", result.loadBefore,
                      result.loadAfter);
  os << "row                      type  tiles        time  beside               ratio  bar"
        "              error\n";
  for (const Row &row : result.rows) {
    std::string beside =
        row.beside.empty() ? "-" : row.beside + " " + milliseconds(row.besideSeconds);
    os << llvm::left_justify(row.name, 24) << ' ' << llvm::left_justify(dtypeName(row.dtype), 4)
       << llvm::right_justify(llvm::formatv("{0:F1}%", row.tiles * 100).str(), 7)
       << llvm::right_justify(milliseconds(row.seconds), 12) << "  "
       << llvm::left_justify(beside, 18) << llvm::right_justify(ratioText(row), 8) << "  "
       << llvm::left_justify(barText(row), 16) << ' ' << llvm::format("%.1e", row.referenceError)
       << '\n';
  }
  os << "\ntiles: visited key tiles of those that dense attention visits; ratio: speed of dense "
        "attention over the peer's,\notherwise time over that of dense attention; error: max |out "
        "- reference| / max |reference| of the worst head.\n";
  if (geometry != Geometry())
    os << llvm::formatv("no bars: they are stated for prompts of {0} tokens.\n", Geometry().tokens);
}

void printJson(llvm::raw_ostream &os, const SuiteResult &result) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("suite", "cpu");
    json.attribute("device", llvm::sys::getHostCPUName());
    json.attribute("tokens", result.geometry.tokens);
    json.attribute("query_heads", result.geometry.queryHeads);
    json.attribute("kv_heads", result.geometry.kvHeads);
    json.attribute("head_dim", result.geometry.headDim);
    json.attribute("threads", result.threads);
    json.attribute("repeats", result.repeats);
    auto text = [](const std::string &value) {
      return value.empty() ? llvm::json::Value(nullptr) : llvm::json::Value(value);
    };
    json.attribute("peer", text(result.peer));
    json.attribute("peer_version", text(result.peerVersion));
    json.attribute("peer_kernel", text(result.peerKernel));
    json.attribute("load_before", result.loadBefore);
    json.attribute("load_after", result.loadAfter);
    json.attributeArray("rows", [&] {
      for (const Row &row : result.rows)
        json.object([&] {
          json.attribute("name", row.name);
          json.attribute("dtype", dtypeName(row.dtype));
          json.attribute("tiles", row.tiles);
          json.attribute("seconds", row.seconds);
          json.attribute("fastest_seconds", row.fastestSeconds);
          json.attribute("selection_seconds", row.selectionSeconds);
          bool alone = row.beside.empty();
          json.attribute("beside", text(row.beside));
          json.attribute("beside_seconds", alone ? nullptr : llvm::json::Value(row.besideSeconds));
          json.attribute("beside_fastest_seconds",
                         alone ? nullptr : llvm::json::Value(row.besideFastestSeconds));
          json.attribute("ratio", orNull(row.ratio));
          json.attribute("bar", row.bar ? llvm::json::Value(row.bar->value) : nullptr);
          std::optional<bool> meets = row.meetsBar();
          json.attribute("meets_bar", meets ? llvm::json::Value(*meets) : nullptr);
          json.attribute("reference_error", row.referenceError);
          json.attribute("peer_error", orNull(row.peerError));
        });
    });
  });
  os << '\n';
}

} // namespace skim::bench
