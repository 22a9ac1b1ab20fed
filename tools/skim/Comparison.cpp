#include "tools/skim/Comparison.h"

#include <algorithm>
#include <cmath>

namespace skim::tool {
namespace {

std::optional<double> massOfHead(const Outcome &kept, const Outcome &dense, int64_t head,
                                 int64_t tokens) {
  double sum = 0;
  int64_t rows = 0;
  for (int64_t i = head * tokens; i < (head + 1) * tokens; ++i) {
    if (std::isinf(dense.lse[i]) && dense.lse[i] < 0)
      continue;
    double share = std::exp(double(kept.lse[i]) - double(dense.lse[i]));
    if (!std::isfinite(share))
      return std::nan("");
    sum += share;
    ++rows;
  }
  if (rows == 0)
    return std::nullopt;
  // Rounding of the two sums may pass 1 in the last place.
  return std::min(sum / double(rows), 1.0);
}

std::optional<double> errorOfHead(const Outcome &asked, const Outcome &dense,
                                  const HostBatch &batch, int64_t head) {
  double difference = 0;
  double largest = 0;
  for (int64_t token = 0; token < batch.queryTokens(); ++token)
    for (int64_t i = 0; i < batch.valueDim; ++i) {
      int64_t at = (token * batch.queryHeads + head) * batch.valueDim + i;
      // std::max passes over NaN.
      if (!std::isfinite(asked.out[at]) || !std::isfinite(dense.out[at]))
        return std::nan("");
      difference = std::max(difference, std::abs(double(asked.out[at]) - double(dense.out[at])));
      largest = std::max(largest, std::abs(double(dense.out[at])));
    }
  if (difference == 0)
    return 0;
  if (largest == 0)
    return std::nullopt;
  return difference / largest;
}

/// NaN before none, and none before the larger.
std::optional<double> worse(std::optional<double> a, std::optional<double> b) {
  if (a && std::isnan(*a))
    return a;
  if (b && std::isnan(*b))
    return b;
  return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
}

} // namespace

int64_t visiblePairs(const HostBatch &batch, bool causal) {
  int64_t pairs = 0;
  for (int64_t request = 0; request < batch.requests(); ++request) {
    int64_t rows = batch.queryLength(request);
    int64_t keys = batch.kvLens[request];
    // Causal row i sees keys - rows + i + 1 keys; with more rows than keys the first see none.
    int64_t seeing = std::min(rows, keys);
    pairs += causal ? seeing * keys - seeing * (seeing - 1) / 2 : rows * keys;
  }
  return pairs * batch.queryHeads;
}

llvm::Expected<Comparison> compareWithDense(const Job &job, const Outcome &asked) {
  Job plain = job;
  plain.repeat = 1;
  plain.wantKept = false;
  plain.wantGathered = false;
  plain.metrics = nullptr;
  plain.compileMetrics = nullptr;
  plain.probeRate = 0;
  // Each outcome is kept under the first variant that gives it.
  std::vector<std::pair<Variant, Outcome>> others;
  auto outcomeOf = [&](Variant variant) -> llvm::Expected<const Outcome *> {
    if (job.source.isSame(variant, Variant::Asked))
      return &asked;
    for (const auto &[known, outcome] : others)
      if (job.source.isSame(variant, known))
        return &outcome;
    llvm::Expected<Outcome> outcome = run(plain, variant);
    if (!outcome)
      return outcome.takeError();
    return &others.emplace_back(variant, std::move(*outcome)).second;
  };
  others.reserve(3);
  llvm::Expected<const Outcome *> keysAlone = outcomeOf(Variant::KeysAlone);
  if (!keysAlone)
    return keysAlone.takeError();
  llvm::Expected<const Outcome *> dense = outcomeOf(Variant::Dense);
  if (!dense)
    return dense.takeError();
  llvm::Expected<const Outcome *> denseKeysAlone = outcomeOf(Variant::DenseKeysAlone);
  if (!denseKeysAlone)
    return denseKeysAlone.takeError();

  Comparison comparison;
  double massSum = 0;
  int64_t massHeads = 0;
  comparison.error = 0;
  for (int64_t head = 0; head < job.batch.queryHeads; ++head) {
    HeadComparison one = {massOfHead(**keysAlone, **denseKeysAlone, head, job.batch.queryTokens()),
                          errorOfHead(asked, **dense, job.batch, head)};
    if (one.keptMass) {
      massSum += *one.keptMass;
      ++massHeads;
    }
    comparison.error = worse(comparison.error, one.error);
    comparison.heads.push_back(one);
  }
  if (massHeads > 0)
    comparison.keptMass = massSum / double(massHeads);
  return comparison;
}

} // namespace skim::tool
