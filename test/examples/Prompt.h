// One request as plain numbers: all that a restatement of a paper's selection may look at.
#ifndef SKIM_TEST_EXAMPLES_PROMPT_H
#define SKIM_TEST_EXAMPLES_PROMPT_H

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace skim::examples {

/// How far a device's scores may be from exact ones.
struct Precision {
  /// Of a product of vectors, times the sum of |q_i k_i|.
  double product = 0;
  /// The same where operands are cast to fp8.
  double productOfFp8 = 0;
  /// What a value may be off before it is cast, relative to it.
  double pool = 0;
};

/// Block numbers count from position 0 on; the query-like axis of an input from the block of row 0.
struct Prompt {
  int64_t heads = 0, kvHeads = 0, dim = 0, valueDim = 0, qLen = 0, kvLen = 0;
  std::vector<double> q; ///< [row][head][dim]
  std::vector<double> k; ///< [key][kv head][dim]
  std::vector<double> v; ///< [key][kv head][value dim]
  std::map<std::string, std::vector<double>> parameters;
  std::map<std::string, std::vector<double>> inputs;
  std::map<std::string, std::vector<int64_t>> extents; ///< Of the inputs.
  Precision precision;

  int64_t position(int64_t row) const { return kvLen - qLen + row; }
  int64_t kvHeadOf(int64_t head) const { return head / (heads / kvHeads); }
  double scale() const;
  std::span<const double> query(int64_t row, int64_t head) const;
  std::span<const double> key(int64_t key, int64_t kvHead) const;
  std::span<const double> value(int64_t key, int64_t kvHead) const;

  /// The one value of a parameter.
  double f32(const std::string &name) const { return parameters.at(name).at(0); }
  int64_t index(const std::string &name) const { return static_cast<int64_t>(f32(name)); }
  /// Element (i, j, k) of an input with three axes; (i, j) of one with two.
  double input(const std::string &name, int64_t i, int64_t j, int64_t k) const;
  double input(const std::string &name, int64_t i, int64_t j) const;
};

int64_t floorDiv(int64_t a, int64_t b);

} // namespace skim::examples

#endif // SKIM_TEST_EXAMPLES_PROMPT_H
