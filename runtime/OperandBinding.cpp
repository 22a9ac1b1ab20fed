#include "runtime/OperandBinding.h"

#include "runtime/TensorCheck.h"

#include <cmath>

namespace skim {

namespace {

ArgumentName argument(std::string_view name) { return {"", name}; }

Status checkNothing(std::string_view name, const TensorView &view, const char *why) {
  if (!view.isPresent())
    return Status::ok();
  return expectedButGot(argument(name), std::string("nothing (") + why + ")", view.describe());
}

Status checkAtMost(std::string_view name, const char *what, int64_t value, int64_t limit) {
  if (value <= limit)
    return Status::ok();
  return expectedButGot(argument(name),
                        "at most " + std::to_string(limit) + " " + what + " (the plan's shape)",
                        std::to_string(value));
}

Status checkRequestLength(std::string_view name, const char *what, int64_t request, int64_t length,
                          int64_t limit) {
  if (length <= limit)
    return Status::ok();
  return expectedButGot(argument(name),
                        "at most " + std::to_string(limit) + " " + what + " in request " +
                            std::to_string(request) + " (the plan's shape)",
                        std::to_string(length));
}

/// Contiguous keys and values: cu_seqlens_kv has room for every request's keys.
Status bindSequences(const Operands &operands, const LengthBounds &bounds, int64_t kvTokens,
                     skim_kernel_args &args) {
  if (Status status =
          checkNothing("block_table", operands.blockTable, "keys and values are contiguous");
      !status)
    return status;
  const AxisRule entries[] = {{"requests + 1", bounds.requests + 1}};
  const ArgumentName name = argument("cu_seqlens_kv");
  if (Status status =
          checkTensor(name, operands.cuSeqlensKv, DType::I32, entries, StrideRule::LastDense);
      !status)
    return status;
  const auto *starts = static_cast<const int32_t *>(operands.cuSeqlensKv.data);
  args.cu_seqlens_kv = starts;
  args.page_size = 0;
  if (!bounds.lengths)
    return Status::ok();
  const BatchLengths &lengths = *bounds.lengths;
  if (Status status = checkCumulativeLengths(name, starts, lengths.requests); !status)
    return status;
  if (starts[lengths.requests] > kvTokens)
    return expectedButGot(name, "at most " + std::to_string(kvTokens) + " tokens (those of k)",
                          std::to_string(starts[lengths.requests]));
  for (int64_t request = 0; request < lengths.requests; ++request) {
    const int64_t room = static_cast<int64_t>(starts[request + 1]) - starts[request];
    if (lengths.kvLength(request) > room)
      return expectedButGot(name,
                            "room for the " + std::to_string(lengths.kvLength(request)) +
                                " keys of request " + std::to_string(request) + " (kv_lens)",
                            std::to_string(room));
  }
  return Status::ok();
}

/// Paged keys and values: every page that a request reads is in the table and in the cache.
Status bindPages(const Operands &operands, const LengthBounds &bounds, int64_t pages,
                 int64_t pageSize, skim_kernel_args &args) {
  if (Status status =
          checkNothing("cu_seqlens_kv", operands.cuSeqlensKv, "keys and values are paged");
      !status)
    return status;
  const AxisRule rows[] = {{"requests", bounds.requests}, {"max pages"}};
  const ArgumentName name = argument("block_table");
  if (Status status =
          checkTensor(name, operands.blockTable, DType::I32, rows, StrideRule::LastDense);
      !status)
    return status;
  const auto *table = static_cast<const int32_t *>(operands.blockTable.data);
  const int64_t rowStride = operands.blockTable.strides[0];
  args.block_table = table;
  args.block_table_stride = rowStride;
  args.page_size = pageSize;
  if (!bounds.lengths)
    return Status::ok();
  const BatchLengths &lengths = *bounds.lengths;
  for (int64_t request = 0; request < lengths.requests; ++request) {
    const int64_t needed = keyBlocks(lengths, request, pageSize).count;
    if (needed > operands.blockTable.shape[1])
      return expectedButGot(name,
                            std::to_string(needed) + " pages or more for the " +
                                std::to_string(lengths.kvLength(request)) + " keys of request " +
                                std::to_string(request),
                            operands.blockTable.describe());
    for (int64_t i = 0; i < needed; ++i) {
      const int64_t page = table[request * rowStride + i];
      if (page < 0 || page >= pages)
        return expectedButGot(name,
                              "a page from 0 to " + std::to_string(pages - 1) + " at [" +
                                  std::to_string(request) + ", " + std::to_string(i) + "]",
                              std::to_string(page));
    }
  }
  return Status::ok();
}

skim_pages pagesOf(const TensorView &view, KvLayout layout) {
  switch (layout) {
  case KvLayout::Contiguous:
    return {view.data, 0, view.strides[0], view.strides[1]};
  case KvLayout::PagedNhd:
    return {view.data, view.strides[0], view.strides[1], view.strides[2]};
  case KvLayout::PagedHnd:
    return {view.data, view.strides[0], view.strides[2], view.strides[1]};
  }
  return {};
}

Status checkLayout(const Signature &signature, KvLayout layout) {
  if (!signature.pageSize)
    return Status::ok();
  const bool paged = layout != KvLayout::Contiguous;
  if (paged == (*signature.pageSize > 0))
    return Status::ok();
  return expectedButGot(argument("kv_layout"),
                        paged ? "contiguous keys and values (the kernel was compiled for them)"
                              : "pages of " + std::to_string(*signature.pageSize) +
                                    " keys (the kernel was compiled for them)",
                        paged ? "pages" : "contiguous keys and values");
}

Status bindKeysAndValues(const Signature &signature, const Operands &operands,
                         const LengthBounds &bounds, skim_kernel_args &args) {
  const KvLayout layout = operands.kvLayout;
  if (Status status = checkLayout(signature, layout); !status)
    return status;

  for (const auto &[name, view] : {std::pair("k", &operands.k), std::pair("v", &operands.v)})
    if (view->dtype == DType::F8E4M3 && signature.operand != DType::F8E4M3)
      return {StatusCode::Unsupported,
              std::string(name) + ": the kernel reads keys and values of " +
                  dtypeName(signature.operand) + ", not " + view->describe()};
  for (const auto &[name, view] :
       {std::pair("k_scales", &operands.kScales), std::pair("v_scales", &operands.vScales)})
    if (Status status = checkNothing(name, *view, "keys and values are not FP8"); !status)
      return status;

  // The keys say how many tokens or pages there are; the values must agree.
  const int64_t fixedPage = signature.pageSize.value_or(-1);
  const auto check = [&](std::string_view name, const TensorView &view, int64_t dim,
                         const TensorView *keys) {
    const AxisRule outer{layout == KvLayout::Contiguous ? "tokens" : "pages",
                         keys ? keys->shape[0] : -1};
    const AxisRule heads{"kv_heads", signature.kvHeads};
    const AxisRule last{"dim", dim};
    const int pageAxis = layout == KvLayout::PagedNhd ? 1 : 2;
    const AxisRule page{"page_size", keys ? keys->shape[pageAxis] : fixedPage};
    const AxisRule contiguous[] = {outer, heads, last};
    const AxisRule nhd[] = {outer, page, heads, last};
    const AxisRule hnd[] = {outer, heads, page, last};
    const std::span<const AxisRule> rules =
        layout == KvLayout::Contiguous ? std::span<const AxisRule>(contiguous)
        : layout == KvLayout::PagedNhd ? std::span<const AxisRule>(nhd)
                                       : std::span<const AxisRule>(hnd);
    return checkTensor(argument(name), view, signature.operand, rules, StrideRule::LastDense);
  };
  if (Status status = check("k", operands.k, signature.headDim, nullptr); !status)
    return status;
  if (Status status = check("v", operands.v, signature.valueDim, &operands.k); !status)
    return status;

  args.key = pagesOf(operands.k, layout);
  args.value = pagesOf(operands.v, layout);
  if (layout == KvLayout::Contiguous)
    return bindSequences(operands, bounds, operands.k.shape[0], args);
  const int64_t pageSize = operands.k.shape[layout == KvLayout::PagedNhd ? 1 : 2];
  if (pageSize < 1)
    return expectedButGot(argument("k"), "a page size of at least 1", operands.k.describe());
  return bindPages(operands, bounds, operands.k.shape[0], pageSize, args);
}

int64_t headsOf(const Signature &signature, HeadAxis axis) {
  switch (axis) {
  case HeadAxis::None:
    return 1;
  case HeadAxis::KvHead:
    return signature.kvHeads;
  case HeadAxis::QueryHead:
    return signature.queryHeads;
  }
  return 1;
}

Status bindCompact(const Signature &signature, const Operands &operands, const LengthBounds &bounds,
                   skim_kernel_args &args) {
  const TensorView &positions = operands.compactPositions;
  const TensorView &counts = operands.compactCounts;
  if (!signature.compactHeads) {
    if (Status status = checkNothing("compact_positions", positions, "the pattern has no compact");
        !status)
      return status;
    return checkNothing("compact_counts", counts, "the pattern has no compact");
  }
  const AxisRule axes[] = {{"requests", bounds.requests},
                           {"heads", headsOf(signature, *signature.compactHeads)},
                           {"capacity", bounds.longestKv, /*atLeast=*/true}};
  if (positions.isPresent()) {
    const ArgumentName name = argument("compact_positions");
    if (Status status = checkTensor(name, positions, DType::I32, axes, StrideRule::LastDense);
        !status)
      return status;
    if (Status status = checkDistinctElements(name, positions); !status)
      return status;
    args.compact_positions = static_cast<int32_t *>(positions.data);
    args.compact_positions_request_stride = positions.strides[0];
    args.compact_positions_head_stride = positions.strides[1];
  }
  if (counts.isPresent()) {
    const ArgumentName name = argument("compact_counts");
    if (Status status =
            checkTensor(name, counts, DType::I32, std::span(axes).first(2), StrideRule::Any);
        !status)
      return status;
    if (Status status = checkDistinctElements(name, counts); !status)
      return status;
    args.compact_counts = static_cast<int32_t *>(counts.data);
    args.compact_counts_request_stride = counts.strides[0];
    args.compact_counts_head_stride = counts.strides[1];
  }
  return Status::ok();
}

Status bindResults(const Signature &signature, const Operands &operands, const TensorView &kept,
                   const LengthBounds &bounds, skim_kernel_args &args) {
  const int64_t tokens = bounds.tokens;
  const AxisRule out[] = {{"tokens", tokens, /*atLeast=*/true},
                          {"query_heads", signature.queryHeads},
                          {"value_dim", signature.valueDim}};
  if (Status status =
          checkTensor(argument("out"), operands.out, signature.output, out, StrideRule::LastDense);
      !status)
    return status;
  if (Status status = checkDistinctElements(argument("out"), operands.out); !status)
    return status;
  args.out = {operands.out.data, operands.out.strides[0], operands.out.strides[1]};

  if (operands.lse.isPresent()) {
    const AxisRule lse[] = {{"query_heads", signature.queryHeads},
                            {"tokens", tokens, /*atLeast=*/true}};
    if (Status status =
            checkTensor(argument("lse"), operands.lse, DType::F32, lse, StrideRule::Any);
        !status)
      return status;
    if (Status status = checkDistinctElements(argument("lse"), operands.lse); !status)
      return status;
    args.lse = static_cast<float *>(operands.lse.data);
    args.lse_head_stride = operands.lse.strides[0];
    args.lse_token_stride = operands.lse.strides[1];
  }
  if (Status status = bindCompact(signature, operands, bounds, args); !status)
    return status;

  if (!kept.isPresent())
    return Status::ok();
  if (!signature.writesKept)
    return {StatusCode::Unsupported,
            "kept: the kernel was compiled without the code that writes the kept relation"};
  const AxisRule axes[] = {{"query_heads", signature.queryHeads},
                           {"tokens", tokens, /*atLeast=*/true},
                           {"keys", bounds.longestKv, /*atLeast=*/true}};
  if (Status status = checkTensor(argument("kept"), kept, DType::U8, axes, StrideRule::LastDense);
      !status)
    return status;
  if (Status status = checkDistinctElements(argument("kept"), kept); !status)
    return status;
  args.kept = static_cast<uint8_t *>(kept.data);
  args.kept_head_stride = kept.strides[0];
  args.kept_row_stride = kept.strides[1];
  return Status::ok();
}

} // namespace

Expected<BatchLengths> bindLengths(const Operands &operands, const BatchShape &shape) {
  const Expected<BatchShape> actual = BatchShape::of(operands.cuSeqlensQ, operands.kvLens);
  if (!actual)
    return actual.status();
  if (Status status = checkAtMost("cu_seqlens_q", "requests", actual->requests, shape.requests);
      !status)
    return status;
  if (Status status = checkAtMost("cu_seqlens_q", "query tokens", actual->totalQueryTokens,
                                  shape.totalQueryTokens);
      !status)
    return status;
  const BatchLengths lengths{static_cast<const int32_t *>(operands.cuSeqlensQ.data),
                             static_cast<const int32_t *>(operands.kvLens.data), actual->requests};
  for (int64_t request = 0; request < lengths.requests; ++request) {
    if (Status status = checkRequestLength("cu_seqlens_q", "query tokens", request,
                                           lengths.queryLength(request), shape.maxQueryLength);
        !status)
      return status;
    if (Status status = checkRequestLength("kv_lens", "keys", request, lengths.kvLength(request),
                                           shape.maxKvLength);
        !status)
      return status;
  }
  return lengths;
}

LengthBounds boundsOf(const BatchLengths &lengths) {
  return {lengths.requests, lengths.cuSeqlensQ[lengths.requests], lengths.longestKv(), &lengths};
}

Expected<LengthBounds> bindDeviceLengths(const Operands &operands, const BatchShape &shape) {
  const AxisRule entries[] = {{"requests + 1", 1, /*atLeast=*/true}};
  if (Status status = checkTensor(argument("cu_seqlens_q"), operands.cuSeqlensQ, DType::I32,
                                  entries, StrideRule::LastDense);
      !status)
    return status;
  const int64_t requests = operands.cuSeqlensQ.shape[0] - 1;
  const AxisRule lengths[] = {{"requests", requests}};
  if (Status status = checkTensor(argument("kv_lens"), operands.kvLens, DType::I32, lengths,
                                  StrideRule::LastDense);
      !status)
    return status;
  if (Status status = checkAtMost("cu_seqlens_q", "requests", requests, shape.requests); !status)
    return status;
  return LengthBounds{requests, 0, shape.maxKvLength, nullptr};
}

Status bindOperands(const Signature &signature, const Operands &operands, const TensorView &kept,
                    const LengthBounds &bounds, skim_kernel_args &args) {
  args.requests = bounds.requests;
  args.query_heads = signature.queryHeads;
  args.kv_heads = signature.kvHeads;
  args.layer = operands.layer;
  args.cu_seqlens_q = static_cast<const int32_t *>(operands.cuSeqlensQ.data);
  args.kv_lens = static_cast<const int32_t *>(operands.kvLens.data);

  const double scale =
      operands.softmaxScale.value_or(1 / std::sqrt(static_cast<double>(signature.headDim)));
  if (!std::isfinite(scale))
    return expectedButGot(argument("softmax_scale"), "a finite number", std::to_string(scale));
  args.softmax_scale = scale;

  const AxisRule query[] = {{"tokens", bounds.tokens, /*atLeast=*/true},
                            {"query_heads", signature.queryHeads},
                            {"head_dim", signature.headDim}};
  if (Status status =
          checkTensor(argument("q"), operands.q, signature.operand, query, StrideRule::LastDense);
      !status)
    return status;
  args.query = {operands.q.data, operands.q.strides[0], operands.q.strides[1]};

  if (Status status = bindKeysAndValues(signature, operands, bounds, args); !status)
    return status;
  return bindResults(signature, operands, kept, bounds, args);
}

} // namespace skim
