// The launch plan: what contradicts itself is refused, and JSON carries everything.
#include "runtime/LaunchPlan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

using namespace skim;

namespace {

/// A plan that uses every field.
LaunchPlan fullPlan() {
  LaunchPlan plan;
  plan.pattern = "a \"quoted\" pattern";
  plan.signature = {8, 2, 128, 64, DType::BF16, DType::F32, 16, true, true, HeadAxis::KvHead};
  plan.parameters = {{"window", ParameterType::Index, false, {4096}, {}},
                     {"alpha", ParameterType::F32, true, {0.1f}, {}, -0.5, 0.25},
                     {"kind", ParameterType::Index, true, {0, 1, 0, 1, 0, 1, 0, 1}, {0, 1}},
                     {"strict", ParameterType::Bool, false, {}, {}}};
  plan.inputs = {{"layout", InputElement::Bool, HeadAxis::QueryHead, 128, 128},
                 {"blocks", InputElement::List, HeadAxis::KvHead, 64, 64},
                 {"blocks_counts", InputElement::ListCounts, HeadAxis::KvHead, 64, 0},
                 {"bias", InputElement::F32, HeadAxis::None, 0, 1, true},
                 {"codes", InputElement::Vector, HeadAxis::None, 0, 1, false, 32, 16},
                 {"chosen", InputElement::Bool, HeadAxis::KvHead, 0, 1}};
  const ShapeExpr blocks = ShapeExpr::ceilDiv(ShapeSymbol::MaxKvLength, 64);
  plan.buffers = {
      {"pool", DType::F32, 128, {ShapeSymbol::Requests, ShapeSymbol::KvHeads, 1, blocks}},
      {"map",
       DType::U8,
       1,
       {ShapeExpr::max(ShapeSymbol::Requests, 1), ShapeSymbol::QueryHeads,
        ShapeExpr::add(ShapeExpr::floorDiv(ShapeSymbol::MaxQueryLength, 64), 2),
        ShapeExpr::min(ShapeExpr::mul(blocks, 2), std::numeric_limits<int64_t>::max())},
       true},
      {"scores", DType::F64, 1, {1, 1, blocks, 64}, false, true},
      {"norms", DType::F32, 1, {ShapeSymbol::Requests, 2, 1, 1}, true},
      {"chosen_bits",
       DType::U8,
       16,
       {ShapeSymbol::Requests, 2, 1, ShapeExpr::ceilDiv(ShapeSymbol::MaxKvLength, 128)}}};
  plan.kernels = {{"pool_keys", HeadAxis::KvHead, ItemAxis::Keys, 64},
                  {"select", HeadAxis::None, ItemAxis::None, 1},
                  {"attention", HeadAxis::QueryHead, ItemAxis::Queries, 64, 128,
                   CudaLaunch{384, 200000, 1, true, 128, 64, 3, {}, {{5, 4}}}},
                  {.symbol = "ordered", .tileSize = 64, .cuda = CudaLaunch{.orderedBy = 2}}};
  plan.allowedLayers = {0, 1, -5};
  return plan;
}

TEST(LaunchPlan, survivesJson) {
  const LaunchPlan plan = fullPlan();
  const Expected<LaunchPlan> read = launchPlanFromJson(toJson(plan));
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(*read, plan);

  LaunchPlan anyLayout = plan;
  anyLayout.signature.pageSize.reset();
  anyLayout.signature.compactHeads.reset();
  const Expected<LaunchPlan> readAny = launchPlanFromJson(toJson(anyLayout));
  ASSERT_TRUE(readAny) << readAny.status().message();
  EXPECT_EQ(*readAny, anyLayout);
}

struct Contradiction {
  const char *name;
  std::function<void(LaunchPlan &)> make;
  const char *message;
};

class LaunchPlanContradiction : public testing::TestWithParam<Contradiction> {};

TEST_P(LaunchPlanContradiction, isRefusedByName) {
  LaunchPlan plan = fullPlan();
  ASSERT_TRUE(verify(plan)) << verify(plan).message();
  GetParam().make(plan);
  EXPECT_EQ(verify(plan).message(), std::string("launch plan: ") + GetParam().message);
  const Expected<LaunchPlan> read = launchPlanFromJson(toJson(plan));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.status().code(), StatusCode::Corrupt);
}

