#include <skim/GatherTokens.h>

#include "runtime/TensorCheck.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace skim {

namespace {

ArgumentName argument(std::string_view name) { return {"", name}; }

const int32_t *integers(const TensorView &view) { return static_cast<const int32_t *>(view.data); }

/// The batch after its checks.
class Batch {
public:
  explicit Batch(const TokenGather &gather) : gather(gather) {}

  Status check();
  /// Tokens of all requests that are gathered.
  int64_t total() const { return total_; }

  int64_t requests() const { return gather.counts.shape[0]; }
  int64_t firstToken(int64_t request) const { return integers(gather.cuSeqlens)[request]; }
  int64_t length(int64_t request) const { return firstToken(request + 1) - firstToken(request); }
  int64_t firstPosition(int64_t request) const {
    return gather.kvLens.isPresent() ? integers(gather.kvLens)[request] - length(request) : 0;
  }
  int64_t count(int64_t request) const {
    const TensorView &counts = gather.counts;
    return integers(counts)[request * counts.strides[0] + gather.head * counts.strides[1]];
  }
  int32_t position(int64_t request, int64_t i) const {
    const TensorView &view = gather.positions;
    return integers(
        view)[request * view.strides[0] + gather.head * view.strides[1] + i * view.strides[2]];
  }
  /// Whether the position is one of the request's tokens, and not of a key before them.
  bool isToken(int64_t request, int64_t position) const {
    return position >= firstPosition(request);
  }

private:
  Status checkShapes() const;
  Status checkPositions(int64_t request);

  const TokenGather &gather;
  int64_t total_ = 0;
};

Status Batch::checkShapes() const {
  const AxisRule heads[] = {{"requests"}, {"heads"}};
  if (Status status =
          checkTensor(argument("counts"), gather.counts, DType::I32, heads, StrideRule::Any);
      !status)
    return status;
  const AxisRule rows[] = {
      {"requests", requests()}, {"heads", gather.counts.shape[1]}, {"capacity"}};
  if (Status status =
          checkTensor(argument("positions"), gather.positions, DType::I32, rows, StrideRule::Any);
      !status)
    return status;
  if (gather.head < 0 || gather.head >= gather.counts.shape[1])
    return expectedButGot(argument("head"),
                          "an index of the " + std::to_string(gather.counts.shape[1]) + " heads",
                          std::to_string(gather.head));
  const AxisRule starts[] = {{"requests + 1", requests() + 1}};
  for (const auto &[name, view] : {std::pair("cu_seqlens", &gather.cuSeqlens),
                                   std::pair("gathered_cu_seqlens", &gather.gatheredCuSeqlens)})
    if (Status status =
            checkTensor(argument(name), *view, DType::I32, starts, StrideRule::LastDense);
        !status)
      return status;
  if (Status status =
          checkCumulativeLengths(argument("cu_seqlens"), integers(gather.cuSeqlens), requests());
      !status)
    return status;
  if (!gather.kvLens.isPresent())
    return Status::ok();
  const AxisRule lengths[] = {{"requests", requests()}};
  if (Status status = checkTensor(argument("kv_lens"), gather.kvLens, DType::I32, lengths,
                                  StrideRule::LastDense);
      !status)
    return status;
  return checkLengths(argument("kv_lens"), integers(gather.kvLens), requests());
}

Status Batch::checkPositions(int64_t request) {
  const auto at = [&](const std::string &more) {
    return " at [" + std::to_string(request) + ", " + std::to_string(gather.head) + more + "]";
  };
  const int64_t capacity = gather.positions.shape[2];
  if (count(request) < 0 || count(request) > capacity)
    return expectedButGot(argument("counts"), "0 to " + std::to_string(capacity) + at(""),
                          std::to_string(count(request)));
  const int64_t end = firstPosition(request) + length(request);
  for (int64_t i = 0; i < count(request); ++i) {
    const int64_t position = this->position(request, i);
    if (position < 0 || position >= end)
      return expectedButGot(argument("positions"),
                            "a position of the request's " +
                                std::to_string(std::max<int64_t>(end, 0)) + " tokens" +
                                at(", " + std::to_string(i)),
                            std::to_string(position));
    total_ += isToken(request, position);
  }
  return Status::ok();
}

Status Batch::check() {
  if (Status status = checkShapes(); !status)
    return status;
  for (int64_t request = 0; request < requests(); ++request)
    if (Status status = checkPositions(request); !status)
      return status;
  if (total_ > std::numeric_limits<int32_t>::max())
    return expectedButGot(argument("counts"), "at most 2^31 - 1 tokens in all",
                          std::to_string(total_));
  return Status::ok();
}

Status checkArrays(const TokenGather &gather, const Batch &batch) {
  const TensorView &tokens = gather.tokens;
  if (tokens.rank < 1 || tokens.rank > TensorView::kMaxRank)
    return expectedButGot(argument("tokens"),
                          "1 to " + std::to_string(TensorView::kMaxRank) + " axes, tokens first",
                          tokens.describe());
  std::array<AxisRule, TensorView::kMaxRank> axes;
  for (int64_t axis = 1; axis < tokens.rank; ++axis)
    axes[axis] = {"dim", tokens.shape[axis]};
  const auto rules = std::span<const AxisRule>(axes).first(static_cast<size_t>(tokens.rank));
  axes[0] = {"tokens", batch.firstToken(batch.requests()), /*atLeast=*/true};
  if (Status status = checkTensor(argument("tokens"), tokens, tokens.dtype, rules, StrideRule::Any);
      !status)
    return status;
  axes[0] = {"gathered", batch.total(), /*atLeast=*/true};
  if (Status status =
          checkTensor(argument("gathered"), gather.gathered, tokens.dtype, rules, StrideRule::Any);
      !status)
    return status;
  if (Status status = checkDistinctElements(argument("gathered"), gather.gathered); !status)
    return status;
  if (!gather.gatheredPositions.isPresent())
    return Status::ok();
  return checkTensor(argument("gathered_positions"), gather.gatheredPositions, DType::I32,
                     rules.first(1), StrideRule::LastDense);
}

Status checkApart(const TokenGather &gather) {
  const std::pair<const char *, const TensorView *> views[] = {
      {"gathered", &gather.gathered},
      {"gathered_cu_seqlens", &gather.gatheredCuSeqlens},
      {"gathered_positions", &gather.gatheredPositions},
      {"tokens", &gather.tokens},
      {"cu_seqlens", &gather.cuSeqlens},
      {"kv_lens", &gather.kvLens},
      {"positions", &gather.positions},
      {"counts", &gather.counts}};
  constexpr size_t kResults = 3;
  for (size_t result = 0; result < kResults; ++result)
    for (size_t other = result + 1; other < std::size(views); ++other)
      if (byteRange(*views[result].second).overlaps(byteRange(*views[other].second)))
        return expectedButGot(argument(views[result].first), "memory of its own",
                              std::string("memory that overlaps ") + views[other].first);
  return Status::ok();
}

/// Copies tokens; runs of axes that are dense on both sides at once.
class TokenCopy {
public:
  TokenCopy(const TensorView &from, const TensorView &to)
      : from(from), to(to), elementBytes(dtypeSize(from.dtype)), tail(from.rank),
        tailBytes(elementBytes) {
    const auto isDense = [&](const TensorView &view, int64_t axis) {
      return view.shape[axis] == 1 || view.strides[axis] * elementBytes == tailBytes;
    };
    while (tail > 1 && isDense(from, tail - 1) && isDense(to, tail - 1))
      tailBytes *= from.shape[--tail];
  }

