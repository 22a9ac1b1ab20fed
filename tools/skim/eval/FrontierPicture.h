// The picture of a measurement: what patterns keep against what the model still does.
#ifndef SKIM_TOOLS_SKIM_EVAL_FRONTIERPICTURE_H
#define SKIM_TOOLS_SKIM_EVAL_FRONTIERPICTURE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace skim::tool {

struct FrontierPoint {
  std::string label; ///< The value that was swept; empty: none was.
  double density = 0;
  double retrieval = 0;
  double bitsPerByte = 0;
};

/// The points of one pattern, joined in their order.
struct FrontierSeries {
  std::string name;
  std::vector<FrontierPoint> points;
};

struct FrontierPicture {
  std::string title;
  std::string subtitle;
  std::vector<FrontierSeries> series;
  /// What dense attention reaches, drawn as a line.
  std::optional<FrontierPoint> dense;
};

/// Writes `path`, whose ending says the format: .svg or .png. Two planes over density, on a
/// logarithmic axis: retrieval, and bits per byte.
llvm::Error draw(const FrontierPicture &picture, llvm::StringRef path);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_FRONTIERPICTURE_H
