// A plain KV cache beside which the paged one is tested: sequences are lists of numbered tokens,
// and pages are counted by who holds them.
#ifndef SKIM_TEST_RUNTIME_PLAINKVCACHE_H
#define SKIM_TEST_RUNTIME_PLAINKVCACHE_H

#include <skim/PagedKvCache.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <vector>

namespace skim::test {

struct ModelCase {
  const char *name;
  int64_t pages;
  int64_t pageSize;
  KvLayout layout;
  DType cache;
  DType rows; ///< element type of appended keys and values
};

inline std::ostream &operator<<(std::ostream &stream, const ModelCase &test) {
  return stream << test.name;
}

inline constexpr int64_t kHeads = 2;
inline constexpr int64_t kDim = 8;

float decode(const void *data, DType dtype, int64_t index);
void encode(void *data, DType dtype, int64_t index, float value);
/// The value that is left of `value` in a type.
float rounded(float value, DType dtype);

/// An element of the token with this number; beyond the range of FP8 now and then.
float elementOf(int64_t token, int64_t head, int64_t i, bool value);

/// Rows of tokens in a type, with strides of their own.
class Rows {
public:
  Rows(const std::vector<int64_t> &tokens, bool value, DType dtype);
  TensorView view() const;

private:
  std::vector<std::byte> memory;
  DType dtype;
  int64_t count;
};

struct PlainSequence {
  std::vector<int64_t> tokens;
  std::vector<std::shared_ptr<int>> pages;
  float scale = 1;
};

struct PlainCache {
  explicit PlainCache(const ModelCase &test) : test(test) {}

  /// False where pages are lacking.
  bool append(PlainSequence &sequence, const std::vector<int64_t> &added);
  void resize(PlainSequence &sequence, int64_t tokens) const;
  std::map<const int *, int> holders() const;
  PagedKvCacheStatistics statistics() const;

  const ModelCase &test;
  std::map<SequenceId, PlainSequence> sequences;
  int64_t pageCopies = 0;
  int64_t exhausted = 0;
  int64_t saturated = 0;
};

} // namespace skim::test

#endif // SKIM_TEST_RUNTIME_PLAINKVCACHE_H