  void run(int64_t source, int64_t target) const {
    copy(static_cast<const std::byte *>(from.data) + source * from.strides[0] * elementBytes,
         static_cast<std::byte *>(to.data) + target * to.strides[0] * elementBytes, 1);
  }

private:
  void copy(const std::byte *source, std::byte *target, int64_t axis) const {
    if (axis == tail) {
      std::memcpy(target, source, static_cast<size_t>(tailBytes));
      return;
    }
    for (int64_t i = 0; i < from.shape[axis]; ++i)
      copy(source + i * from.strides[axis] * elementBytes,
           target + i * to.strides[axis] * elementBytes, axis + 1);
  }

  const TensorView &from, &to;
  int64_t elementBytes;
  int64_t tail; ///< Axes from here on are copied as one run of bytes.
  int64_t tailBytes;
};

} // namespace

Status gatherTokens(const TokenGather &gather) {
  Batch batch(gather);
  if (Status status = batch.check(); !status)
    return status;
  if (Status status = checkArrays(gather, batch); !status)
    return status;
  if (Status status = checkApart(gather); !status)
    return status;

  const TokenCopy copy(gather.tokens, gather.gathered);
  const bool hasElements = !gather.tokens.isEmpty();
  auto *starts = static_cast<int32_t *>(gather.gatheredCuSeqlens.data);
  auto *positions = static_cast<int32_t *>(gather.gatheredPositions.data);
  int32_t next = 0;
  starts[0] = 0;
  for (int64_t request = 0; request < batch.requests(); ++request) {
    const int64_t offset = batch.firstToken(request) - batch.firstPosition(request);
    for (int64_t i = 0; i < batch.count(request); ++i) {
      const int32_t position = batch.position(request, i);
      if (!batch.isToken(request, position))
        continue;
      if (hasElements)
        copy.run(offset + position, next);
      if (positions)
        positions[next] = position;
      ++next;
    }
    starts[request + 1] = next;
  }
  return Status::ok();
}

} // namespace skim
