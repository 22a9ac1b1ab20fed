// `tile` programs written by hand, compiled for the machine that runs the tests.
#ifndef SKIM_TEST_TILE_PROGRAMS_H
#define SKIM_TEST_TILE_PROGRAMS_H

#include "codegen/cpu/Emit.h"
#include "codegen/cpu/Jit.h"
#include "test/tile/AttentionBatch.h"

#include <memory>
#include <string>
#include <vector>

namespace skim::test {

/// The changing parts of an attention program. Symbols s0 and s1 are base and kv_len, further ones
/// the index parameters in the order of their slots.
struct AttentionText {
  int64_t rows = 64, keys = 64;
  int64_t indexParameters = 0;
  std::string literals; ///< definitions of %lit0, %lit1, ... before the visits
  int64_t literalCount = 0;
  std::string touched, hidden; ///< intervals
  std::string mask;            ///< body of the mask over %q, %k, yielding %keep
  std::string scores; ///< body of map_scores over %s, %q, %k, yielding %mapped; may be empty
  std::string sink;   ///< for example "sink(%x)", with %x defined in `literals`
};

std::string attentionProgram(const Shape &shape, const AttentionText &text);

/// Causal attention: every visible pair is kept.
AttentionText causalText(int64_t rows, int64_t keys);
/// `k < p0 or q - k < p1`, causal, with the parameters p0 (sink) and p1 (window).
AttentionText streamingText(int64_t rows, int64_t keys);

/// Compiles a module of programs for `target`, to a file in memory; errors are test failures.
std::string emit(const std::string &text, const cpu::Target &target, cpu::OutputKind kind);
/// Compiles a module of programs to functions; errors are test failures.
std::unique_ptr<cpu::Jit> compile(const std::string &text, const cpu::Target &target);
skim_cpu_kernel lookup(const cpu::Jit &jit, const std::string &symbol);

/// The targets that this machine runs.
std::vector<const cpu::Target *> hostTargets();

} // namespace skim::test

#endif // SKIM_TEST_TILE_PROGRAMS_H
