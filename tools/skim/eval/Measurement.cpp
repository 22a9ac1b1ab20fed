#include "tools/skim/eval/Measurement.h"

#include "tools/skim/Failure.h"

namespace skim::tool {
namespace {

llvm::Error runPrompts(PointResult &result, const Point &point, const Model &model,
                       const ModelShape &shape, const AttentionSetup &setup,
                       llvm::ArrayRef<Prompt> prompts,
                       llvm::function_ref<void(size_t prompt, int64_t layer)> progress) {
  auto attention = LayerAttention::create(*point.source, point.settings, setup, shape);
  if (!attention)
    return attention.takeError();
  for (size_t i = 0; i < prompts.size(); ++i) {
    llvm::Expected<Predictions> predictions =
        model.run(prompts[i].bytes, [&](int64_t layer, const TensorView &q, const TensorView &k,
                                        const TensorView &v) {
          progress(i, layer);
          return (*attention)->attend(layer, q, k, v);
        });
    if (!predictions)
      return predictions.takeError();
    result.score.add(prompts[i], *predictions);
  }
  result.heads = (*attention)->totals();
  return llvm::Error::success();
}

/// The message of the first error of a text that may hold diagnostics, without its place.
std::string firstError(llvm::StringRef text) {
  if (size_t at = text.find("error: "); at != llvm::StringRef::npos)
    text = text.drop_front(at + llvm::StringRef("error: ").size());
  return text.split('\n').first.trim().str();
}

} // namespace

HeadTotals PointResult::total() const {
  HeadTotals sum;
  for (const std::vector<HeadTotals> &layer : heads)
    for (const HeadTotals &head : layer)
      sum += head;
  return sum;
}

PointResult measure(const Point &point, const Model &model, const ModelShape &shape,
                    const AttentionSetup &setup, llvm::ArrayRef<Prompt> prompts,
                    llvm::function_ref<void(size_t prompt, int64_t layer)> progress) {
  PointResult result;
  llvm::Error error = runPrompts(result, point, model, shape, setup, prompts, progress);
  llvm::handleAllErrors(
      std::move(error),
      [&](const InputsMissing &missing) {
        result.reason = missing.message();
        result.needsInputs = true;
      },
      [&](const llvm::ErrorInfoBase &other) {
        std::string text = other.message();
        result.reason = text.empty() ? "refused, see the diagnostics" : firstError(text);
        result.messages = std::move(text);
      });
  return result;
}

} // namespace skim::tool
