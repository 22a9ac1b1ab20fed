#include "reference/Request.h"

#include <algorithm>
#include <numeric>

namespace skim::reference {

int64_t floorDiv(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::string describe(const Axes &axes) {
  std::string text;
  auto add = [&](const std::string &axis) { text += (text.empty() ? "" : ", ") + axis; };
  if (axes.head != HeadAxis::None)
    add(axes.head == HeadAxis::Head ? "head" : "kv_head");
  if (axes.query)
    add(axes.query == 1 ? "q" : "q / " + std::to_string(axes.query));
  if (axes.key)
    add(axes.key == 1 ? "k" : "k / " + std::to_string(axes.key));
  if (axes.diagonal)
    add("q - k");
  return text.empty() ? "no axis" : text;
}

/// A diagonal axis beside other positions: only single pairs tell both apart.
static bool mixesDiagonal(const Axes &a, const Axes &b) {
  return a.diagonal != b.diagonal && (a.diagonal ? b : a).hasPositions();
}

std::optional<Axes> meet(const Axes &a, const Axes &b) {
  auto clash = [](int64_t x, int64_t y) { return x != 0 && y != 0 && x != y; };
  if (clash(a.query, b.query) || clash(a.key, b.key))
    return std::nullopt;
  Axes result{std::max(a.head, b.head), std::max(a.query, b.query), std::max(a.key, b.key),
              a.diagonal || b.diagonal};
  if (!result.diagonal || (result.key == 0 && result.query != 1))
    return result;
  // Of single tokens, any two of q, k and q - k name the pair.
  if (result.query > 1 || result.key > 1)
    return std::nullopt;
  return Axes{result.head, 1, 1, false};
}

Axes refine(const Axes &a, const Axes &b) {
  Axes result;
  result.head = std::max(a.head, b.head);
  if (mixesDiagonal(a, b)) {
    result.query = result.key = 1;
    return result;
  }
  result.query = std::gcd(a.query, b.query);
  result.key = std::gcd(a.key, b.key);
  result.diagonal = a.diagonal || b.diagonal;
  return result;
}

int64_t Request::headCount(HeadAxis axis) const {
  switch (axis) {
  case HeadAxis::None:
    return 1;
  case HeadAxis::KvHead:
    return kvHeads;
  case HeadAxis::Head:
    return queryHeads;
  }
  return 1;
}

int64_t Request::queryCells(int64_t block) const {
  if (block == 0)
    return 1;
  return qLen == 0 ? 0 : floorDiv(kvLen - 1, block) - floorDiv(base(), block) + 1;
}

int64_t Request::keyCells(const Axes &axes) const {
  if (axes.diagonal)
    return kvLen == 0 || qLen == 0 ? 0 : kvLen - firstDiagonal();
  return axes.key ? floorDiv(kvLen + axes.key - 1, axes.key) : 1;
}

Span Request::rows(int64_t block, int64_t cell) const {
  if (block == 0)
    return {base(), kvLen};
  return {std::max(base(), cell * block), std::min(kvLen, (cell + 1) * block)};
}

Span Request::keys(int64_t block, int64_t cell) const {
  if (block == 0)
    return {0, kvLen};
  return {cell * block, std::min(kvLen, (cell + 1) * block)};
}

bool Request::operandCellExists(const Axes &axes, int64_t query, int64_t key, bool any) const {
  if (axes.query == 0 || axes.key == 0)
    return true;
  Span r = rows(axes.query, query), c = keys(axes.key, key);
  if (r.empty() || c.empty())
    return false;
  if (!causal)
    return true;
  return any ? r.end - 1 >= c.begin : r.begin >= c.end - 1;
}

bool Request::inputCellExists(const Axes &axes, int64_t query, int64_t key) const {
  if (!axes.hasPositions())
    return true;
  Span r = rows(axes.query, query);
  if (axes.diagonal) {
    // Rows whose key at this distance exists.
    int64_t distance = firstDiagonal() + key;
    r = {std::max(r.begin, distance), std::min(r.end, kvLen + distance)};
    return !r.empty() && (!causal || distance >= 0);
  }
  Span c = keys(axes.key, key);
  return !r.empty() && !c.empty() && (!causal || r.end - 1 >= c.begin);
}

} // namespace skim::reference
