#include "runtime/cuda/DeviceMemory.h"

#include "runtime/TensorCheck.h"

namespace skim::cuda {

DeviceArena::DeviceArena(std::shared_ptr<const Device> device)
    : device_(std::move(device)), current_(device_->api(), device_->context()) {}

Expected<std::unique_ptr<DeviceArena>> DeviceArena::create(std::shared_ptr<const Device> device) {
  constexpr unsigned kNonBlocking = 1;
  std::unique_ptr<DeviceArena> arena(new DeviceArena(std::move(device)));
  if (!arena->current_.status())
    return arena->current_.status();
  const DriverApi &api = arena->device_->api();
  if (Status status =
          api.check(api.streamCreate(&arena->stream_, kNonBlocking), "creating a stream");
      !status)
    return status;
  for (Event *event : {&arena->first_, &arena->last_})
    if (Status status = api.check(api.eventCreate(event, 0), "creating an event"); !status)
      return status;
  return arena;
}

DeviceArena::~DeviceArena() {
  const DriverApi &api = device_->api();
  if (stream_) {
    api.streamSynchronize(stream_);
    api.streamDestroy(stream_);
  }
  for (Event event : {first_, last_})
    if (event)
      api.eventDestroy(event);
  for (void *allocation : allocations_)
    api.memoryFree(allocation);
}

Expected<std::span<std::byte>> DeviceArena::allocate(size_t bytes) {
  if (bytes == 0)
    return std::span<std::byte>();
  void *pointer = nullptr;
  const std::string what = "allocating " + std::to_string(bytes) + " bytes";
  if (Status status =
          device_->api().check(device_->api().memoryAllocate(&pointer, bytes), what.c_str());
      !status)
    return status;
  allocations_.push_back(pointer);
  return std::span(static_cast<std::byte *>(pointer), bytes);
}

Expected<TensorView> DeviceArena::like(const TensorView &view) {
  if (!view.isPresent() || view.isEmpty())
    return view;
  const ByteRange range = byteRange(view);
  const Expected<std::span<std::byte>> memory = allocate(range.end - range.begin);
  if (!memory)
    return memory.status();
  TensorView result = view;
  result.data = memory->data() + (reinterpret_cast<uintptr_t>(view.data) - range.begin);
  return result;
}

Expected<TensorView> DeviceArena::copyIn(const TensorView &view) {
  Expected<TensorView> result = like(view);
  if (!result || result->data == view.data)
    return result;
  // From the first byte that the views cover, which strides below 0 put before their data.
  const ByteRange range = byteRange(view);
  const auto before = static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(view.data) - range.begin);
  const DriverApi &api = device_->api();
  if (Status status = api.check(api.copyToDevice(static_cast<std::byte *>(result->data) - before,
                                                 static_cast<std::byte *>(view.data) - before,
                                                 range.end - range.begin),
                                "copying to the device");
      !status)
    return status;
  // Such a copy may end after its call, and the stream does not wait for the default one.
  if (Status status = api.check(api.streamSynchronize(nullptr), "copying to the device"); !status)
    return status;
  return result;
}

Status DeviceArena::copyOut(const TensorView &view, std::span<std::byte> into) {
  if (view.isEmpty())
    return Status::ok();
  const DriverApi &api = device_->api();
  if (Status status = api.check(api.streamSynchronize(stream_), "waiting for the stream"); !status)
    return status;
  return api.check(api.copyToHost(into.data(), view.data, into.size()), "copying from the device");
}

Status DeviceArena::mark(Event event) {
  return device_->api().check(device_->api().eventRecord(event, stream_), "recording an event");
}

Expected<double> DeviceArena::elapsed() {
  const DriverApi &api = device_->api();
  if (Status status = mark(last_); !status)
    return status;
  if (Status status = api.check(api.eventSynchronize(last_), "waiting for an event"); !status)
    return status;
  float milliseconds = 0;
  if (Status status =
          api.check(api.eventElapsedTime(&milliseconds, first_, last_), "reading a time");
      !status)
    return status;
  return milliseconds * 1e-3;
}

} // namespace skim::cuda
