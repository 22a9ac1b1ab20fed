#include "tools/skim/eval/EvalOptions.h"

#include "tools/skim/Failure.h"
#include "tools/skim/eval/Retrieval.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace skim::tool {
namespace {

llvm::Error readNumbers(const Options &options, EvalOptions &result) {
  struct Row {
    OptionId id;
    int64_t *value;
    int64_t otherwise, least, most;
  };
  constexpr int64_t longest = 1 << 20;
  const Row rows[] = {
      {OPT_context, &result.context, 8192, 2, longest},
      {OPT_prompts, &result.prompts, 1, 1, 1000},
      {OPT_pairs, &result.pairs, 16, 0, longest},
      {OPT_seed, &result.seed, 0, 0, INT64_MAX},
      {OPT_mass_rows, &result.attention.massRows, 8192, 1, longest},
      {OPT_threads, &result.attention.threads, 0, 1, 4096},
  };
  for (const Row &row : rows) {
    llvm::Expected<int64_t> value = options.number(row.id, row.otherwise, row.least, row.most);
    if (!value)
      return value.takeError();
    *row.value = *value;
  }
  return llvm::Error::success();
}

llvm::Error readDenseHeads(llvm::StringRef list,
                           std::set<std::pair<int64_t, int64_t>> &denseHeads) {
  for (llvm::StringRef part : llvm::split(list, ',')) {
    auto [layer, head] = part.split(':');
    std::pair<int64_t, int64_t> one;
    if (layer.getAsInteger(10, one.first) || head.getAsInteger(10, one.second))
      return wrongUsage("--dense-heads: expected LAYER:HEAD but got '" + part + "'");
    denseHeads.insert(one);
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<EvalOptions> EvalOptions::read(const Options &options) {
  EvalOptions result;
  if (llvm::Error error = readNumbers(options, result))
    return error;
  result.modelFolder = options.text(OPT_model, "examples/model").str();
  llvm::SmallString<128> text(result.modelFolder);
  llvm::sys::path::append(text, "text.txt");
  result.textPath = options.text(OPT_text, text).str();

  AttentionSetup &attention = result.attention;
  if (options.text(OPT_device) == "cuda")
    return wrongUsage("--device: expected cpu or reference but got 'cuda', which skim run has");
  llvm::Expected<Device> device = deviceOf(options);
  if (!device)
    return device.takeError();
  attention.device = *device;
  llvm::Expected<llvm::StringRef> dtype = options.choice(OPT_dtype, "bf16", {"bf16", "f16", "f32"});
  if (!dtype)
    return dtype.takeError();
  attention.dtype = *parseDType(*dtype);
  attention.inputsPath = options.text(OPT_inputs).str();
  result.dense = !options.has(OPT_no_dense);
  if (!result.dense)
    attention.massRows = 0;
  llvm::Expected<std::vector<int64_t>> layers = options.numbers(OPT_dense_layers, 0, INT32_MAX);
  if (!layers)
    return layers.takeError();
  attention.denseLayers.insert(layers->begin(), layers->end());
  if (options.has(OPT_dense_heads))
    if (llvm::Error error = readDenseHeads(options.text(OPT_dense_heads), attention.denseHeads))
      return error;

  // A quarter of a prompt at most is pairs, another questions.
  int64_t shortest = 4 * result.pairs * pairBytes;
  if (result.context < shortest)
    return wrongUsage("--context: expected at least the " + llvm::Twine(shortest) +
                      " tokens that " + llvm::Twine(result.pairs) + " pairs need but got " +
                      llvm::Twine(result.context));
  return result;
}

llvm::Error EvalOptions::checkAgainst(const ModelShape &shape) const {
  if (context > shape.longestContext)
    return wrongUsage("--context: expected at most the " + llvm::Twine(shape.longestContext) +
                      " tokens of the model but got " + llvm::Twine(context));
  auto checkLayer = [&](llvm::StringRef option, int64_t layer) -> llvm::Error {
    if (layer >= 0 && layer < shape.layers)
      return llvm::Error::success();
    return wrongUsage(option + ": expected a layer from 0 to " + llvm::Twine(shape.layers - 1) +
                      " but got " + llvm::Twine(layer));
  };
  for (int64_t layer : attention.denseLayers)
    if (llvm::Error error = checkLayer("--dense-layers", layer))
      return error;
  for (auto [layer, head] : attention.denseHeads) {
    if (llvm::Error error = checkLayer("--dense-heads", layer))
      return error;
    if (head < 0 || head >= shape.queryHeads)
      return wrongUsage("--dense-heads: expected a head from 0 to " +
                        llvm::Twine(shape.queryHeads - 1) + " but got " + llvm::Twine(head));
  }
  return llvm::Error::success();
}

} // namespace skim::tool
