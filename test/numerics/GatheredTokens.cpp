#include "test/numerics/GatheredTokens.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace skim::numerics {

void GatheredTokens::askFor(const Signature &signature, const reference::Problem &problem,
                            Operands &operands) {
  if (!signature.compactHeads)
    return;
  asked = true;
  switch (*signature.compactHeads) {
  case HeadAxis::None:
    heads = 1;
    break;
  case HeadAxis::KvHead:
    heads = signature.kvHeads;
    break;
  case HeadAxis::QueryHead:
    heads = signature.queryHeads;
    break;
  }
  constexpr int64_t kMore = 3;
  constexpr int32_t kUnwritten = -77;
  for (int64_t length : problem.kvLens)
    capacity = std::max(capacity, length + kMore);
  auto requests = static_cast<int64_t>(problem.kvLens.size());
  positions.assign(requests * heads * capacity, kUnwritten);
  counts.assign(requests * heads, kUnwritten);
  operands.compactPositions =
      TensorView::contiguous(positions.data(), DType::I32, {requests, heads, capacity});
  operands.compactCounts = TensorView::contiguous(counts.data(), DType::I32, {requests, heads});
}

/// One row of positions; `open` may be in it or not.
static std::string compareRow(llvm::ArrayRef<int64_t> expected, llvm::ArrayRef<int64_t> open,
                              llvm::ArrayRef<int32_t> actual, int32_t count, int64_t &forgiven) {
  if (count < 0 || count > static_cast<int64_t>(actual.size()))
    return llvm::formatv("count {0}", count).str();
  llvm::ArrayRef<int32_t> gathered = actual.take_front(count);
  if (!llvm::all_of(actual.drop_front(count), [](int32_t entry) { return entry == -1; }))
    return "expected -1 behind the positions";
  for (size_t i = 1; i < gathered.size(); ++i)
    if (gathered[i] <= gathered[i - 1])
      return llvm::formatv("position {0} after {1}", gathered[i], gathered[i - 1]).str();
  auto differs = [&](int64_t position, llvm::StringRef what) -> std::string {
    if (!llvm::is_contained(open, position))
      return llvm::formatv("position {0} is {1}", position, what).str();
    ++forgiven;
    return {};
  };
  for (int64_t position : expected)
    if (!llvm::is_contained(gathered, position))
      if (std::string text = differs(position, "missing"); !text.empty())
        return text;
  for (int64_t position : gathered)
    if (!llvm::is_contained(expected, position))
      if (std::string text = differs(position, "gathered without reason"); !text.empty())
        return text;
  return {};
}

std::string compareGathered(const reference::Result &expected, const GatheredTokens &actual,
                            int64_t &forgiven) {
  if (actual.asked == expected.compacted.empty())
    return actual.asked ? "the reference gathers no tokens" : "the cpu gathers no tokens";
  for (size_t request = 0; request < expected.compacted.size(); ++request)
    for (int64_t head = 0; head < expected.heads; ++head) {
      // One row may stand for several query heads.
      int64_t row =
          static_cast<int64_t>(request) * actual.heads + head * actual.heads / expected.heads;
      std::string difference =
          compareRow(expected.compacted[request][head], expected.openCompacted[request][head],
                     llvm::ArrayRef(actual.positions).slice(row * actual.capacity, actual.capacity),
                     actual.counts[row], forgiven);
      if (!difference.empty())
        return llvm::formatv("compact of request {0}, head {1}: {2}", request, head, difference)
            .str();
    }
  return {};
}

} // namespace skim::numerics