INSTANTIATE_TEST_SUITE_P(
    All, LaunchPlanContradiction,
    testing::Values(
        Contradiction{"noHeads", [](LaunchPlan &p) { p.signature.kvHeads = 0; },
                      "kv_heads: expected 1 to 2^31 - 1 but got 0"},
        Contradiction{"headRatio", [](LaunchPlan &p) { p.signature.kvHeads = 3; },
                      "query_heads: expected a multiple of kv_heads 3 but got 8"},
        Contradiction{"operandType", [](LaunchPlan &p) { p.signature.operand = DType::U8; },
                      "operand: expected f32, f16 or bf16 but got u8"},
        Contradiction{"outputType", [](LaunchPlan &p) { p.signature.output = DType::I32; },
                      "output: expected f32, f16 or bf16 but got i32"},
        Contradiction{"pageSize", [](LaunchPlan &p) { p.signature.pageSize = -1; },
                      "page_size: expected 0 to 2^31 - 1 but got -1"},
        Contradiction{"defaultCount", [](LaunchPlan &p) { p.parameters[0].defaultValues = {1, 2}; },
                      "parameters[0].default: expected 1 value but got 2"},
        Contradiction{"defaultPerHead",
                      [](LaunchPlan &p) { p.parameters[2].defaultValues = {1, 2, 3}; },
                      "parameters[2].default: expected 1 or 8 values but got 3"},
        Contradiction{"defaultType", [](LaunchPlan &p) { p.parameters[0].defaultValues = {0.5}; },
                      "parameters[0].default: expected a value of the parameter's type but got "
                      "0.500000"},
        Contradiction{"boundsOfBool", [](LaunchPlan &p) { p.parameters[3].least = 0; },
                      "parameters[3]: expected no bounds of a bool but got some"},
        Contradiction{"boundsCrossed", [](LaunchPlan &p) { p.parameters[1].most = -1; },
                      "parameters[1].most: expected at least -0.500000 but got -1.000000"},
        Contradiction{"emptyName", [](LaunchPlan &p) { p.inputs[0].name = ""; },
                      "inputs[0]: expected a name but got an empty one"},
        Contradiction{"sameName", [](LaunchPlan &p) { p.buffers[1].name = "pool"; },
                      "buffers[1]: expected a name of its own but got 'pool' again"},
        Contradiction{"noKernel", [](LaunchPlan &p) { p.kernels.clear(); },
                      "kernels: expected at least 1 kernel but got none"},
        Contradiction{"queryBlock", [](LaunchPlan &p) { p.inputs[0].queryBlock = -1; },
                      "inputs[0].query_block: expected 0 to 2^31 - 1 but got -1"},
        Contradiction{"keyBlock", [](LaunchPlan &p) { p.inputs[0].keyBlock = -4; },
                      "inputs[0].key_block: expected 0 to 2^31 - 1 but got -4"},
        Contradiction{"vectorSize", [](LaunchPlan &p) { p.inputs[4].vectorSize = 0; },
                      "inputs[4].vector_size: expected 1 to 2^31 - 1 but got 0"},
        Contradiction{"vectorOfBool", [](LaunchPlan &p) { p.inputs[0].vectorSize = 2; },
                      "inputs[0].vector_size: expected 1 for an input of scalars but got 2"},
        Contradiction{"weightRows", [](LaunchPlan &p) { p.inputs[4].keyBlock = 2; },
                      "inputs[4].weight_rows: expected 0 unless vectors have query_block 0 and "
                      "key_block 1 but got 16"},
        Contradiction{"perWorkerZeroed", [](LaunchPlan &p) { p.buffers[2].zeroed = true; },
                      "buffers[2].per_worker: expected a first extent of 1 that is not zeroed but "
                      "got a zeroed buffer"},
        Contradiction{"perWorkerRequests",
                      [](LaunchPlan &p) { p.buffers[2].extents[0] = ShapeSymbol::Requests; },
                      "buffers[2].per_worker: expected a first extent of 1 that is not zeroed but "
                      "got another extent"},
        Contradiction{"diagonal", [](LaunchPlan &p) { p.inputs[3].keyBlock = 2; },
                      "inputs[3].diagonal: expected key_block 1 but got 2"},
        Contradiction{"listOverNothing", [](LaunchPlan &p) { p.inputs[1].keyBlock = 0; },
                      "inputs[1].key_block: expected at least 1 for a list but got 0"},
        Contradiction{"listAlone",
                      [](LaunchPlan &p) { p.inputs.erase(p.inputs.begin() + 2, p.inputs.end()); },
                      "inputs[1]: expected counts exactly after their list but got a list without "
                      "counts"},
        Contradiction{"countsAlone", [](LaunchPlan &p) { p.inputs.erase(p.inputs.begin() + 1); },
                      "inputs[1]: expected counts exactly after their list but got counts without "
                      "a list"},
        Contradiction{"countsName", [](LaunchPlan &p) { p.inputs[2].name = "counts"; },
                      "inputs[2]: expected counts named 'blocks_counts' with the list's axes but "
                      "got 'counts'"},
        Contradiction{"cellElements", [](LaunchPlan &p) { p.buffers[0].cellElements = 0; },
                      "buffers[0].cell_elements: expected 1 to 2^31 - 1 but got 0"},
        Contradiction{"deepExtent",
                      [](LaunchPlan &p) {
                        ShapeExpr deep = 1;
                        for (int i = 0; i < 70; ++i)
                          deep = ShapeExpr::add(std::move(deep), 1);
                        p.buffers[0].extents[3] = deep;
                      },
                      "buffers[0].extents: expected at most 64 nested operations but got more"},
        Contradiction{"tileSize", [](LaunchPlan &p) { p.kernels[2].tileSize = 0; },
                      "kernels[2].tile_size: expected 1 to 2^31 - 1 but got 0"},
        Contradiction{"threads", [](LaunchPlan &p) { p.kernels[2].cuda->threads = 2048; },
                      "kernels[2].cuda.threads: expected 1 to 1024 but got 2048"},
        Contradiction{"box", [](LaunchPlan &p) { p.kernels[2].cuda->keysPerTile = 512; },
                      "kernels[2].cuda.keys_per_tile: expected 0 to 256 but got 512"},
        Contradiction{"boxWithoutMaps",
                      [](LaunchPlan &p) { p.kernels[2].cuda->tensorMaps = false; },
                      "kernels[2].cuda.rows_per_tile: expected 0 to 0 but got 128"},
        Contradiction{"mapsOfF32", [](LaunchPlan &p) { p.signature.operand = DType::F32; },
                      "kernels[2].cuda.tensor_maps: expected false for operands that are not of 16 "
                      "bits but got true"},
        Contradiction{"normsNowhere", [](LaunchPlan &p) { p.kernels[2].cuda->keyNorms = 5; },
                      "kernels[2].cuda.key_norms: expected a buffer of the plan but got 5"},
        Contradiction{"normsElsewhere", [](LaunchPlan &p) { p.kernels[2].cuda->keyNorms = 2; },
                      "kernels[2].cuda.key_norms: expected a zeroed buffer of one f32 for each "
                      "request and KV head but got 'scores'"},
        Contradiction{"normsOfF16", [](LaunchPlan &p) { p.signature.operand = DType::F16; },
                      "kernels[2].cuda.key_norms: expected null where keys are not up to 256 bf16, "
                      "a multiple of 8 but got 3"},
        Contradiction{"orderedByItself", [](LaunchPlan &p) { p.kernels[3].cuda->orderedBy = 3; },
                      "kernels[3].cuda.ordered_by: expected a kernel before this one but got 3"},
        Contradiction{"orderedByOtherItems",
                      [](LaunchPlan &p) { p.kernels[3].cuda->orderedBy = 0; },
                      "kernels[3].cuda.ordered_by: expected a kernel with the same items but got "
                      "'pool_keys'"},
        Contradiction{"bitsOfNothing",
                      [](LaunchPlan &p) { p.kernels[2].cuda->packedKeys[0].input = 6; },
                      "kernels[2].cuda.packed_keys[0].input: expected an input of the plan but "
                      "got 6"},
        Contradiction{"bitsOfBlocks",
                      [](LaunchPlan &p) { p.kernels[2].cuda->packedKeys[0].input = 3; },
                      "kernels[2].cuda.packed_keys[0].input: expected a bool for each key, the "
                      "same for all rows but got 'bias'"},
        Contradiction{"bitsNowhere",
                      [](LaunchPlan &p) { p.kernels[2].cuda->packedKeys[0].buffer = -1; },
                      "kernels[2].cuda.packed_keys[0].buffer: expected a buffer of the plan but "
                      "got -1"},
        Contradiction{"bitsElsewhere",
                      [](LaunchPlan &p) { p.kernels[2].cuda->packedKeys[0].buffer = 3; },
                      "kernels[2].cuda.packed_keys[0].buffer: expected 16 bytes for every 128 keys "
                      "of each request and head of 'chosen' but got 'norms'"},
        Contradiction{"mapsOfOddDim", [](LaunchPlan &p) { p.signature.headDim = 80; },
                      "kernels[2].cuda.tensor_maps: expected false for dimensions that are no "
                      "multiples of 32 but got true"}),
    [](const auto &info) { return info.param.name; });

