#include "tools/skim/eval/LayerAttention.h"

#include "tools/skim/Failure.h"

#include "runtime/LaunchPlan.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

namespace skim::tool {
namespace {

struct RowRange {
  int64_t first;
  int64_t count;
};

/// All rows of a prompt, or about `rows` of them in blocks at even distances, the last block among
/// them.
std::vector<RowRange> rowsForMass(int64_t tokens, int64_t rows) {
  if (rows >= tokens)
    return {{0, tokens}};
  constexpr int64_t block = 64; // a tile of the kernels
  int64_t blocks = (tokens + block - 1) / block;
  int64_t wanted = std::max<int64_t>(rows / block, 1);
  std::vector<RowRange> ranges;
  for (int64_t i = 1; i <= wanted; ++i) {
    int64_t first = (i * blocks / wanted - 1) * block;
    ranges.push_back({first, std::min(block, tokens - first)});
  }
  return ranges;
}

/// The tokens [first, first + count) of queries, keys or values.
TensorView sliceTokens(const TensorView &view, int64_t first, int64_t count) {
  TensorView slice = view;
  slice.data =
      static_cast<std::byte *>(view.data) + first * view.strides[0] * dtypeSize(view.dtype);
  slice.shape[0] = count;
  return slice;
}

/// One head alone: [tokens, 1, dim].
std::vector<std::byte> copyHead(const TensorView &view, int64_t head) {
  int64_t bytes = view.shape[2] * dtypeSize(view.dtype);
  std::vector<std::byte> copy(view.shape[0] * bytes);
  const auto *from = static_cast<const std::byte *>(view.data) + head * bytes;
  for (int64_t token = 0; token < view.shape[0]; ++token)
    std::copy_n(from + token * view.shape[1] * bytes, bytes, copy.data() + token * bytes);
  return copy;
}

} // namespace

char InputsMissing::ID;

void InputsMissing::log(llvm::raw_ostream &stream) const {
  stream << "needs " << names << "; give inputs by --inputs FILE";
}

HeadTotals &HeadTotals::operator+=(const HeadTotals &other) {
  keptPairs += other.keptPairs;
  visiblePairs += other.visiblePairs;
  mass += other.mass;
  massRows += other.massRows;
  return *this;
}

llvm::Expected<std::unique_ptr<PatternSource>> densePattern() {
  return PatternSource::parse("pattern every_key {\n  keep true\n}\n", "every_key.skim");
}

llvm::Error VariantRunner::checkInputs(const CpuKernel &compiled, HostBatch &batch) const {
  std::vector<std::string> missing;
  for (const InputDescription &input : compiled.kernel.launchPlan().inputs) {
    if (input.element == InputElement::ListCounts)
      continue;
    llvm::Expected<std::optional<NamedTensor>> found = batch.input(input.name);
    if (!found)
      return found.takeError();
    if (!*found)
      missing.push_back("the input '" + input.name + "'");
  }
  if (missing.empty())
    return llvm::Error::success();
  return llvm::make_error<InputsMissing>(llvm::join(missing, " and "));
}

llvm::Expected<const CpuKernel *> VariantRunner::kernelOf(const Job &job, Variant variant) {
  auto known = kernels.find(variant);
  if (known == kernels.end()) {
    llvm::Expected<CpuKernel> compiled = compileForCpu(job, variant);
    if (!compiled)
      return compiled.takeError();
    if (llvm::Error error = checkInputs(*compiled, job.batch))
      return error;
    known = kernels.emplace(variant, std::move(*compiled)).first;
  }
  return &known->second;
}

llvm::Expected<Outcome> VariantRunner::run(HostBatch &batch, int64_t layer, Variant variant) {
  Job job{source, batch, settings, setup.device, layer, setup.threads};
  auto onDevice = [&]() -> llvm::Expected<Outcome> {
    if (setup.device == Device::Reference)
      return runOnReference(job, variant);
    llvm::Expected<const CpuKernel *> kernel = kernelOf(job, variant);
    if (!kernel)
      return kernel.takeError();
    return runOnCpu(job, **kernel);
  };
  llvm::Expected<Outcome> outcome = onDevice();
  if (outcome && !outcome->problem.empty())
    return wrongInput(outcome->problem);
  return outcome;
}

llvm::Expected<std::unique_ptr<LayerAttention>>
LayerAttention::create(const PatternSource &source,
                       const std::map<std::string, ParameterSetting> &settings,
                       const AttentionSetup &setup, const ModelShape &shape) {
  if (!source.isCausal())
    return wrongInput("expected a causal pattern: queries of one that is noncausal would see the "
                      "bytes that the model has to predict");
  llvm::Expected<std::unique_ptr<PatternSource>> dense = densePattern();
  if (!dense)
    return dense.takeError();
  return std::unique_ptr<LayerAttention>(
      new LayerAttention(source, settings, setup, shape, std::move(*dense)));
}

LayerAttention::LayerAttention(const PatternSource &source,
                               const std::map<std::string, ParameterSetting> &settings,
                               const AttentionSetup &setup, const ModelShape &shape,
                               std::unique_ptr<PatternSource> dense)
    : source(source), setup(setup), pattern(source, settings, setup), denseSource(std::move(dense)),
      denseLayer(*denseSource, noSettings, setup), denseHead(*denseSource, noSettings, setup),
      heads(shape.layers, std::vector<HeadTotals>(shape.queryHeads)) {}

llvm::Expected<std::vector<float>> LayerAttention::attend(int64_t layer, const TensorView &q,
                                                          const TensorView &k,
                                                          const TensorView &v) {
  llvm::Expected<HostBatch> batch = HostBatch::over(q, k, v, setup.inputsPath);
  if (!batch)
    return batch.takeError();
  bool wholeLayer = true;
  for (int64_t head = 0; head < batch->queryHeads; ++head)
    wholeLayer &= isDense(layer, head);
  llvm::Expected<Outcome> outcome = wholeLayer ? denseLayer.run(*batch, layer, Variant::Asked)
                                               : pattern.run(*batch, layer, Variant::Asked);
  if (!outcome)
    return outcome.takeError();

  int64_t tokens = batch->queryTokens();
  int64_t visible = tokens * (tokens + 1) / 2;
  for (int64_t head = 0; head < batch->queryHeads; ++head) {
    bool dense = isDense(layer, head);
    heads[layer][head] += {dense ? visible : outcome->keptPairsOfHeads[head], visible};
    if (dense && !wholeLayer)
      if (llvm::Error error = attendDenseHead(*batch, layer, head, outcome->out))
        return error;
  }
  if (setup.massRows > 0 && !wholeLayer)
    if (llvm::Error error = addMass(*batch, layer, *outcome))
      return error;
  return std::move(outcome->out);
}

llvm::Error LayerAttention::attendDenseHead(const HostBatch &batch, int64_t layer, int64_t head,
                                            std::vector<float> &out) {
  int64_t kvHead = head / (batch.queryHeads / batch.kvHeads);
  std::vector<std::byte> q = copyHead(batch.q, head);
  std::vector<std::byte> k = copyHead(batch.k, kvHead);
  std::vector<std::byte> v = copyHead(batch.v, kvHead);
  int64_t tokens = batch.queryTokens();
  auto view = [&](const std::vector<std::byte> &bytes) {
    return TensorView::contiguous(bytes.data(), batch.dtype, {tokens, 1, batch.headDim});
  };
  llvm::Expected<HostBatch> alone = HostBatch::over(view(q), view(k), view(v), "");
  if (!alone)
    return alone.takeError();
  llvm::Expected<Outcome> outcome = denseHead.run(*alone, layer, Variant::Asked);
  if (!outcome)
    return outcome.takeError();
  for (int64_t token = 0; token < tokens; ++token)
    std::copy_n(outcome->out.data() + token * batch.headDim, batch.headDim,
                out.data() + (token * batch.queryHeads + head) * batch.headDim);
  return llvm::Error::success();
}

llvm::Error LayerAttention::addMass(HostBatch &batch, int64_t layer, const Outcome &asked) {
  int64_t tokens = batch.queryTokens();
  std::vector<float> kept = asked.lse;
  if (!pattern.isSame(Variant::KeysAlone, Variant::Asked)) {
    llvm::Expected<Outcome> alone = pattern.run(batch, layer, Variant::KeysAlone);
    if (!alone)
      return alone.takeError();
    kept = std::move(alone->lse);
  }
  // A changed score may depend on the whole prompt; a plain one on its row alone.
  bool inBlocks = !source.hasLogit();
  for (RowRange range : rowsForMass(tokens, inBlocks ? setup.massRows : tokens)) {
    int64_t keys = range.first + range.count;
    llvm::Expected<HostBatch> block =
        HostBatch::over(sliceTokens(batch.q, range.first, range.count),
                        sliceTokens(batch.k, 0, keys), sliceTokens(batch.v, 0, keys), "");
    if (!block)
      return block.takeError();
    llvm::Expected<Outcome> dense = inBlocks ? denseLayer.run(*block, layer, Variant::Asked)
                                             : pattern.run(batch, layer, Variant::DenseKeysAlone);
    if (!dense)
      return dense.takeError();
    for (int64_t head = 0; head < batch.queryHeads; ++head) {
      HeadTotals &totals = heads[layer][head];
      totals.massRows += range.count;
      for (int64_t row = 0; row < range.count; ++row) {
        double all = dense->lse[head * range.count + row];
        double some = kept[head * tokens + range.first + row];
        // Rounding of the two sums may pass 1 in the last place.
        totals.mass += isDense(layer, head) ? 1 : std::min(std::exp(some - all), 1.0);
      }
    }
  }
  return llvm::Error::success();
}

} // namespace skim::tool
