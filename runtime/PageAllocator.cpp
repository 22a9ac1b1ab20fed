#include "runtime/PageAllocator.h"

#include <cstddef>
#include <numeric>

namespace skim {

PageAllocator::PageAllocator(int64_t pages)
    : free_(static_cast<size_t>(pages)), holders_(static_cast<size_t>(pages)) {
  std::iota(free_.rbegin(), free_.rend(), 0); // low numbers first
}

int32_t PageAllocator::take() {
  const int32_t page = free_.back();
  free_.pop_back();
  holders_[page] = 1;
  return page;
}

void PageAllocator::share(int32_t page) {
  if (++holders_[page] == 2)
    ++shared_;
}

void PageAllocator::release(int32_t page) {
  const int32_t left = --holders_[page];
  if (left == 1)
    --shared_;
  if (left == 0)
    free_.push_back(page);
}

} // namespace skim