TEST(LaunchPlan, refusesMalformedTrees) {
  LaunchPlan plan = fullPlan();
  plan.buffers[1].extents[0].operands.pop_back();
  EXPECT_EQ(verify(plan).message(),
            "launch plan: buffers[1].extents: expected 2 operands but got 1");
}

struct Damage {
  const char *name;
  const char *from;
  const char *to;
  const char *message;
};

class LaunchPlanDamage : public testing::TestWithParam<Damage> {};

TEST_P(LaunchPlanDamage, isAnErrorThatNamesTheField) {
  std::string text = toJson(fullPlan());
  const size_t place = text.find(GetParam().from);
  ASSERT_NE(place, std::string::npos);
  text.replace(place, std::string_view(GetParam().from).size(), GetParam().to);
  const Expected<LaunchPlan> read = launchPlanFromJson(text);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.status().code(), StatusCode::Corrupt);
  EXPECT_EQ(read.status().message(), std::string("launch plan: ") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, LaunchPlanDamage,
    testing::Values(
        Damage{"syntax", "{", "{{", "expected JSON but got text that is not"},
        Damage{"format", "skim launch plan", "other",
               "format: expected \"skim launch plan\" but got \"other\""},
        Damage{"version", "\"version\": 6", "\"version\": 5", "version: expected 6 but got 5"},
        Damage{"integer", "\"head_dim\": 128", "\"head_dim\": 1.5",
               "signature.head_dim: expected an integer but got 1.5"},
        Damage{"tooLarge", "\"head_dim\": 128", "\"head_dim\": 18446744073709551615",
               "signature.head_dim: expected an integer but got 18446744073709551615"},
        Damage{"boolean", "\"noncausal\": true", "\"noncausal\": 1",
               "signature.noncausal: expected true or false but got 1"},
        Damage{"compact", "\"compact_heads\": \"kv_head\"", "\"compact_heads\": 1",
               "signature.compact_heads: expected one of none, kv_head, head but got 1"},
        Damage{"string", "\"symbol\": \"select\"", "\"symbol\": null",
               "kernels[1].symbol: expected a string but got null"},
        Damage{"number", "4096.0", "\"4096\"",
               "parameters[0].default[0]: expected a number but got \"4096\""},
        Damage{"name", "\"axis\": \"keys\"", "\"axis\": \"rows\"",
               "kernels[0].axis: expected one of none, queries, keys but got \"rows\""},
        Damage{"missing", "\"zeroed\"", "\"zeros\"",
               "buffers[0].zeroed: expected a value but got null"},
        Damage{"extra", "\"zeroed\"", "\"x\": 0, \"zeroed\"",
               "buffers[0]: expected 6 fields but got 7"},
        Damage{"list", "\"allowed_layers\": [", "\"allowed_layers\": 3, \"z\": [",
               "expected 9 fields but got 10"},
        Damage{"symbol", "\"max_kv_len\"", "\"kv\"",
               "buffers[0].extents[3][1]: expected a shape symbol but got \"kv\""},
        Damage{
            "operation", "\"ceildiv\"", "\"div\"",
            "buffers[0].extents[3][0]: expected one of add, mul, ceildiv, floordiv, max, min but "
            "got \"div\""}),
    [](const auto &info) { return info.param.name; });

TEST(LaunchPlan, refusesEveryTruncationOfItsJson) {
  const std::string text = toJson(fullPlan());
  for (size_t length = 0; length < text.size(); length += 7)
    EXPECT_FALSE(launchPlanFromJson(std::string_view(text).substr(0, length))) << length;
}

TEST(LaunchPlan, refusesDeepJsonWithoutRunningOutOfStack) {
  const std::string deep(200000, '[');
  EXPECT_FALSE(launchPlanFromJson(deep));
  const std::string closed = deep + std::string(200000, ']');
  EXPECT_EQ(launchPlanFromJson(closed).status().message(),
            "launch plan: expected an object but got a list");
  EXPECT_EQ(launchPlanFromJson("{\"format\": " + closed + "}").status().message(),
            "launch plan: format: expected \"skim launch plan\" but got a list");
  std::string plan = toJson(fullPlan());
  plan.replace(plan.find("\"max_kv_len\""), 12, closed);
  EXPECT_EQ(launchPlanFromJson(plan).status().message(),
            "launch plan: buffers[0].extents[3][1]: expected a size: an integer, a symbol or "
            "[operation, size, size] but got a list");
}

} // namespace
