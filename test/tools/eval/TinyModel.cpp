#include "TinyModel.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

namespace skim::tool {

TemporaryFolder::TemporaryFolder() {
  llvm::SmallString<128> name;
  EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("skim-model", name));
  folder = name.str().str();
}

TemporaryFolder::~TemporaryFolder() { EXPECT_FALSE(llvm::sys::fs::remove_directories(folder)); }

TinyModel::TinyModel() {
  std::mt19937 random(5);
  auto matrix = [&](const std::string &name, int64_t rows, int64_t columns) {
    Quantised &m = matrices[name];
    m.rows = rows;
    m.columns = columns;
    for (int64_t i = 0; i < rows * columns; ++i)
      m.elements.push_back(static_cast<int8_t>(static_cast<int>(random() % 255) - 127));
    for (int64_t i = 0; i < rows; ++i)
      m.scales.push_back(0.001f + 0.0001f * static_cast<float>(random() % 40));
  };
  auto norm = [&](const std::string &name) {
    for (int64_t i = 0; i < dim; ++i)
      norms[name].push_back(0.5f + 0.01f * static_cast<float>(random() % 100));
  };
  matrix("embedding", 256, dim);
  norm("norm");
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::string prefix = "layers." + std::to_string(layer) + ".";
    norm(prefix + "attention_norm");
    norm(prefix + "feed_forward_norm");
    matrix(prefix + "query", queryHeads * headDim, dim);
    matrix(prefix + "key", kvHeads * headDim, dim);
    matrix(prefix + "value", kvHeads * headDim, dim);
    matrix(prefix + "output", dim, queryHeads * headDim);
    matrix(prefix + "gate", inner, dim);
    matrix(prefix + "up", inner, dim);
    matrix(prefix + "down", dim, inner);
  }
}

std::string TinyModel::config(const std::string &replace, const std::string &by) {
  std::string text = R"({"layers": 2, "model_dim": 24, "query_heads": 4, "kv_heads": 2,
    "head_dim": 6, "feed_forward_dim": 20, "vocabulary": 256, "rope_theta": 500,
    "norm_epsilon": 0.01, "longest_context": 1000})";
  if (!replace.empty())
    text.replace(text.find(replace), replace.size(), by);
  return text;
}

std::vector<Tensor> TinyModel::tensors() const {
  std::vector<Tensor> list;
  auto add = [&](const std::string &name, ElementType type, std::vector<int64_t> shape,
                 const auto &values) {
    list.push_back({name, type, std::move(shape), reinterpret_cast<const char *>(values.data()),
                    static_cast<int64_t>(values.size() * sizeof(values[0]))});
  };
  for (const auto &[name, matrix] : matrices) {
    add(name + ".weight", ElementType::I8, {matrix.rows, matrix.columns}, matrix.elements);
    add(name + ".scale", ElementType::F32, {matrix.rows}, matrix.scales);
  }
  for (const auto &[name, gains] : norms)
    add(name + ".weight", ElementType::F32, {dim}, gains);
  return list;
}

void TinyModel::write(const TemporaryFolder &folder) const {
  std::ofstream(folder.file("config.json")) << config();
  llvm::Error error = writeSafetensors(folder.file("model.safetensors"), tensors());
  EXPECT_FALSE(error) << llvm::toString(std::move(error));
}

} // namespace skim::tool
