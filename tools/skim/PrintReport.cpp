#include "tools/skim/PrintReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>

namespace skim::tool {
namespace {

/// `value` in units of `unit`; with "<=" where it is the most that may be.
std::string amount(double value, bool exact, double unit = 1e6) {
  std::string text;
  llvm::raw_string_ostream(text) << (exact ? "" : "<= ") << llvm::format("%.3f", value / unit);
  return text;
}

std::string percent(double part, double whole, bool exact) {
  return llvm::formatv("{0}{1:F1} %", exact ? "" : "<= ", whole == 0 ? 0 : 100 * part / whole);
}

/// Columns side by side: the first and, where asked for, the last are left-aligned.
class Table {
public:
  explicit Table(bool endsInText = false) : endsInText(endsInText) {}

  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  void print(llvm::raw_ostream &os) const {
    std::vector<size_t> widths;
    for (const std::vector<std::string> &row : rows)
      for (size_t i = 0; i < row.size(); ++i) {
        widths.resize(std::max(widths.size(), row.size()));
        widths[i] = std::max(widths[i], row[i].size());
      }
    for (const std::vector<std::string> &row : rows) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        line.append(i == 0 ? "" : "  ");
        auto width = static_cast<unsigned>(widths[i]);
        llvm::raw_string_ostream stream(line);
        if (i == 0 || (endsInText && i + 1 == row.size()))
          stream << llvm::left_justify(row[i], width);
        else
          stream << llvm::right_justify(row[i], width);
      }
      os << llvm::StringRef(line).rtrim() << '\n';
    }
  }

private:
  bool endsInText;
  std::vector<std::vector<std::string>> rows;
};

std::string placeText(const SourcePlace &place) {
  if (place.line == 0)
    return "";
  return llvm::formatv("{0}:{1}:{2}: ", place.path, place.line, place.column);
}

int64_t valueDim(const CompileOptions &problem) {
  return problem.valueDim == 0 ? problem.headDim : problem.valueDim;
}

std::vector<std::string> costCells(const Cost &most, const Cost &least, double denseFlops) {
  auto cell = [](double high, double low, double unit) { return amount(high, high == low, unit); };
  return {cell(most.flops, least.flops, 1e9),
          percent(most.flops, denseFlops, most.flops == least.flops),
          cell(most.exponentials, least.exponentials, 1e6),
          cell(most.bytesRead, least.bytesRead, 1e6),
          cell(most.bytesWritten, least.bytesWritten, 1e6),
          cell(most.scratchBytes, least.scratchBytes, 1e6)};
}

void printKernels(llvm::raw_ostream &os, const Report &report) {
  Table table;
  table.add({"kernel", "line", "items", "GFLOP", "of dense", "M exp", "MB read", "MB written",
             "MB scratch"});
  auto addRow = [&](std::string name, std::string line, std::string items, const Cost &most,
                    const Cost &least) {
    std::vector<std::string> row = {std::move(name), std::move(line), std::move(items)};
    llvm::append_range(row, costCells(most, least, report.denseFlops));
    table.add(std::move(row));
  };
  for (const KernelReport &kernel : report.kernels)
    addRow(kernel.name, kernel.source.line == 0 ? "" : std::to_string(kernel.source.line),
           std::to_string(kernel.workItems), kernel.most, kernel.least);
  addRow("total", "", "", report.most(), report.least());
  table.print(os);

  const KernelReport &attention = report.kernels.back();
  os << '\n';
  if (attention.isExact())
    os << llvm::formatv("{0}: {1:F0} tiles of keys, exact: positions alone decide\n",
                        attention.name, attention.mostTiles);
  else
    os << llvm::formatv(
        "{0}: at most {1} GFLOP in {2:F0} tiles of keys (all that causality admits to run-time "
        "values),\n  at least {3} GFLOP in {4:F0} tiles (what positions alone decide)\n",
        attention.name, amount(attention.most.flops, true, 1e9), attention.mostTiles,
        amount(attention.least.flops, true, 1e9), attention.leastTiles);
}

void printWorkspace(llvm::raw_ostream &os, const Report &report) {
  os << llvm::formatv("\nworkspace: {0} bytes, scratch for {1} worker{2}\n", report.workspaceBytes,
                      report.call.workers, report.call.workers == 1 ? "" : "s");
  if (report.buffers.empty())
    return;
  Table table(/*endsInText=*/true);
  for (const BufferReport &buffer : report.buffers) {
    std::string what;
    if (buffer.perWorker)
      what = llvm::formatv("{0} a worker", buffer.bytes / report.call.workers);
    else
      what = buffer.zeroed ? "shared, cleared before each run" : "shared";
    table.add({"  " + buffer.name, std::to_string(buffer.bytes), what});
  }
  table.print(os);
}

void printRemarks(llvm::raw_ostream &os, const std::vector<Remark> &remarks) {
  for (const Remark &remark : remarks) {
    os << "  " << placeText(remark.source) << remark.text << '\n';
    for (const std::string &note : remark.notes)
      os << "    " << note << '\n';
  }
}

