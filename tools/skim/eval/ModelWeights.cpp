#include "tools/skim/eval/ModelWeights.h"

#include "tools/skim/Failure.h"
#include "tools/skim/InputFile.h"
#include "tools/skim/Safetensors.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

namespace skim::tool {
namespace {

constexpr int64_t bytes = 256;

std::string inFolder(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

llvm::Expected<ModelShape> readShape(llvm::StringRef path) {
  auto wrong = [&](const llvm::Twine &what) { return wrongInput("'" + path + "': " + what); };
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = readInput(path);
  if (!buffer)
    return buffer.takeError();
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse((*buffer)->getBuffer());
  if (!parsed)
    return wrong(llvm::toString(parsed.takeError()));
  const llvm::json::Object *config = parsed->getAsObject();
  if (!config)
    return wrong("expected a JSON object");

  ModelShape shape;
  int64_t vocabulary = 0;
  constexpr int64_t most = int64_t(1) << 20;
  const std::pair<llvm::StringRef, int64_t *> counts[] = {
      {"layers", &shape.layers},          {"model_dim", &shape.modelDim},
      {"query_heads", &shape.queryHeads}, {"kv_heads", &shape.kvHeads},
      {"head_dim", &shape.headDim},       {"feed_forward_dim", &shape.feedForwardDim},
      {"vocabulary", &vocabulary},        {"longest_context", &shape.longestContext}};
  for (auto [name, value] : counts) {
    std::optional<int64_t> number = config->getInteger(name);
    if (!number || *number < 1 || *number > most)
      return wrong("expected '" + name + "' to be a whole number from 1 to " + llvm::Twine(most));
    *value = *number;
  }
  const std::pair<llvm::StringRef, double *> reals[] = {{"rope_theta", &shape.ropeTheta},
                                                        {"norm_epsilon", &shape.normEpsilon}};
  for (auto [name, value] : reals) {
    std::optional<double> number = config->getNumber(name);
    if (!number || !(*number > 0))
      return wrong("expected '" + name + "' to be a number above 0");
    *value = *number;
  }
  if (vocabulary != bytes)
    return wrong("expected a vocabulary of the 256 bytes but got " + llvm::Twine(vocabulary));
  if (shape.queryHeads % shape.kvHeads != 0)
    return wrong("expected 'query_heads' to be a multiple of the " + llvm::Twine(shape.kvHeads) +
                 " KV heads but got " + llvm::Twine(shape.queryHeads));
  if (shape.headDim % 2 != 0)
    return wrong("expected an even 'head_dim' but got " + llvm::Twine(shape.headDim));
  return shape;
}

/// Appends tensors of the file to f32 arrays. The first failure stays; what comes after it does
/// nothing.
class Reader {
public:
  explicit Reader(const SafetensorsFile &file) : file(file) {}

  std::vector<float> vector(const std::string &name, int64_t length) {
    const Tensor *tensor = find(name, ElementType::F32, {length});
    return tensor ? tensor->as<float>().vec() : std::vector<float>();
  }

  /// int8 rows, each with a scale.
  void append(Matrix &matrix, const std::string &name, int64_t rows, int64_t columns) {
    const Tensor *weight = find(name + ".weight", ElementType::I8, {rows, columns});
    const Tensor *scale = find(name + ".scale", ElementType::F32, {rows});
    matrix.rows += rows;
    matrix.columns = columns;
    if (!weight || !scale)
      return;
    matrix.elements.reserve(matrix.rows * columns);
    for (int64_t row = 0; row < rows; ++row)
      for (int8_t element : weight->as<int8_t>().slice(row * columns, columns))
        matrix.elements.push_back(float(element) * scale->as<float>()[row]);
  }

  llvm::Error finish() {
    return problem.empty() ? llvm::Error::success()
                           : wrongInput("'" + file.path() + "': " + problem);
  }

private:
  const Tensor *find(const std::string &name, ElementType type, const std::vector<int64_t> &shape) {
    if (!problem.empty())
      return nullptr;
    const Tensor *tensor = file.find(name);
    std::string expected = (nameOf(type) + " " + shapeText(shape)).str();
    if (!tensor)
      problem = "expected a tensor '" + name + "' " + expected;
    else if (tensor->type != type || tensor->shape != shape)
      problem = name + ": expected " + expected + " but got " + nameOf(tensor->type).str() + " " +
                shapeText(tensor->shape);
    return problem.empty() ? tensor : nullptr;
  }

  const SafetensorsFile &file;
  std::string problem;
};

LayerWeights readLayer(Reader &reader, const ModelShape &shape, int64_t number) {
  std::string prefix = "layers." + std::to_string(number) + ".";
  int64_t dim = shape.modelDim;
  LayerWeights layer;
  layer.attentionNorm = reader.vector(prefix + "attention_norm.weight", dim);
  reader.append(layer.queryKeyValue, prefix + "query", shape.queryDim(), dim);
  reader.append(layer.queryKeyValue, prefix + "key", shape.kvDim(), dim);
  reader.append(layer.queryKeyValue, prefix + "value", shape.kvDim(), dim);
  reader.append(layer.output, prefix + "output", dim, shape.queryDim());
  layer.feedForwardNorm = reader.vector(prefix + "feed_forward_norm.weight", dim);
  reader.append(layer.gateUp, prefix + "gate", shape.feedForwardDim, dim);
  reader.append(layer.gateUp, prefix + "up", shape.feedForwardDim, dim);
  reader.append(layer.down, prefix + "down", dim, shape.feedForwardDim);
  return layer;
}

} // namespace

llvm::Expected<ModelWeights> ModelWeights::load(llvm::StringRef folder) {
  llvm::Expected<ModelShape> shape = readShape(inFolder(folder, "config.json"));
  if (!shape)
    return shape.takeError();
  llvm::Expected<SafetensorsFile> file =
      SafetensorsFile::open(inFolder(folder, "model.safetensors"));
  if (!file)
    return file.takeError();
  ModelWeights weights;
  weights.shape = *shape;
  Reader reader(*file);
  reader.append(weights.embedding, "embedding", bytes, shape->modelDim);
  for (int64_t number = 0; number < shape->layers; ++number)
    weights.layers.push_back(readLayer(reader, *shape, number));
  weights.norm = reader.vector("norm.weight", shape->modelDim);
  if (llvm::Error error = reader.finish())
    return error;
  return weights;
}

} // namespace skim::tool
