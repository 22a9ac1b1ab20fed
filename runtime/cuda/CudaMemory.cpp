#include <skim/CudaMemory.h>

#include "runtime/TensorCheck.h"
#include "runtime/cuda/DeviceMemory.h"

#include <string>
#include <utility>

namespace skim {

CudaMemory::CudaMemory(std::unique_ptr<cuda::DeviceArena> arena) : arena_(std::move(arena)) {}
CudaMemory::CudaMemory(CudaMemory &&) noexcept = default;
CudaMemory &CudaMemory::operator=(CudaMemory &&) noexcept = default;
CudaMemory::~CudaMemory() = default;

Expected<CudaMemory> CudaMemory::open(int device) {
  Expected<std::shared_ptr<const cuda::Device>> opened = cuda::Device::open(device);
  if (!opened)
    return opened.status();
  Expected<std::unique_ptr<cuda::DeviceArena>> arena =
      cuda::DeviceArena::create(*std::move(opened));
  if (!arena)
    return arena.status();
  return CudaMemory(*std::move(arena));
}

void *CudaMemory::stream() const { return arena_->stream(); }

Expected<std::span<std::byte>> CudaMemory::allocate(int64_t bytes) {
  if (bytes < 0)
    return expectedButGot({"", "bytes"}, "0 or more", std::to_string(bytes));
  return arena_->allocate(static_cast<size_t>(bytes));
}

Expected<TensorView> CudaMemory::like(const TensorView &host) { return arena_->like(host); }
Expected<TensorView> CudaMemory::copyIn(const TensorView &host) { return arena_->copyIn(host); }

Status CudaMemory::copyOut(const TensorView &onDevice, std::span<std::byte> host) {
  const ByteRange range = byteRange(onDevice);
  if (!onDevice.isEmpty() && host.size() != range.end - range.begin)
    return expectedButGot({"", "host"}, std::to_string(range.end - range.begin) + " bytes",
                          std::to_string(host.size()));
  return arena_->copyOut(onDevice, host);
}

} // namespace skim
