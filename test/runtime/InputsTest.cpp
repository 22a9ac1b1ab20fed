// Pattern inputs by name: what kernels see, and what is refused.
#include "Problem.h"

#include <gtest/gtest.h>

#include <functional>

using namespace skim;
using namespace skim::test;

namespace {

/// What the kernel found in its slots.
std::vector<skim_buffer> seen;
int32_t seenCount = 0;

void lookAtInputs(const skim_kernel_args *args, const skim_work_item *, int64_t, int64_t, int64_t) {
  for (size_t i = 0; i < seen.size(); ++i)
    seen[i] = args->inputs[i];
  // Where the list is, its counts follow.
  if (seen.size() == 2)
    seenCount = static_cast<const int32_t *>(seen[1].data)[0];
}

Status runWith(const std::vector<InputDescription> &inputs, Problem &problem,
               const std::vector<NamedTensor> &tensors) {
  LaunchPlan plan = causalPlan(problem.heads);
  plan.inputs = inputs;
  const Expected<Kernel> kernel = Kernel::create(plan, {lookAtInputs});
  if (!kernel)
    return kernel.status();
  seen.assign(inputs.size(), {});
  Operands operands = problem.operands();
  operands.inputs = tensors;
  return runOnce(*kernel, problem.shape(), operands, {}, {.threads = 1});
}

std::vector<int64_t> extents(size_t slot) { return {seen[slot].extents, seen[slot].extents + 4}; }
std::vector<int64_t> strides(size_t slot) { return {seen[slot].strides, seen[slot].strides + 4}; }

int64_t memory[4096];
TensorView view(DType dtype, std::initializer_list<int64_t> shape) {
  return TensorView::contiguous(memory, dtype, shape);
}

InputDescription layoutInput() {
  return {"layout", InputElement::Bool, HeadAxis::QueryHead, 16, 8};
}
InputDescription blocksInput() { return {"blocks", InputElement::List, HeadAxis::KvHead, 16, 8}; }
InputDescription countsInput() {
  return {"blocks_counts", InputElement::ListCounts, HeadAxis::KvHead, 16, 0};
}
InputDescription kindInput() { return {"kind", InputElement::Index, HeadAxis::QueryHead}; }
InputDescription biasInput() { return {"bias", InputElement::F32, HeadAxis::None, 0, 1, true}; }
InputDescription codesInput() {
  return {"codes", InputElement::Vector, HeadAxis::KvHead, 0, 4, false, 32};
}
InputDescription weightInput() {
  return {"weight", InputElement::Vector, HeadAxis::None, 0, 1, false, 32, 12};
}
InputDescription scalarInput() { return {"scalar", InputElement::F32}; }

TEST(Inputs, everyAxisHasItsPlaceAndAbsentOnesAreBroadcast) {
  // Rows 40 to 49 touch query blocks 2 and 3; 50 keys make 7 key blocks.
  Problem problem({{10, 50}, {1, 3}});
  ASSERT_TRUE(runWith({layoutInput()}, problem, {{"layout", view(DType::U8, {2, 4, 2, 7})}}));
  EXPECT_EQ(extents(0), (std::vector<int64_t>{2, 4, 2, 7}));
  EXPECT_EQ(strides(0), (std::vector<int64_t>{56, 14, 7, 1}));

  ASSERT_TRUE(runWith({kindInput()}, problem, {{"kind", view(DType::I32, {2, 4})}}));
  EXPECT_EQ(extents(0), (std::vector<int64_t>{2, 4, 1, 1}));
  EXPECT_EQ(strides(0), (std::vector<int64_t>{4, 1, 0, 0}));

  ASSERT_TRUE(runWith({biasInput()}, problem, {{"bias", view(DType::F32, {2, 50})}}));
  EXPECT_EQ(strides(0), (std::vector<int64_t>{50, 0, 0, 1}));

  ASSERT_TRUE(runWith({weightInput()}, problem, {{"weight", view(DType::F32, {12, 32})}}));
  EXPECT_EQ(extents(0), (std::vector<int64_t>{1, 1, 1, 12}));
  EXPECT_EQ(strides(0), (std::vector<int64_t>{0, 0, 0, 32}));

  ASSERT_TRUE(runWith({codesInput()}, problem, {{"codes", view(DType::F32, {2, 2, 13, 32})}}));
  EXPECT_EQ(extents(0), (std::vector<int64_t>{2, 2, 1, 13}));
  EXPECT_EQ(strides(0), (std::vector<int64_t>{832, 416, 0, 32}));
}

TEST(Inputs, requestAxisMayBeLeftOutForOneRequest) {
  Problem problem({{10, 50}});
  ASSERT_TRUE(runWith({layoutInput()}, problem, {{"layout", view(DType::U8, {4, 2, 7})}}));
  EXPECT_EQ(extents(0), (std::vector<int64_t>{1, 4, 2, 7}));
  EXPECT_EQ(strides(0), (std::vector<int64_t>{0, 14, 7, 1}));
  ASSERT_TRUE(runWith({scalarInput()}, problem, {{"scalar", view(DType::F32, {})}}));
  EXPECT_EQ(extents(0), (std::vector<int64_t>{1, 1, 1, 1}));
  ASSERT_TRUE(runWith({scalarInput()}, problem, {{"scalar", view(DType::F32, {1})}}));
}

TEST(Inputs, K11_anyStridesAreServed) {
  Problem problem({{10, 50}});
  const TensorView transposed = TensorView::strided(memory, DType::U8, {4, 2, 7}, {1, 28, 4});
  ASSERT_TRUE(runWith({layoutInput()}, problem, {{"layout", transposed}}));
  EXPECT_EQ(strides(0), (std::vector<int64_t>{0, 1, 28, 4}));
}

TEST(Inputs, extentsMayExceedTheLengths) {
  Problem problem({{10, 50}});
  ASSERT_TRUE(runWith({layoutInput()}, problem, {{"layout", view(DType::U8, {4, 5, 16})}}));
  EXPECT_EQ(extents(0), (std::vector<int64_t>{1, 4, 5, 16}));
}

TEST(Inputs, listCountsDefaultToTheCapacity) {
  Problem problem({{10, 50}});
  ASSERT_TRUE(
      runWith({blocksInput(), countsInput()}, problem, {{"blocks", view(DType::I32, {2, 2, 5})}}));
  EXPECT_EQ(extents(0), (std::vector<int64_t>{1, 2, 2, 5}));
  EXPECT_EQ(strides(1), (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(seenCount, 5);

  std::vector<int32_t> counts = {3, 2, 1, 0};
  ASSERT_TRUE(
      runWith({blocksInput(), countsInput()}, problem,
              {{"blocks", view(DType::I32, {2, 2, 5})},
               {"blocks_counts", TensorView::contiguous(counts.data(), DType::I32, {2, 2})}}));
  EXPECT_EQ(strides(1), (std::vector<int64_t>{0, 2, 1, 0}));
  EXPECT_EQ(seenCount, 3);
}

TEST(Inputs, K4_batchesWithoutRowsNeedNoCells) {
  Problem problem({{0, 50}, {0, 0}});
  ASSERT_TRUE(runWith({layoutInput()}, problem,
                      {{"layout", TensorView::contiguous(nullptr, DType::U8, {2, 4, 0, 0})}}));
}

TEST(Inputs, K3_rowsBeforeTheFirstKeyCountAsBlocks) {
  // Rows -14 to 5 touch query blocks -1 and 0.
  Problem problem({{20, 6}});
  EXPECT_TRUE(runWith({layoutInput()}, problem, {{"layout", view(DType::U8, {4, 2, 1})}}));
  EXPECT_FALSE(runWith({layoutInput()}, problem, {{"layout", view(DType::U8, {4, 1, 1})}}));
}

struct Fault {
  const char *name;
  std::vector<InputDescription> inputs;
  std::vector<NamedTensor> tensors;
  const char *message;
};

class InputFault : public testing::TestWithParam<Fault> {};

TEST_P(InputFault, isRefused) {
  Problem problem({{10, 50}, {1, 3}});
  const Status status = runWith(GetParam().inputs, problem, GetParam().tensors);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), std::string("input ") + GetParam().message);
}

TensorView strideTwo(TensorView tensor) {
  tensor.strides[tensor.rank - 1] = 2;
  return tensor;
}

INSTANTIATE_TEST_SUITE_P(
    All, InputFault,
    testing::Values(
        Fault{"unknown",
              {kindInput()},
              {{"kinds", view(DType::I32, {2, 4})}},
              "'kinds': unknown name; the pattern has 'kind'"},
        Fault{"missing",
              {layoutInput()},
              {},
              "'layout': expected bool (uint8)[2, 4, 2 or more, 7 or more] but got nothing"},
        Fault{"twice",
              {kindInput()},
              {{"kind", view(DType::I32, {2, 4})}, {"kind", view(DType::I32, {2, 4})}},
              "'kind': expected one tensor but got several under this name"},
        Fault{
            "type",
            {layoutInput()},
            {{"layout", view(DType::F32, {2, 4, 2, 7})}},
            "'layout': expected bool (uint8)[2, 4, 2 or more, 7 or more] but got f32[2, 4, 2, 7]"},
        Fault{"requestAxisLeftOut",
              {layoutInput()},
              {{"layout", view(DType::U8, {4, 2, 7})}},
              "'layout': expected bool (uint8)[2, 4, 2 or more, 7 or more] but got u8[4, 2, 7]"},
        Fault{"requests",
              {kindInput()},
              {{"kind", view(DType::I32, {3, 4})}},
              "'kind': expected i32[2, 4] but got i32[3, 4]"},
        Fault{"heads",
              {kindInput()},
              {{"kind", view(DType::I32, {2, 2})}},
              "'kind': expected i32[2, 4] but got i32[2, 2]"},
        Fault{"queryBlocks",
              {layoutInput()},
              {{"layout", view(DType::U8, {2, 4, 1, 7})}},
              "'layout': expected bool (uint8)[2, 4, 2 or more, 7 or more] but got u8[2, 4, 1, 7]"},
        Fault{"keyBlocks",
              {layoutInput()},
              {{"layout", view(DType::U8, {2, 4, 2, 6})}},
              "'layout': expected bool (uint8)[2, 4, 2 or more, 7 or more] but got u8[2, 4, 2, 6]"},
        Fault{"diagonals",
              {biasInput()},
              {{"bias", view(DType::F32, {2, 49})}},
              "'bias': expected f32[2, 50 or more] but got f32[2, 49]"},
        Fault{"weightRows",
              {weightInput()},
              {{"weight", view(DType::F32, {13, 32})}},
              "'weight': expected f32[12, 32] but got f32[13, 32]"},
        Fault{"vectorSize",
              {codesInput()},
              {{"codes", view(DType::F32, {2, 2, 13, 16})}},
              "'codes': expected f32[2, 2, 13 or more, 32] but got f32[2, 2, 13, 16]"},
        Fault{"vectorStride",
              {codesInput()},
              {{"codes", strideTwo(view(DType::F32, {2, 2, 13, 32}))}},
              "'codes': expected stride 1 in the last axis but got stride 2 in f32[2, 2, 13, 32]"},
        Fault{"data",
              {kindInput()},
              {{"kind", TensorView::contiguous(nullptr, DType::I32, {2, 4})}},
              "'kind': expected the data of i32[2, 4] but got a null pointer"},
        Fault{"K8_int64List",
              {blocksInput(), countsInput()},
              {{"blocks", view(DType::I64, {2, 2, 2, 5})}},
              "'blocks': expected i32[2, 2, 2 or more, 0 or more] but got i64[2, 2, 2, 5]"},
        Fault{"capacity",
              {blocksInput(), countsInput()},
              {{"blocks", TensorView::strided(memory, DType::I32, {2, 2, 2, int64_t{1} << 31},
                                              {8, 4, 2, 0})}},
              "'blocks': expected a capacity of at most 2^31 - 1 but got 2147483648"},
        Fault{"counts",
              {blocksInput(), countsInput()},
              {{"blocks", view(DType::I32, {2, 2, 2, 5})},
               {"blocks_counts", view(DType::I32, {2, 2, 1})}},
              "'blocks_counts': expected i32[2, 2, 2 or more] but got i32[2, 2, 1]"}),
    [](const auto &info) { return info.param.name; });

TEST(Inputs, resultsMustNotOverlapThem) {
  Problem problem({{10, 50}});
  const TensorView layout = TensorView::contiguous(problem.out.data(), DType::U8, {4, 2, 7});
  EXPECT_EQ(runWith({layoutInput()}, problem, {{"layout", layout}}).message(),
            "out: expected memory of its own but got memory that overlaps input 'layout'");
}

} // namespace
