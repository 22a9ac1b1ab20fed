#include "test/gpu/Device.h"

#include <algorithm>
#include <utility>

namespace skim::test {

namespace {

const cuda::DriverApi &driverApi() { return **cuda::driver(); }

void expectOk(cuda::Result result, const char *what) {
  const Status status = driverApi().check(result, what);
  ASSERT_TRUE(status) << status.message();
}

/// Copies from pageable memory may end after their call, and the tests' streams do not wait for the
/// default one.
void waitForDefaultStream() {
  expectOk(driverApi().streamSynchronize(nullptr), "waiting for the default stream");
}

template <typename... Arguments> cuda::Result callDriver(const char *symbol, Arguments... given) {
  const auto function =
      reinterpret_cast<cuda::Result (*)(Arguments...)>(cuda::driverSymbol(symbol));
  return function ? function(given...) : -1;
}

} // namespace

void GpuTest::SetUp() {
  if (const Expected<const cuda::DriverApi *> loaded = cuda::driver(); !loaded)
    GTEST_SKIP() << loaded.status().message();
  const Expected<std::shared_ptr<const cuda::Device>> opened = cuda::Device::open(0);
  ASSERT_TRUE(opened) << opened.status().message();
  device = *opened;
  expectOk(callDriver("cuCtxSetCurrent", device->context()), "setting the context");
}

DeviceBytes::DeviceBytes(size_t bytes, unsigned char fill) : size_(bytes) {
  if (bytes == 0)
    return;
  void *pointer = nullptr;
  expectOk(driverApi().memoryAllocate(&pointer, bytes), "allocating memory");
  data_ = static_cast<std::byte *>(pointer);
  expectOk(driverApi().fillBytes(pointer, fill, bytes), "filling memory");
  waitForDefaultStream();
}

DeviceBytes::DeviceBytes(DeviceBytes &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

DeviceBytes &DeviceBytes::operator=(DeviceBytes &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

DeviceBytes::~DeviceBytes() {
  if (data_)
    driverApi().memoryFree(data_);
}

void DeviceBytes::write(std::span<const std::byte> bytes) const {
  ASSERT_EQ(bytes.size(), size_);
  if (size_ == 0)
    return;
  expectOk(driverApi().copyToDevice(data_, bytes.data(), size_), "copying to the device");
  waitForDefaultStream();
}

void DeviceBytes::read(std::span<std::byte> bytes, size_t offset) const {
  ASSERT_LE(offset + bytes.size(), size_);
  if (!bytes.empty())
    expectOk(driverApi().copyToHost(bytes.data(), data_ + offset, bytes.size()),
             "copying from the device");
}

DeviceStream::DeviceStream() {
  constexpr unsigned kNonBlocking = 1;
  expectOk(driverApi().streamCreate(&stream_, kNonBlocking), "creating a stream");
}

DeviceStream::~DeviceStream() { driverApi().streamDestroy(stream_); }

void DeviceStream::wait() const { expectOk(driverApi().streamSynchronize(stream_), "waiting"); }

double DeviceStream::time(const std::function<void()> &enqueue, int repeat) const {
  enqueue();
  std::vector<cuda::Event> events(static_cast<size_t>(repeat) + 1);
  for (cuda::Event &event : events)
    expectOk(driverApi().eventCreate(&event, 0), "creating an event");
  for (size_t i = 0; i < events.size(); ++i) {
    expectOk(driverApi().eventRecord(events[i], stream_), "recording an event");
    if (i + 1 < events.size())
      enqueue();
  }
  wait();
  std::vector<double> seconds;
  for (size_t i = 1; i < events.size(); ++i) {
    float milliseconds = 0;
    expectOk(driverApi().eventElapsedTime(&milliseconds, events[i - 1], events[i]), "timing");
    seconds.push_back(milliseconds * 1e-3);
  }
  for (cuda::Event event : events)
    driverApi().eventDestroy(event);
  std::ranges::nth_element(seconds, seconds.begin() + repeat / 2);
  return seconds[static_cast<size_t>(repeat / 2)];
}

CapturedGraph::CapturedGraph(const DeviceStream &stream, const std::function<void()> &enqueue) {
  constexpr int kThreadLocal = 1;
  expectOk(callDriver("cuStreamBeginCapture_v2", stream.get(), kThreadLocal),
           "beginning a capture");
  enqueue();
  expectOk(callDriver("cuStreamEndCapture", stream.get(), &graph_), "ending a capture");
  expectOk(callDriver("cuGraphInstantiateWithFlags", &executable_, graph_, 0ULL),
           "instantiating a graph");
}

CapturedGraph::~CapturedGraph() {
  callDriver("cuGraphExecDestroy", executable_);
  callDriver("cuGraphDestroy", graph_);
}

void CapturedGraph::launch(const DeviceStream &stream) const {
  expectOk(callDriver("cuGraphLaunch", executable_, stream.get()), "launching a graph");
}

TensorView onDevice(TensorView view, const void *data) {
  view.data = const_cast<void *>(data);
  return view;
}

} // namespace skim::test
