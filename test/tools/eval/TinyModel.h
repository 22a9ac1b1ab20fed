// A model of a few hundred weights, as arrays and as the files that the tool reads.
#ifndef SKIM_TEST_TOOLS_EVAL_TINYMODEL_H
#define SKIM_TEST_TOOLS_EVAL_TINYMODEL_H

#include "tools/skim/Safetensors.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace skim::tool {

/// A folder that is gone at the end of the test.
class TemporaryFolder {
public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder();

  const std::string &path() const { return folder; }
  std::string file(const std::string &name) const { return folder + "/" + name; }

private:
  std::string folder;
};

struct TinyModel {
  static constexpr int64_t layers = 2, dim = 24, queryHeads = 4, kvHeads = 2, headDim = 6,
                           inner = 20;

  struct Quantised {
    int64_t rows = 0, columns = 0;
    std::vector<int8_t> elements;
    std::vector<float> scales;
    double at(int64_t row, int64_t column) const {
      return double(elements[row * columns + column]) * double(scales[row]);
    }
  };
  std::map<std::string, Quantised> matrices;
  std::map<std::string, std::vector<float>> norms;

  TinyModel();

  /// `config.json`, with some text of it replaced.
  static std::string config(const std::string &replace = "", const std::string &by = "");
  /// The tensors as the file has them; views into this model.
  std::vector<Tensor> tensors() const;
  void write(const TemporaryFolder &folder) const;
};

} // namespace skim::tool

#endif // SKIM_TEST_TOOLS_EVAL_TINYMODEL_H
