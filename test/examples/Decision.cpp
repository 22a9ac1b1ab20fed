#include "test/examples/Decision.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace skim::examples {

Score operator+(Score a, Score b) { return {a.value + b.value, a.error + b.error}; }
Score operator-(Score a, Score b) { return {a.value - b.value, a.error + b.error}; }
Score operator*(Score a, double factor) { return {a.value * factor, a.error * std::abs(factor)}; }
Score exponential(Score a) {
  double value = std::exp(a.value);
  // The function itself is good to a few units in the last place of f32 where a product is.
  return {value, value * (std::expm1(a.error) + a.error / 16)};
}
Score larger(Score a, Score b) { return {std::max(a.value, b.value), std::max(a.error, b.error)}; }

Scores softmax(const Scores &scores) {
  double most = -std::numeric_limits<double>::infinity();
  for (const std::optional<Score> &score : scores)
    if (score)
      most = std::max(most, score->value);
  Score sum;
  Scores result(scores.size());
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i]) {
      result[i] = exponential({scores[i]->value - most, scores[i]->error});
      sum = sum + *result[i];
    }
  for (std::optional<Score> &score : result)
    if (score) {
      double value = score->value / sum.value;
      score = Score{value, score->error / sum.value + value * sum.error / sum.value};
    }
  return result;
}

Decision atLeast(const std::optional<Score> &score, Score threshold) {
  if (!score)
    return Decision::Dropped;
  if (std::abs(score->value - threshold.value) <= score->error + threshold.error)
    return Decision::Uncertain;
  return sure(score->value >= threshold.value);
}

namespace {

/// How a score stands to another one: before it in descending order for sure, or perhaps.
struct Order {
  bool surelyBefore, perhapsBefore;
};
Order order(const Scores &scores, size_t other, size_t one) {
  double distance = scores[other]->value - scores[one]->value;
  double error = scores[other]->error + scores[one]->error;
  if (distance == 0 && error == 0)
    return {other < one, other < one};
  return {distance > error, distance >= -error};
}

} // namespace

std::vector<Decision> largest(const Scores &scores, int64_t n) {
  std::vector<Decision> result(scores.size(), Decision::Dropped);
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!scores[i])
      continue;
    int64_t surely = 0, perhaps = 0;
    for (size_t j = 0; j < scores.size(); ++j)
      if (j != i && scores[j]) {
        Order other = order(scores, j, i);
        surely += other.surelyBefore;
        perhaps += other.perhapsBefore;
      }
    result[i] = perhaps < n ? Decision::Kept : surely < n ? Decision::Uncertain : Decision::Dropped;
  }
  return result;
}

std::vector<Decision> carryingShare(const Scores &scores, double share) {
  std::vector<Decision> result(scores.size(), Decision::Dropped);
  Score total;
  for (const std::optional<Score> &score : scores)
    if (score)
      total = total + *score;
  Score wanted = total * share;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!scores[i])
      continue;
    double surely = 0, perhaps = 0, error = wanted.error;
    bool isFirst = true;
    for (size_t j = 0; j < scores.size(); ++j)
      if (j != i && scores[j]) {
        Order other = order(scores, j, i);
        surely += other.surelyBefore ? scores[j]->value : 0;
        perhaps += other.perhapsBefore ? scores[j]->value : 0;
        error += scores[j]->error;
        isFirst &= !other.perhapsBefore;
      }
    // A score enters while those before it do not suffice.
    if (isFirst || perhaps + error < wanted.value)
      result[i] = Decision::Kept;
    else if (surely - error < wanted.value)
      result[i] = Decision::Uncertain;
  }
  return result;
}

Score dot(const Vector &a, const Vector &b, double product) {
  Score score;
  double size = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    score.value += a.values[i] * b.values[i];
    size += std::abs(a.values[i] * b.values[i]);
    score.error += a.errors[i] * std::abs(b.values[i]) + std::abs(a.values[i]) * b.errors[i];
  }
  score.error += product * size;
  return score;
}

template <typename Join>
static Vector joinKeys(const Prompt &prompt, int64_t kvHead, int64_t begin, int64_t end,
                       Join join) {
  Vector result(prompt.key(begin, kvHead));
  for (int64_t key = begin + 1; key < end; ++key)
    for (int64_t i = 0; i < prompt.dim; ++i)
      result.values[i] = join(result.values[i], prompt.key(key, kvHead)[i]);
  return result;
}

Vector meanKey(const Prompt &prompt, int64_t kvHead, int64_t begin, int64_t end) {
  Vector sum = joinKeys(prompt, kvHead, begin, end, std::plus<>());
  for (double &value : sum.values)
    value /= static_cast<double>(end - begin);
  return sum;
}
Vector largestKey(const Prompt &prompt, int64_t kvHead, int64_t begin, int64_t end) {
  return joinKeys(prompt, kvHead, begin, end, [](double a, double b) { return std::max(a, b); });
}
Vector leastKey(const Prompt &prompt, int64_t kvHead, int64_t begin, int64_t end) {
  return joinKeys(prompt, kvHead, begin, end, [](double a, double b) { return std::min(a, b); });
}

Vector rounded(const Vector &vector, int bits, int least, double most, double pool) {
  Vector result = vector;
  for (size_t i = 0; i < vector.values.size(); ++i) {
    double value = vector.values[i];
    int exponent = value == 0 ? least : std::max(least, std::ilogb(value));
    double step = std::ldexp(1.0, exponent - bits);
    double steps = std::nearbyint(value / step); // ties to even
    result.values[i] = std::clamp(steps * step, -most, most);
    double toTurn = std::abs(std::abs(value / step - steps) - 0.5) * step;
    // Exactly between two steps the value itself is exact, a mean of few short numbers.
    if (toTurn != 0 && toTurn <= pool * std::abs(value))
      result.errors[i] += step;
  }
  return result;
}
Vector bf16(const Vector &vector, double pool) {
  return rounded(vector, 7, -126, std::numeric_limits<float>::max(), pool);
}
Vector fp8(const Vector &vector, double pool) { return rounded(vector, 3, -6, 448, pool); }

} // namespace skim::examples
