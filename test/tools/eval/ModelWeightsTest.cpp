// Reading a model: int8 rows times their scales, and what is refused with a reason.
#include "tools/skim/eval/ModelWeights.h"
#include "TinyModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace skim::tool {
namespace {

using testing::HasSubstr;

TEST(ModelWeights, AreIntegersTimesTheScaleOfTheirRow) {
  TinyModel tiny;
  TemporaryFolder folder;
  tiny.write(folder);
  llvm::Expected<ModelWeights> weights = ModelWeights::load(folder.path());
  ASSERT_TRUE(bool(weights)) << llvm::toString(weights.takeError());
  EXPECT_EQ(weights->shape.layers, 2);
  EXPECT_EQ(weights->shape.longestContext, 1000);
  ASSERT_EQ(weights->layers.size(), 2u);

  auto expectRows = [&](const Matrix &matrix, int64_t first, const std::string &name) {
    const TinyModel::Quantised &expected = tiny.matrices.at(name);
    ASSERT_EQ(matrix.columns, expected.columns);
    for (int64_t row = 0; row < expected.rows; ++row)
      for (int64_t column = 0; column < expected.columns; ++column)
        ASSERT_EQ(matrix.elements[(first + row) * matrix.columns + column],
                  static_cast<float>(expected.elements[row * expected.columns + column]) *
                      expected.scales[row])
            << name << " " << row << " " << column;
  };
  expectRows(weights->embedding, 0, "embedding");
  const LayerWeights &layer = weights->layers[1];
  ASSERT_EQ(layer.queryKeyValue.rows, 24 + 12 + 12);
  expectRows(layer.queryKeyValue, 0, "layers.1.query");
  expectRows(layer.queryKeyValue, 24, "layers.1.key");
  expectRows(layer.queryKeyValue, 36, "layers.1.value");
  expectRows(layer.output, 0, "layers.1.output");
  expectRows(layer.gateUp, 0, "layers.1.gate");
  expectRows(layer.gateUp, 20, "layers.1.up");
  expectRows(layer.down, 0, "layers.1.down");
  EXPECT_EQ(layer.attentionNorm, tiny.norms.at("layers.1.attention_norm"));
  EXPECT_EQ(layer.feedForwardNorm, tiny.norms.at("layers.1.feed_forward_norm"));
  EXPECT_EQ(weights->norm, tiny.norms.at("norm"));
}

/// Why the model of a folder is refused.
std::string refusal(const TemporaryFolder &folder) {
  llvm::Expected<ModelWeights> weights = ModelWeights::load(folder.path());
  if (!weights)
    return llvm::toString(weights.takeError());
  ADD_FAILURE() << "the model was taken";
  return "";
}

TEST(ModelWeights, NeedBothFiles) {
  TemporaryFolder folder;
  EXPECT_THAT(refusal(folder), HasSubstr("config.json': No such file or directory"));
  std::ofstream(folder.file("config.json")) << TinyModel::config();
  EXPECT_THAT(refusal(folder), HasSubstr("model.safetensors': No such file or directory"));
}

TEST(ModelWeights, RefuseAConfigThatSaysNoModel) {
  struct Fault {
    const char *replace, *by, *reason;
  };
  for (const Fault &fault : {
           Fault{"\"layers\": 2,", "", "expected 'layers' to be a whole number from 1 to 1048576"},
           Fault{"\"layers\": 2", "\"layers\": 0", "expected 'layers' to be a whole number"},
           Fault{"\"head_dim\": 6", "\"head_dim\": 1e30",
                 "expected 'head_dim' to be a whole number"},
           Fault{"\"head_dim\": 6", "\"head_dim\": 7", "expected an even 'head_dim' but got 7"},
           Fault{"\"vocabulary\": 256", "\"vocabulary\": 50000",
                 "expected a vocabulary of the 256 bytes but got 50000"},
           Fault{"\"query_heads\": 4", "\"query_heads\": 3",
                 "expected 'query_heads' to be a multiple of the 2 KV heads but got 3"},
           Fault{"\"rope_theta\": 500", "\"rope_theta\": -1",
                 "expected 'rope_theta' to be a number above 0"},
           Fault{"{", "[{", "Expected , or ] after array element"},
       }) {
    TemporaryFolder folder;
    std::ofstream(folder.file("config.json")) << TinyModel::config(fault.replace, fault.by);
    EXPECT_THAT(refusal(folder), HasSubstr(fault.reason)) << fault.by;
  }
}

TEST(ModelWeights, RefuseTensorsThatAreNotTheConfigs) {
  TinyModel tiny;
  auto refusalOf = [&](auto change) {
    TemporaryFolder folder;
    tiny.write(folder);
    std::vector<Tensor> tensors = tiny.tensors();
    change(tensors);
    EXPECT_FALSE(bool(writeSafetensors(folder.file("model.safetensors"), tensors)));
    return refusal(folder);
  };
  auto find = [](std::vector<Tensor> &tensors, llvm::StringRef name) -> Tensor & {
    return *llvm::find_if(tensors, [&](const Tensor &tensor) { return tensor.name == name; });
  };
  EXPECT_THAT(refusalOf([&](std::vector<Tensor> &tensors) {
                llvm::erase_if(tensors,
                               [](const Tensor &t) { return t.name == "layers.1.up.scale"; });
              }),
              HasSubstr("expected a tensor 'layers.1.up.scale' F32 [20]"));
  EXPECT_THAT(refusalOf([&](std::vector<Tensor> &tensors) {
                find(tensors, "layers.0.down.weight").type = ElementType::U8;
              }),
              HasSubstr("layers.0.down.weight: expected I8 [24, 20] but got U8 [24, 20]"));
  EXPECT_THAT(refusalOf([&](std::vector<Tensor> &tensors) {
                find(tensors, "embedding.weight").shape = {24, 256};
              }),
              HasSubstr("embedding.weight: expected I8 [256, 24] but got I8 [24, 256]"));
}

TEST(ModelWeights, RefuseAFileThatIsCutShort) {
  TinyModel tiny;
  TemporaryFolder folder;
  tiny.write(folder);
  std::string path = folder.file("model.safetensors");
  uint64_t size = 0;
  ASSERT_FALSE(llvm::sys::fs::file_size(path, size));
  for (uint64_t length : {size - 1, size / 2, uint64_t(20), uint64_t(3), uint64_t(0)}) {
    int descriptor = 0;
    ASSERT_FALSE(llvm::sys::fs::openFileForWrite(path, descriptor, llvm::sys::fs::CD_OpenExisting));
    ASSERT_FALSE(llvm::sys::fs::resize_file(descriptor, length));
    llvm::sys::fs::file_t file = llvm::sys::fs::convertFDToNativeFile(descriptor);
    ASSERT_FALSE(llvm::sys::fs::closeFile(file));
    EXPECT_THAT(refusal(folder), HasSubstr(path)) << length;
  }
}

} // namespace
} // namespace skim::tool
