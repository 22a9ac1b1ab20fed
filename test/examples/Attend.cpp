#include "test/examples/Attend.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace skim::examples {
namespace {

struct Entry {
  double logit;
  std::vector<double> value;
};

double scaledDot(const Prompt &prompt, std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) * prompt.scale();
}

Entry meanOf(const Prompt &prompt, int64_t row, int64_t head, int64_t begin, int64_t end) {
  int64_t kvHead = prompt.kvHeadOf(head);
  auto size = static_cast<double>(end - begin);
  std::vector<double> key(prompt.dim), value(prompt.valueDim);
  for (int64_t k = begin; k < end; ++k) {
    for (int64_t i = 0; i < prompt.dim; ++i)
      key[i] += prompt.key(k, kvHead)[i] / size;
    for (int64_t i = 0; i < prompt.valueDim; ++i)
      value[i] += prompt.value(k, kvHead)[i] / size;
  }
  return {scaledDot(prompt, prompt.query(row, head), key) + std::log(size), value};
}

/// Whether the tile that holds `row` leaves the block of keys to its mean.
bool isRest(const Prompt &prompt, const Kept &kept, int64_t head, int64_t row, Rest rest,
            int64_t begin, int64_t end) {
  int64_t tile = floorDiv(prompt.position(row), rest.rows);
  for (int64_t other = 0; other < prompt.qLen; ++other) {
    if (floorDiv(prompt.position(other), rest.rows) != tile)
      continue;
    if (prompt.position(other) < end - 1)
      return false;
    for (int64_t k = begin; k < end; ++k)
      if (kept(head, other, k))
        return false;
  }
  return true;
}

} // namespace

std::vector<double> attend(const Prompt &prompt, const Kept &kept, const Logit &logit, Rest rest) {
  std::vector<double> out(prompt.qLen * prompt.heads * prompt.valueDim);
  for (int64_t row = 0; row < prompt.qLen; ++row)
    for (int64_t head = 0; head < prompt.heads; ++head) {
      int64_t q = prompt.position(row), kvHead = prompt.kvHeadOf(head);
      std::vector<Entry> entries;
      for (int64_t k = 0; k <= q; ++k) {
        if (!kept(head, row, k))
          continue;
        double s = scaledDot(prompt, prompt.query(row, head), prompt.key(k, kvHead));
        std::span<const double> value = prompt.value(k, kvHead);
        entries.push_back({logit ? logit(prompt, head, s, q, k) : s, {value.begin(), value.end()}});
      }
      for (int64_t begin = 0; rest.keys > 0 && begin < prompt.kvLen; begin += rest.keys) {
        int64_t end = std::min(begin + rest.keys, prompt.kvLen);
        if (isRest(prompt, kept, head, row, rest, begin, end))
          entries.push_back(meanOf(prompt, row, head, begin, end));
      }
      double most = 0, sum = 0;
      for (const Entry &entry : entries)
        most = std::max(most, entry.logit);
      for (const Entry &entry : entries)
        sum += std::exp(entry.logit - most);
      for (const Entry &entry : entries)
        for (int64_t i = 0; i < prompt.valueDim; ++i)
          out[(row * prompt.heads + head) * prompt.valueDim + i] +=
              std::exp(entry.logit - most) / sum * entry.value[i];
    }
  return out;
}

} // namespace skim::examples
