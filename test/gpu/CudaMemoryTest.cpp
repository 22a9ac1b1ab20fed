// Memory of a device for programs without a framework.
#include "test/gpu/Device.h"

#include <skim/CudaMemory.h>

#include <numeric>

using namespace skim;
using namespace skim::test;

namespace {

class CudaMemoryTest : public GpuTest {};

TEST_F(CudaMemoryTest, copiesThereAndBack) {
  Expected<CudaMemory> memory = CudaMemory::open();
  ASSERT_TRUE(memory) << memory.status().message();
  EXPECT_NE(memory->stream(), nullptr);
  std::vector<int32_t> values(1000);
  std::iota(values.begin(), values.end(), -7);
  const TensorView host = TensorView::contiguous(values.data(), DType::I32, {10, 100});
  const Expected<TensorView> copy = memory->copyIn(host);
  ASSERT_TRUE(copy) << copy.status().message();
  EXPECT_NE(copy->data, host.data);
  std::vector<int32_t> read(1000);
  const Status status = memory->copyOut(*copy, std::as_writable_bytes(std::span(read)));
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(read, values);
}

TEST_F(CudaMemoryTest, refusesSizesThatCannotBe) {
  Expected<CudaMemory> memory = CudaMemory::open();
  ASSERT_TRUE(memory) << memory.status().message();
  EXPECT_EQ(memory->allocate(-1).status().message(), "bytes: expected 0 or more but got -1");
  EXPECT_TRUE(memory->allocate(0));
  const Expected<TensorView> view =
      memory->like(TensorView::contiguous(memory->stream(), DType::F32, {4}));
  ASSERT_TRUE(view) << view.status().message();
  std::vector<float> few(3);
  EXPECT_EQ(memory->copyOut(*view, std::as_writable_bytes(std::span(few))).message(),
            "host: expected 16 bytes but got 12");
}

} // namespace
