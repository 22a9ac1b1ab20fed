// Decisions about scores that are known up to an error: kept, dropped, or too close to call.
#ifndef SKIM_TEST_EXAMPLES_DECISION_H
#define SKIM_TEST_EXAMPLES_DECISION_H

#include "test/examples/Prompt.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skim::examples {

enum class Decision : uint8_t { Dropped, Uncertain, Kept };

inline Decision sure(bool kept) { return kept ? Decision::Kept : Decision::Dropped; }
/// Kept by one or the other.
inline Decision either(Decision a, Decision b) { return std::max(a, b); }

struct Score {
  double value = 0;
  double error = 0;
};
Score operator+(Score a, Score b);
Score operator-(Score a, Score b);
Score operator*(Score a, double factor);
Score exponential(Score a);
Score larger(Score a, Score b);

/// Scores along a row; those that do not exist are empty.
using Scores = std::vector<std::optional<Score>>;

Scores softmax(const Scores &scores);
Decision atLeast(const std::optional<Score> &score, Score threshold);
/// The n largest; of equals the first.
std::vector<Decision> largest(const Scores &scores, int64_t n);
/// The fewest largest whose sum reaches `share` of the sum of all; one at least. None is negative.
std::vector<Decision> carryingShare(const Scores &scores, double share);

/// A vector each of whose elements is known up to an error.
struct Vector {
  std::vector<double> values, errors;

  explicit Vector(std::span<const double> exact)
      : values(exact.begin(), exact.end()), errors(exact.size()) {}
};

/// q . k, off by `product` times the sum of |q_i k_i| and by what the elements' errors make.
Score dot(const Vector &a, const Vector &b, double product);

/// The mean of keys [begin, end) of a KV head, and the largest and least element in each channel.
Vector meanKey(const Prompt &prompt, int64_t kvHead, int64_t begin, int64_t end);
Vector largestKey(const Prompt &prompt, int64_t kvHead, int64_t begin, int64_t end);
Vector leastKey(const Prompt &prompt, int64_t kvHead, int64_t begin, int64_t end);

/// Rounded to nearest even in a format with `bits` of mantissa behind the point, smallest normal
/// exponent `least` and largest finite value `most`. An element within `pool` of its own size from
/// where the rounding turns may come out one step away.
Vector rounded(const Vector &vector, int bits, int least, double most, double pool);
Vector bf16(const Vector &vector, double pool);
/// e4m3fn
Vector fp8(const Vector &vector, double pool);

/// What a pattern keeps of a prompt, [head][row][key]; what is not visible is dropped.
class Relation {
public:
  explicit Relation(const Prompt &prompt)
      : rows(prompt.qLen), keys(prompt.kvLen),
        decisions(prompt.heads * rows * keys, Decision::Dropped) {}

  Decision &at(int64_t head, int64_t row, int64_t key) {
    return decisions[(head * rows + row) * keys + key];
  }
  Decision at(int64_t head, int64_t row, int64_t key) const {
    return decisions[(head * rows + row) * keys + key];
  }

private:
  int64_t rows, keys;
  std::vector<Decision> decisions;
};

/// decide(head, row, position, key) for every visible pair.
template <typename Decide> Relation relationOf(const Prompt &prompt, Decide decide) {
  Relation relation(prompt);
  for (int64_t head = 0; head < prompt.heads; ++head)
    for (int64_t row = 0; row < prompt.qLen; ++row)
      for (int64_t key = 0; key <= prompt.position(row); ++key)
        relation.at(head, row, key) = decide(head, row, prompt.position(row), key);
  return relation;
}

} // namespace skim::examples

#endif // SKIM_TEST_EXAMPLES_DECISION_H