void printInvariance(llvm::raw_ostream &os, const Report &report) {
  os << "\nbatch invariance: holds; no result depends on the rest of the batch\n";
  if (!report.chunkBreakers.empty()) {
    os << "chunk invariance: broken; results depend on how a prompt is cut\n";
    printRemarks(os, report.chunkBreakers);
  } else if (report.chunkMultiple == 1) {
    os << "chunk invariance: holds, wherever chunks end\n";
  } else {
    os << llvm::formatv("chunk invariance: holds where chunks end on multiples of {0} positions\n",
                        report.chunkMultiple);
  }
}

/// A count: whole, as long as JSON's readers can hold it.
llvm::json::Value count(double value) {
  constexpr double kExact = 9007199254740992.0;
  if (value < kExact)
    return static_cast<int64_t>(value);
  return value;
}

void writeCost(llvm::json::OStream &json, const Cost &cost) {
  json.attribute("flops", count(cost.flops));
  json.attribute("exponentials", count(cost.exponentials));
  json.attribute("bytes_read", count(cost.bytesRead));
  json.attribute("bytes_written", count(cost.bytesWritten));
  json.attribute("scratch_bytes", count(cost.scratchBytes));
}

void writeCosts(llvm::json::OStream &json, const Cost &most, const Cost &least) {
  json.attribute("exact", most == least);
  json.attributeObject("at_most", [&] { writeCost(json, most); });
  json.attributeObject("at_least", [&] { writeCost(json, least); });
}

void writePlace(llvm::json::OStream &json, const SourcePlace &place) {
  json.attribute("file", place.line == 0 ? llvm::json::Value(nullptr) : place.path);
  json.attribute("line", place.line == 0 ? llvm::json::Value(nullptr) : place.line);
  json.attribute("column", place.line == 0 ? llvm::json::Value(nullptr) : place.column);
}

void writeRemarks(llvm::json::OStream &json, llvm::StringRef name,
                  const std::vector<Remark> &remarks, llvm::StringRef text) {
  json.attributeArray(name, [&] {
    for (const Remark &remark : remarks)
      json.object([&] {
        writePlace(json, remark.source);
        json.attribute(text, remark.text);
        json.attribute("notes", llvm::json::Array(remark.notes));
      });
  });
}

void writeKernels(llvm::json::OStream &json, const Report &report) {
  json.attributeArray("kernels", [&] {
    for (const KernelReport &kernel : report.kernels)
      json.object([&] {
        json.attribute("name", kernel.name);
        writePlace(json, kernel.source);
        json.attribute("work_items", kernel.workItems);
        json.attribute("tiles_at_most", count(kernel.mostTiles));
        json.attribute("tiles_at_least", count(kernel.leastTiles));
        writeCosts(json, kernel.most, kernel.least);
      });
  });
  json.attributeObject("total", [&] { writeCosts(json, report.most(), report.least()); });
  json.attribute("dense_flops", count(report.denseFlops));
}

} // namespace

void printReport(llvm::raw_ostream &os, const Report &report, llvm::StringRef call,
                 const CompileOptions &problem) {
  os << llvm::formatv("{0}: {1} query and {2} KV heads of dimension {3}", call, problem.queryHeads,
                      problem.kvHeads, problem.headDim);
  if (valueDim(problem) != problem.headDim)
    os << ", values of " << valueDim(problem);
  os << llvm::formatv(", {0}; {1} queries over {2} keys\n\n", dtypeName(problem.dtype),
                      report.call.tokens, report.call.context);
  printKernels(os, report);
  os << llvm::formatv("dense attention: {0} GFLOP in the same tiles\n",
                      amount(report.denseFlops, true, 1e9));
  printWorkspace(os, report);
  printInvariance(os, report);
  if (!report.warnings.empty()) {
    os << "\nwarnings: legal and costly, or worth a look\n";
    printRemarks(os, report.warnings);
  }
}

void printReportJson(llvm::raw_ostream &os, const Report &report, llvm::StringRef call,
                     const CompileOptions &problem) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("pattern", report.pattern);
    json.attribute("call", call);
    json.attribute("target", problem.target);
    json.attribute("query_heads", problem.queryHeads);
    json.attribute("kv_heads", problem.kvHeads);
    json.attribute("head_dim", problem.headDim);
    json.attribute("value_dim", valueDim(problem));
    json.attribute("dtype", dtypeName(problem.dtype));
    json.attribute("tokens", report.call.tokens);
    json.attribute("context", report.call.context);
    json.attribute("workers", report.call.workers);
    writeKernels(json, report);
    json.attributeObject("workspace", [&] {
      json.attribute("bytes", report.workspaceBytes);
      json.attributeArray("buffers", [&] {
        for (const BufferReport &buffer : report.buffers)
          json.object([&] {
            json.attribute("name", buffer.name);
            json.attribute("bytes", buffer.bytes);
            json.attribute("per_worker", buffer.perWorker);
            json.attribute("cleared", buffer.zeroed);
          });
      });
    });
    json.attribute("batch_invariant", true);
    json.attributeObject("chunk_invariance", [&] {
      json.attribute("holds", report.chunkBreakers.empty());
      json.attribute("multiple", report.chunkBreakers.empty()
                                     ? llvm::json::Value(report.chunkMultiple)
                                     : llvm::json::Value(nullptr));
      writeRemarks(json, "broken_by", report.chunkBreakers, "reason");
    });
    writeRemarks(json, "warnings", report.warnings, "message");
  });
  os << '\n';
}

} // namespace skim::tool
