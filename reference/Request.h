// The geometry of one request: which positions exist, which pairs are visible,
// how positions fall into cells, and which cells exist (rules 1, 2 and 7).
#ifndef SKIM_REFERENCE_REQUEST_H
#define SKIM_REFERENCE_REQUEST_H

#include <cstdint>
#include <optional>
#include <string>

namespace skim::reference {

enum class HeadAxis { None, KvHead, Head };

/// The axes of a map. `query` and `key` are block sizes: 1 for single tokens, 0
/// for an absent axis. `diagonal` stands for `q - k`, in place of a key axis.
struct Axes {
  HeadAxis head = HeadAxis::None;
  int64_t query = 0;
  int64_t key = 0;
  bool diagonal = false;

  bool operator==(const Axes &) const = default;
  bool hasKeyLike() const { return key != 0 || diagonal; }
  bool hasPositions() const { return query != 0 || hasKeyLike(); }
};

/// As written in the language: `head, q / 128, k`.
std::string describe(const Axes &axes);

/// Rule 7: axes meet when equal or absent. None when they do not.
std::optional<Axes> meet(const Axes &a, const Axes &b);

/// The coarsest axes on which both are constant: how sets combine (rule 7).
Axes refine(const Axes &a, const Axes &b);

/// Positions `[begin, end)`.
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
  bool empty() const { return begin >= end; }
};

int64_t floorDiv(int64_t a, int64_t b);

struct Request {
  int64_t index = 0;
  int64_t queryHeads = 1;
  int64_t kvHeads = 1;
  int64_t qLen = 0;
  int64_t kvLen = 0;
  int64_t firstRow = 0; ///< Of the batch's rows, this request's first.
  int64_t firstKey = 0; ///< Of the batch's keys, this request's first.
  bool causal = true;
  bool withErrors = false; ///< The errors of scores are asked for (rule 9).

  /// Position of row 0 (rule 1).
  int64_t base() const { return kvLen - qLen; }
  bool sees(int64_t q, int64_t k) const { return k >= 0 && k < kvLen && (!causal || k <= q); }

  int64_t headCount(HeadAxis axis) const;
  /// The KV head that serves a query head.
  int64_t kvHeadOf(int64_t head) const { return head / (queryHeads / kvHeads); }

  /// Query cells are numbered absolutely, from `floor(base / block)`.
  int64_t firstQueryCell(int64_t block) const { return block ? floorDiv(base(), block) : 0; }
  int64_t queryCells(int64_t block) const;
  /// Cells of the key-like axis; 1 when there is none.
  int64_t keyCells(const Axes &axes) const;
  /// The distance `q - k` of cell 0 of a diagonal axis.
  int64_t firstDiagonal() const { return causal ? 0 : base() - (kvLen - 1); }

  /// Existing rows and keys of a cell; of an absent axis, all.
  Span rows(int64_t block, int64_t cell) const;
  Span keys(int64_t block, int64_t cell) const;

  /// Rule 2, for cells computed from operands: every existing row sees every
  /// existing key; with `any`, some row sees the first key.
  bool operandCellExists(const Axes &axes, int64_t query, int64_t key, bool any) const;
  /// Rule 2, for cells of inputs: some pair of the cell is visible.
  bool inputCellExists(const Axes &axes, int64_t query, int64_t key) const;
};

} // namespace skim::reference

#endif // SKIM_REFERENCE_REQUEST_H
