// The arrays of one run, as serving engines hold them.
#ifndef SKIM_OPERANDS_H
#define SKIM_OPERANDS_H

#include <skim/TensorView.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skim {

/// How `k` and `v` are laid out. `dim` is the head dimension of keys, the value dimension of
/// values.
enum class KvLayout : uint8_t {
  Contiguous, ///< [kv tokens, kv_heads, dim], requests one after another by cu_seqlens_kv
  PagedNhd,   ///< [pages, page_size, kv_heads, dim]
  PagedHnd,   ///< [pages, kv_heads, page_size, dim]
};

/// An input of the pattern by its name. Its axes are `[request, head, query-like, key-like]`, those
/// that its type in the pattern names, in this order; the request axis may be left out
/// when the batch has one request. A query-like axis starts at the block of the
/// call's first row, a key-like axis at key 0. Extents may exceed what the lengths need.
/// `bool` is u8 (0 or not), `index` i32, `f32` f32, `vec` f32 with the vector as
/// one more axis of stride 1; a `list` is i32 indices with its capacity as the last extent, -1 as
/// padding, and the optional input `NAME_counts`, i32 without that last axis.
struct NamedTensor {
  std::string name;
  TensorView tensor;
};

/// The last axis of q, k, v and out has stride 1; the other axes may have any stride.
/// Of q, out and lse the first cu_seqlens_q[requests] tokens are used; there may be more.
struct Operands {
  TensorView q = {}; ///< [tokens, query_heads, head_dim], the kernel's operand type
  TensorView k = {}; ///< see `kvLayout`, the kernel's operand type
  TensorView v = {};
  KvLayout kvLayout = KvLayout::Contiguous;

  TensorView cuSeqlensQ =
      {}; ///< i32[requests + 1], dense: request r has the rows from entry r to r + 1
  TensorView kvLens = {};      ///< i32[requests], dense: keys of each request, cached and new
  TensorView cuSeqlensKv = {}; ///< i32[requests + 1], dense; contiguous layout only
  /// i32[requests, max_pages], rows dense; paged layouts only. Entries past a request's
  /// last page are not read.
  TensorView blockTable = {};
  /// f32[requests, kv_heads], any strides, optional (1): what the elements of an FP8 cache are
  /// multiplied by. Refused where k and v are not FP8.
  TensorView kScales = {};
  TensorView vScales = {};

  TensorView out = {}; ///< result: [tokens, query_heads, value_dim], the kernel's output type
  TensorView lse =
      {}; ///< result, optional: f32[query_heads, tokens], natural logarithm, any strides

  /// Result, optional: what the pattern's `compact` gathers. i32[requests, heads, capacity], the
  /// last axis dense, with a capacity of at least the largest kv_len: the positions of the keys in
  /// ascending order, then -1 up to the capacity. `heads` is 1, the number of KV heads or that of
  /// query heads, as the launch plan says (`Signature::compactHeads`); `gatherTokens` takes them.
  /// Refused where the pattern has no `compact`.
  TensorView compactPositions = {};
  /// Result, optional: i32[requests, heads], any strides: how many positions there are, 0 for a
  /// request without rows.
  TensorView compactCounts = {};

  std::vector<NamedTensor> inputs = {};

  /// Multiplies the products of queries and keys. Default 1 / sqrt(head_dim).
  std::optional<double> softmaxScale = {};
  /// The value of `layer` in the pattern, from -2^31 to 2^31.
  int64_t layer = 0;
};

} // namespace skim

#endif // SKIM_OPERANDS_H
