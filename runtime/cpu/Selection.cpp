#include "runtime/cpu/Selection.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace {

/// Orders like the floats do, +0 and -0 alike.
uint32_t sortKey(float score) {
  const auto bits = std::bit_cast<uint32_t>(score == 0 ? 0.0f : score);
  return (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
}

/// How many cells to take of those that exist: ceil with a tolerance, clamped.
int64_t cellCount(double x, int64_t existing) {
  const double n = std::ceil(x - 1e-6 * std::max(1.0, x));
  if (!(n > 0)) // also where it is undefined: x is NaN or infinite
    return 0;
  return n < static_cast<double>(existing) ? static_cast<int64_t>(n) : existing;
}

/// The n-th largest key (n from 1 to the cells that exist), and how many cells equal to it belong
/// to the n largest.
struct Threshold {
  uint32_t key;
  int64_t equal;
};

/// Fixes one byte of the key a pass, from the highest: counts the cells that agree with the
/// bytes fixed so far by their next byte.
Threshold findThreshold(const float *scores, int64_t count, int64_t n) {
  uint32_t prefix = 0;
  uint32_t mask = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    std::array<int64_t, 256> histogram{};
    for (int64_t i = 0; i < count; ++i) {
      if (std::isnan(scores[i]))
        continue;
      const uint32_t key = sortKey(scores[i]);
      if ((key & mask) == prefix)
        ++histogram[(key >> shift) & 0xff];
    }
    uint32_t digit = 255;
    while (digit > 0 && histogram[digit] < n)
      n -= histogram[digit--];
    prefix |= digit << shift;
    mask |= 0xffu << shift;
  }
  return {prefix, n};
}

} // namespace

int64_t skim_select_top_k(const float *scores, int64_t count, double x, uint8_t *selected) {
  std::fill_n(selected, count, uint8_t{0});
  // Most rows end in cells that causality hides.
  int64_t end = count;
  while (end > 0 && std::isnan(scores[end - 1]))
    --end;
  const int64_t existing =
      std::count_if(scores, scores + end, [](float score) { return !std::isnan(score); });
  const int64_t n = cellCount(x, existing);
  if (n == 0)
    return 0;
  Threshold threshold = findThreshold(scores, end, n);
  for (int64_t i = 0; i < end; ++i) {
    if (std::isnan(scores[i]))
      continue;
    const uint32_t key = sortKey(scores[i]);
    if (key > threshold.key || (key == threshold.key && threshold.equal-- > 0))
      selected[i] = 1;
  }
  return n;
}

int64_t skim_select_top_p(const float *scores, int64_t count, double mass, uint8_t *selected,
                          int32_t *order) {
  std::fill_n(selected, count, uint8_t{0});
  int64_t existing = 0;
  for (int64_t i = 0; i < count; ++i)
    if (!std::isnan(scores[i]))
      order[existing++] = static_cast<int32_t>(i);
  if (existing == 0 || std::isnan(mass))
    return 0;
  std::sort(order, order + existing, [&](int32_t a, int32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });

  const auto contribution = [&](int64_t i) {
    return std::max(0.0, static_cast<double>(scores[order[i]]));
  };
  double total = 0;
  for (int64_t i = 0; i < existing; ++i)
    total += contribution(i);
  const double target = mass * total;
  double sum = 0;
  int64_t taken = 0;
  do {
    sum += contribution(taken);
    selected[order[taken++]] = 1;
  } while (taken < existing && !(sum >= target));
  return taken;
}
