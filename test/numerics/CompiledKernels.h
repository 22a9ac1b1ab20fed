// Compiled kernels of every kind, and a batch that all of them run over.
#ifndef SKIM_TEST_NUMERICS_COMPILEDKERNELS_H
#define SKIM_TEST_NUMERICS_COMPILEDKERNELS_H

#include <skim/Kernel.h>

#include <cstdint>
#include <string>
#include <vector>

namespace skim::test {

/// A pattern, and the inputs that it needs.
struct PatternKind {
  const char *name;
  const char *text;
};

/// Static sets, lists, masks, scores of tokens, selections by scores with `rest`, and `compact`.
extern const std::vector<PatternKind> kPatternKinds;

inline constexpr int64_t kQueryHeads = 4;
inline constexpr int64_t kKvHeads = 2;
inline constexpr int64_t kHeadDim = 16;

/// Compiles for f32, any layout. Fails the calling test where it does not compile.
Kernel compileKind(const std::string &text);

/// Ragged: chunks over cached keys, more rows than keys, a request without rows, one without keys.
struct RaggedBatch {
  RaggedBatch();

  /// Contiguous keys and values, and all results. Inputs are those that `kPatternKinds` name.
  Operands operands(const Kernel &kernel);
  int64_t requests() const { return static_cast<int64_t>(kvLens.size()); }
  int64_t tokens() const { return cuSeqlensQ.back(); }
  int64_t longestKv() const;

  std::vector<int32_t> cuSeqlensQ;
  std::vector<int32_t> kvLens;
  std::vector<int32_t> cuSeqlensKv;
  std::vector<float> q, k, v, out, lse;
  std::vector<int32_t> blocks;
  std::vector<uint8_t> layout;
  std::vector<float> importance;
  std::vector<int32_t> positions, counts;
};

} // namespace skim::test

#endif // SKIM_TEST_NUMERICS_COMPILEDKERNELS_H
