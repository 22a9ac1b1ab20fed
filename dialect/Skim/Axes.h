// The axes of maps and sets: on what a value depends, and in which blocks.
#ifndef SKIM_DIALECT_SKIM_AXES_H
#define SKIM_DIALECT_SKIM_AXES_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace skim::ir {

/// Ordered: a later one covers less, and holds for all heads of an earlier one.
enum class HeadAxis { None, KvHead, Head };

/// What a cell of a map holds.
enum class Element { Vec, F32, Index, Bool };

llvm::StringRef toString(Element element);
std::optional<Element> parseElement(llvm::StringRef name);

/// Block sizes are in positions: 1 is token granularity, 0 means that the axis is absent.
struct Axes {
  HeadAxis head = HeadAxis::None;
  int64_t query = 0;
  int64_t key = 0;
  /// The axis `q - k`.
  bool diagonal = false;

  static Axes none() { return {}; }
  static Axes tokens(HeadAxis head = HeadAxis::None) { return {head, 1, 1, false}; }

  bool hasPositions() const { return query != 0 || key != 0 || diagonal; }
  Axes withHead(HeadAxis newHead) const { return {newHead, query, key, diagonal}; }

  friend bool operator==(const Axes &, const Axes &) = default;
  // The name that llvm::hash_combine looks up. NOLINTNEXTLINE(readability-identifier-naming)
  friend llvm::hash_code hash_value(const Axes &axes) {
    return llvm::hash_combine(static_cast<int>(axes.head), axes.query, axes.key, axes.diagonal);
  }
};

/// As a type writes them: `head, q / 128, k`.
std::string toString(const Axes &axes);
/// `q / 128`, `q`.
std::string queryAxisName(int64_t block);
std::string keyAxisName(int64_t block);

} // namespace skim::ir

#endif // SKIM_DIALECT_SKIM_AXES_H
