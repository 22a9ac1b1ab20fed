// Which pages of a pool are free, and how many holders each other one has. Knows page numbers
// alone, so that it serves pages in any memory.
#ifndef SKIM_RUNTIME_PAGEALLOCATOR_H
#define SKIM_RUNTIME_PAGEALLOCATOR_H

#include <cstdint>
#include <vector>

namespace skim {

class PageAllocator {
public:
  explicit PageAllocator(int64_t pages);

  int64_t pages() const { return static_cast<int64_t>(holders_.size()); }
  int64_t freePages() const { return static_cast<int64_t>(free_.size()); }
  int64_t sharedPages() const { return shared_; }
  bool isShared(int32_t page) const { return holders_[page] > 1; }

  /// A free page, now with one holder; only where `freePages() > 0`.
  int32_t take();
  /// One more holder of a page that is not free.
  void share(int32_t page);
  /// One holder less.
  void release(int32_t page);

private:
  std::vector<int32_t> free_; ///< the last is taken next
  std::vector<int32_t> holders_;
  int64_t shared_ = 0;
};

} // namespace skim

#endif // SKIM_RUNTIME_PAGEALLOCATOR_H
