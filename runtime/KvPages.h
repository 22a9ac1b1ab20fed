// The memory of a paged KV cache on the host: slots written, read and copied. A pool in another
// memory space offers the same three operations; what page is whose does not depend on it.
#ifndef SKIM_RUNTIME_KVPAGES_H
#define SKIM_RUNTIME_KVPAGES_H

#include <skim/Operands.h>
#include <skim/TensorView.h>

#include <cstdint>
#include <span>

namespace skim {

/// Consecutive slots of one page.
struct SlotRange {
  int32_t page = 0;
  int64_t first = 0;
  int64_t count = 0;
};

/// Keys or values of all pages.
class KvPages {
public:
  KvPages() = default;
  /// `pages` has the shape of a paged layout and passed the checks of operands.
  KvPages(const TensorView &pages, KvLayout layout);

  const TensorView &view() const { return view_; }

  /// Rounds rows from `firstRow` of `rows` [tokens, heads, dim] into slots. FP8 holds quotients by
  /// `scales`, one a head, where there are any. Returns how many elements lay beyond the range.
  int64_t write(const SlotRange &slots, const TensorView &rows, int64_t firstRow,
                std::span<const float> scales) const;
  /// The inverse of `write`.
  void read(const SlotRange &slots, const TensorView &rows, int64_t firstRow,
            std::span<const float> scales) const;
  /// Copies slots to the same places of another page.
  void copy(const SlotRange &slots, int32_t toPage) const;

private:
  std::byte *row(int32_t page, int64_t slot, int64_t head) const;

  TensorView view_;
  int slotAxis_ = 1;
  int headAxis_ = 2;
};

} // namespace skim

#endif // SKIM_RUNTIME_KVPAGES_H
