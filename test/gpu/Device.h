// What the tests do with a CUDA device beside running kernels: memory, streams, graphs, times.
#ifndef SKIM_TEST_GPU_DEVICE_H
#define SKIM_TEST_GPU_DEVICE_H

#include "runtime/cuda/Device.h"

#include <skim/TensorView.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace skim::test {

/// Skips every test where there is no driver or no device, and says why. A device that is there
/// and fails is a failure.
class GpuTest : public testing::Test {
protected:
  void SetUp() override;
  const cuda::DriverApi &api() const { return device->api(); }

  std::shared_ptr<const cuda::Device> device;
};

/// Memory of the device, freed with the object; null for 0 bytes.
class DeviceBytes {
public:
  DeviceBytes() = default;
  explicit DeviceBytes(size_t bytes, unsigned char fill = 0xcd);
  DeviceBytes(DeviceBytes &&other) noexcept;
  DeviceBytes &operator=(DeviceBytes &&other) noexcept;
  ~DeviceBytes();

  size_t size() const { return size_; }
  std::byte *data() const { return data_; }
  std::span<std::byte> span() const { return {data_, size_}; }
  void write(std::span<const std::byte> bytes) const;
  void read(std::span<std::byte> bytes, size_t offset = 0) const;

private:
  std::byte *data_ = nullptr;
  size_t size_ = 0;
};

/// A copy of an array on the device.
template <typename T> class DeviceArray {
public:
  DeviceArray() = default;
  explicit DeviceArray(const std::vector<T> &values) : bytes_(values.size() * sizeof(T)) {
    write(values);
  }
  void write(const std::vector<T> &values) const { bytes_.write(std::as_bytes(std::span(values))); }
  std::vector<T> read() const {
    std::vector<T> values(bytes_.size() / sizeof(T));
    bytes_.read(std::as_writable_bytes(std::span(values)));
    return values;
  }
  T *data() const { return reinterpret_cast<T *>(bytes_.data()); }

private:
  DeviceBytes bytes_;
};

class DeviceStream {
public:
  DeviceStream();
  DeviceStream(const DeviceStream &) = delete;
  DeviceStream &operator=(const DeviceStream &) = delete;
  ~DeviceStream();

  cuda::Stream get() const { return stream_; }
  void wait() const;
  /// Median of the seconds that `enqueue` takes on this stream, of `repeat` runs back to back.
  double time(const std::function<void()> &enqueue, int repeat = 30) const;

private:
  cuda::Stream stream_ = nullptr;
};

/// What `enqueue` puts on a stream, as a graph to replay.
class CapturedGraph {
public:
  CapturedGraph(const DeviceStream &stream, const std::function<void()> &enqueue);
  CapturedGraph(const CapturedGraph &) = delete;
  CapturedGraph &operator=(const CapturedGraph &) = delete;
  ~CapturedGraph();

  void launch(const DeviceStream &stream) const;

private:
  void *graph_ = nullptr;
  void *executable_ = nullptr;
};

/// The same view over other memory.
TensorView onDevice(TensorView view, const void *data);

} // namespace skim::test

#endif // SKIM_TEST_GPU_DEVICE_H
