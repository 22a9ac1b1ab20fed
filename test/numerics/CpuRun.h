// Runs a case on the CPU target and compares what comes out with the reference.
#ifndef SKIM_TEST_NUMERICS_CPURUN_H
#define SKIM_TEST_NUMERICS_CPURUN_H

#include "reference/Problem.h"
#include "test/numerics/GatheredTokens.h"
#include "test/numerics/OperandStorage.h"
#include "test/numerics/ProgramGenerator.h"
#include <skim/Compiler.h>

#include <skim/Kernel.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skim::numerics {

/// How far the results of a device may be off that rounds probabilities before they meet values.
struct Bounds {
  /// Of an output, relative to the sum of p |v| in its place.
  double probability;
  /// Of the log-sum-exp, relative to the largest of a head.
  double lse;
};

/// What a run on some device came to.
struct RunResult {
  Status status; ///< Of the run; DataOutOfRange leaves results behind.
  int64_t heads = 0, tokens = 0, valueDim = 0, maxKvLen = 0;
  DType outDtype = DType::F32; ///< What the kernel wrote `out` as.
  std::vector<float> out;      ///< `[tokens, heads, valueDim]`
  std::vector<float> lse;      ///< `[heads, tokens]`
  std::vector<uint8_t> kept;   ///< `[heads, tokens, maxKvLen]`; empty where it was not asked for.
  GatheredTokens gathered;
  skim_statistics statistics = {};
  std::optional<Bounds> bounds; ///< Unset: those of arithmetic in f32.
};

/// The options that compile a case: its head counts, dimensions, types and constants.
CompileOptions optionsFor(const Case &c);

/// In a few words why a GPU target does not take a program or its operands; empty where the status
/// says something else.
std::string refusalOf(const Status &status);

/// Compiles the case's pattern. A failure carries the diagnostics.
Expected<Kernel> compileCase(const Case &c);

/// Everything that one run is given. Results and workspace hold NaN before it.
struct PreparedRun {
  PreparedRun(const Kernel &kernel, const Case &c, const Layout &layout);
  PreparedRun(const PreparedRun &) = delete;
  PreparedRun &operator=(const PreparedRun &) = delete;

  /// Reads `result.out` from where the kernel wrote f16 or bf16.
  void widenOut();

  Operands operands; ///< May be changed before the run.
  Parameters parameters;
  int64_t threads;
  int64_t missingWorkspace = 0; ///< Bytes by which the workspace is too small.
  RunResult result;

private:
  friend void run(const Kernel &kernel, PreparedRun &prepared);

  PaddedRows q;
  std::vector<int32_t> cuSeqlensQ, kvLens, cuSeqlensKv = {0};
  std::unique_ptr<PaddedRows> denseKeys, denseValues;
  std::unique_ptr<PageTable> table;
  std::unique_ptr<PagedKeysAndValues> paged;
  TypedInputs inputs;
  std::unique_ptr<Floats> narrowOut; ///< Where the kernel writes f16 or bf16.
};

/// Runs; the result stands in `prepared`.
void run(const Kernel &kernel, PreparedRun &prepared);

/// Prepares and runs.
RunResult runOnCpu(const Kernel &kernel, const Case &c, const Layout &layout);

struct ReferenceRun {
  bool ok = false;
  std::string message;
  reference::Result result;
};
/// Parses the case's program and interprets its last pattern. Pairs that a target's own scores may
/// decide are open in the result. `means` are the numbers that a target has for means of blocks.
ReferenceRun runOnReference(const Case &c, reference::MeanType means = reference::MeanType::F64);
/// The same over the pairs that a target kept, in the shape of the reference's.
ReferenceRun runOnReference(const Case &c, llvm::ArrayRef<uint8_t> kept);

/// How far rule 9 was made use of.
struct Agreement {
  int64_t visible = 0;        ///< Pairs compared.
  int64_t open = 0;           ///< Of these, those that scores may decide either way.
  int64_t forgiven = 0;       ///< Of these, those on which the two differ.
  int64_t forgivenTokens = 0; ///< Open positions that only one of both gathers.
};
/// What the reference leaves open.
Agreement openPairs(const reference::Result &expected);

/// Empty when the two agree: pairs, where they are known, and gathered positions that are not open
/// exactly; outputs and log-sum-exp over the pairs that were kept, within the bound of the operand
/// type, outputs within that of theirs too. Otherwise what differs first. `agreement` is added to.
std::string compare(const Case &c, const reference::Result &expected, const RunResult &actual,
                    Agreement *agreement = nullptr);

/// The same after the two statuses agreed.
std::string compareRuns(const Case &c, const reference::Result &expected, const RunResult &actual,
                        Agreement *agreement = nullptr);

bool sameBits(llvm::ArrayRef<float> a, llvm::ArrayRef<float> b);

/// Compiles and runs the case, and compares it with the reference.
std::string checkCase(const Case &c, const Layout &layout = {});

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_CPURUN_H
