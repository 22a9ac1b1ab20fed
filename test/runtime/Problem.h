// A batch with random operands, plain kernels that attend over it, and what they must give.
#ifndef SKIM_TEST_RUNTIME_PROBLEM_H
#define SKIM_TEST_RUNTIME_PROBLEM_H

#include "runtime/LaunchPlan.h"

#include <skim/Kernel.h>
#include <skim/WorkspaceMemory.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace skim::test {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Lengths {
  int64_t query;
  int64_t kv;
};

struct Heads {
  int64_t query = 4;
  int64_t kv = 2;
  int64_t dim = 8;
  int64_t valueDim = 8;
};

/// f32 operands, contiguous. `out` and `lse` start as NaN.
struct Problem {
  explicit Problem(const std::vector<Lengths> &lengths, Heads heads = {}, unsigned seed = 1);

  Operands operands();
  BatchShape shape() const;
  int64_t requests() const { return static_cast<int64_t>(kvLens.size()); }
  int64_t tokens() const { return cuSeqlensQ.back(); }
  int64_t kvTokens() const { return cuSeqlensKv.back(); }

  Heads heads;
  std::vector<int32_t> cuSeqlensQ;
  std::vector<int32_t> kvLens;
  std::vector<int32_t> cuSeqlensKv;
  std::vector<float> q;
  std::vector<float> k;
  std::vector<float> v;
  std::vector<float> out;
  std::vector<float> lse;
};

/// Whether query head `head` of `request` attends from position q to key k (causality and length
/// are applied besides).
using Relation = std::function<bool(int64_t request, int64_t head, int64_t q, int64_t k)>;

struct Attention {
  std::vector<float> out; ///< [tokens, query heads, value dim]
  std::vector<float> lse; ///< [query heads, tokens]
};

/// Attention in f64 over the kept, existing and causally visible keys.
Attention referenceAttention(const Problem &problem, const Relation &keep = nullptr);

/// Fails the calling test where `problem.out` or `problem.lse` differs from `expected`.
void expectAttention(const Problem &problem, const Attention &expected);

/// Workspace of arbitrary contents.
WorkspaceMemory filledWorkspace(int64_t bytes);

/// Query tile height and key block of the plans below.
inline constexpr int64_t kRows = 16;
inline constexpr int64_t kKeys = 8;

/// Signature of a problem, any layout of keys and values.
Signature signatureOf(const Heads &heads);
/// One kernel without inputs: causal attention over all keys.
LaunchPlan causalPlan(const Heads &heads);
/// One kernel with `input blocks: list[q / 16, k / 8]`: attention over the listed blocks.
LaunchPlan listPlan(const Heads &heads);

/// The kernels of these plans, f32. They write statistics and the kept relation where asked.
void causalAttention(const skim_kernel_args *args, const skim_work_item *items, int64_t first,
                     int64_t count, int64_t worker);
void listAttention(const skim_kernel_args *args, const skim_work_item *items, int64_t first,
                   int64_t count, int64_t worker);

/// Plans for the problem's shape, and runs.
Status runOnce(const Kernel &kernel, const BatchShape &shape, const Operands &operands,
               const Parameters &parameters = {}, const RunOptions &options = {});
Kernel causalKernel(const Heads &heads);

} // namespace skim::test

#endif // SKIM_TEST_RUNTIME_PROBLEM_H
