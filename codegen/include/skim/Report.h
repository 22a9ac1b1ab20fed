// What a compiled pattern costs, and what its results depend on: `skim compile --report` as plain
// data.
#ifndef SKIM_REPORT_H
#define SKIM_REPORT_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace skim {

/// The call that costs are counted for: one request.
struct ReportOptions {
  int64_t tokens = 8192;  ///< query rows, the last of the context
  int64_t context = 8192; ///< keys; at least `tokens`
  int64_t workers = 1;    ///< workers that have scratch of their own
  /// Values of launch parameters by name, one or one a query head; those left out take their
  /// defaults.
  std::map<std::string, std::vector<double>> parameters;

  static constexpr int64_t kLargestContext = int64_t(1) << 20;
};

/// Counts as whole numbers, exact up to 2^53.
struct Cost {
  double flops = 0;        ///< of products of vectors: 2 for each multiplication and its addition
  double exponentials = 0; ///< exp, log and tanh
  double bytesRead = 0;    ///< operands, inputs and buffers that kernels share
  double bytesWritten = 0; ///< results and buffers that kernels share
  double scratchBytes = 0; ///< read and written in the scratch of workers

  Cost &operator+=(const Cost &other);
  Cost operator*(double times) const;
  bool operator==(const Cost &) const = default;
};

/// Where in the pattern's text something comes from; line 0: nowhere.
struct SourcePlace {
  std::string path;
  int64_t line = 0, column = 0;
};

struct KernelReport {
  std::string name;
  SourcePlace source;
  int64_t workItems = 0;
  /// `least` is what the closed forms alone ask for, `most` adds all tiles that run-time values may
  /// choose, up to all that causality admits. Equal where positions alone decide.
  Cost least, most;
  /// Key tiles of tokens that products with queries visit, over all work items.
  double leastTiles = 0, mostTiles = 0;

  bool isExact() const { return least == most; }
};

struct BufferReport {
  std::string name;
  int64_t bytes = 0; ///< of all workers, where each has its own
  bool perWorker = false;
  bool zeroed = false; ///< cleared before each run
};

/// Something to say about a place in the pattern.
struct Remark {
  SourcePlace source;
  std::string text;
  std::vector<std::string> notes;
};

struct Report {
  std::string pattern;
  ReportOptions call;
  std::vector<KernelReport> kernels; ///< in launch order; attention is the last
  /// Products of `keep true` with the tiles of this pattern's attention.
  double denseFlops = 0;
  int64_t workspaceBytes = 0;
  std::vector<BufferReport> buffers;
  /// What makes results depend on how a prompt was cut; empty where nothing does.
  std::vector<Remark> chunkBreakers;
  /// Where nothing does: chunks must end on a multiple of so many positions.
  int64_t chunkMultiple = 1;
  /// What is legal and costly.
  std::vector<Remark> warnings;

  Cost least() const;
  Cost most() const;
};

} // namespace skim

#endif // SKIM_REPORT_H
