// Memory for the workspace of a plan.
#ifndef SKIM_WORKSPACEMEMORY_H
#define SKIM_WORKSPACEMEMORY_H

#include <skim/Kernel.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace skim {

/// `bytes` of memory at the alignment that plans ask for, not initialised.
class WorkspaceMemory {
public:
  explicit WorkspaceMemory(int64_t bytes)
      : storage_(std::make_unique_for_overwrite<std::byte[]>(
            static_cast<size_t>(bytes + Plan::kWorkspaceAlignment))),
        bytes_(static_cast<size_t>(bytes)) {}

  std::span<std::byte> span() const {
    void *start = storage_.get();
    size_t room = bytes_ + Plan::kWorkspaceAlignment;
    return {static_cast<std::byte *>(std::align(Plan::kWorkspaceAlignment, bytes_, start, room)),
            bytes_};
  }

private:
  std::unique_ptr<std::byte[]> storage_;
  size_t bytes_;
};

} // namespace skim

#endif // SKIM_WORKSPACEMEMORY_H
