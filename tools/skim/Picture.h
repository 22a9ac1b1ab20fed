// The picture of a pattern: for each head the plane of query and key positions,
// drawn as SVG or PNG by the same code.
#ifndef SKIM_TOOLS_SKIM_PICTURE_H
#define SKIM_TOOLS_SKIM_PICTURE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skim::tool {

/// One head: which (query, key) pairs it keeps.
struct Panel {
  std::string title;
  /// Row-major bytes [queries, keys], 0 or not; row i is query position `base + i`.
  llvm::ArrayRef<uint8_t> kept;
  /// Fraction of the visible pairs that are kept.
  double density = 0;
  /// Share of dense attention that falls on kept keys, where it is known.
  std::optional<double> mass;
};

struct Picture {
  std::string title;
  std::string subtitle;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t base = 0;
  /// Rows and keys of the tiles that are told apart as full, partial and skipped.
  int64_t tileRows = 64;
  int64_t tileKeys = 64;
  bool causal = true;
  std::vector<Panel> panels;
};

/// Writes `path`, whose ending says the format: .svg or .png.
llvm::Error draw(const Picture &picture, llvm::StringRef path);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_PICTURE_H
