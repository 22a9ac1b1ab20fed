// What the reference is given and what it returns: one call over a batch of
// requests (rules 1, 10, 15, 16), all numbers as doubles.
#ifndef SKIM_REFERENCE_PROBLEM_H
#define SKIM_REFERENCE_PROBLEM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/SMLoc.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skim::reference {

/// Vectors of one operand: element (token, head, i) is
/// `data[(token * heads + head) * dim + i]`. The tokens of all requests lie one
/// after another.
struct Tokens {
  int64_t tokens = 0;
  int64_t heads = 0;
  int64_t dim = 0;
  std::vector<double> data;

  llvm::ArrayRef<double> row(int64_t token, int64_t head) const {
    return llvm::ArrayRef<double>(data).slice((token * heads + head) * dim, dim);
  }
};

/// A value for an `input` (or for the `NAME_counts` of a list): row major, with
/// the axes `[request, head, query-like, key-like]` that its type names. The
/// request axis may be left out when the batch has one request. A `vec` has its
/// dimension last, a weight of `linear` the axes `[out, in]`.
struct InputValue {
  std::vector<int64_t> shape;
  std::vector<double> data; ///< `bool` as 0 or 1; `index` and list entries as integers.
};

struct Problem {
  Tokens q;                              ///< `[sum of q_len, query heads, head dim]`
  Tokens k;                              ///< `[sum of kv_len, kv heads, head dim]`
  Tokens v;                              ///< `[sum of kv_len, kv heads, value dim]`
  std::vector<int64_t> cuSeqlensQ = {0}; ///< `[requests + 1]`
  std::vector<int64_t> kvLens;           ///< `[requests]`
  /// Empty: 1 / sqrt(head dim).
  std::optional<double> softmaxScale;
  int64_t layer = 0;

  std::map<std::string, InputValue> inputs;
  /// One value, or one a query head. `constexpr` parameters too.
  std::map<std::string, std::vector<double>> parameters;
};

struct Result {
  int64_t heads = 0;    ///< Query heads.
  int64_t tokens = 0;   ///< Rows of all requests.
  int64_t valueDim = 0; ///< Components of one output vector.
  int64_t maxKvLen = 0; ///< The longest request; the row length of `kept`.

  std::vector<double> out; ///< `[tokens, heads, valueDim]`
  std::vector<double> lse; ///< `[heads, tokens]`, natural logarithm
  /// `[heads, tokens, maxKvLen]`: 1 where the row attends the key of its request.
  std::vector<uint8_t> kept;
  std::vector<int64_t> visible; ///< Pairs that causality and length admit, for each query head.
  /// Kept over visible pairs for each query head; 1 where nothing is visible.
  std::vector<double> density;
  std::vector<int64_t>
      restEntries; ///< Pooled blocks that entered, summed over rows, for each head.
  /// `[requests][heads]`: ascending positions that `compact` gathers. Empty without the clause.
  std::vector<std::vector<std::vector<int64_t>>> compacted;

  bool indexOutOfRange = false; ///< Some list entry or count lay outside its axis (rule 15).
  std::string outOfRange;       ///< Which one, of which input and request; the first.
  bool unlistedLabel = false;   ///< A `match` on an input met a value that no arm lists (rule 14).

  /// Rule 9, where asked for: like `kept`, 1 where a target's own scores may decide otherwise.
  std::vector<uint8_t> open;
  /// Like `compacted`: the positions that a target may gather or not.
  std::vector<std::vector<std::vector<int64_t>>> openCompacted;

  bool isKept(int64_t head, int64_t token, int64_t key) const {
    return kept[(head * tokens + token) * maxKvLen + key] != 0;
  }
  bool isOpen(int64_t head, int64_t token, int64_t key) const {
    return open[(head * tokens + token) * maxKvLen + key] != 0;
  }
};

/// The numbers as which means of blocks enter the attention (rule 11): a target whose products take
/// no others rounds them to these.
enum class MeanType { F64, Bf16, F16 };

/// What is asked of a run beside its results.
struct Options {
  bool open = false; ///< Fill `Result::open` and `Result::openCompacted`.
  /// When not empty: attend these pairs, in the shape of `Result::kept`, in place of what the
  /// pattern keeps. A target whose scores differ within their error is judged by its own decisions.
  llvm::ArrayRef<uint8_t> kept = {};
  MeanType means = MeanType::F64;
};

struct Error {
  std::string message;
  llvm::SMRange range; ///< Invalid when no place in the source is at fault.
};

} // namespace skim::reference

#endif // SKIM_REFERENCE_PROBLEM_H
