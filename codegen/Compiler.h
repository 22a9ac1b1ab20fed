// The host interface of the compiler: pattern text in, a kernel of the runtime out.
//
//   skim::Compiler compiler;
//   auto pattern = skim::Pattern::load("streaming.skim");
//   auto kernel = compiler.compile(*pattern, {.queryHeads = 32, .kvHeads = 8, .headDim = 128,
//                                             .dtype = skim::DType::BF16});
#ifndef SKIM_CODEGEN_COMPILER_H
#define SKIM_CODEGEN_COMPILER_H

#include "codegen/report/Report.h"

#include <skim/DType.h>
#include <skim/Kernel.h>
#include <skim/Status.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skim {

/// The text of a pattern and the name under which diagnostics cite it.
class Pattern {
public:
  /// Reads a file. Imports are looked up beside it.
  static Expected<Pattern> load(const std::string &path);
  static Pattern fromText(std::string text, std::string name = "pattern.skim");

  const std::string &text() const { return text_; }
  const std::string &path() const { return path_; }

private:
  std::string text_;
  std::string path_;
};

struct CompileOptions {
  /// `cpu`: the machine that compiles. `sm_90a`: Hopper GPUs, for operands of bf16 or f16.
  std::string target = "cpu";
  /// Which pattern of the file; empty: the last one.
  std::string pattern;
  int64_t queryHeads = 1;
  int64_t kvHeads = 1; ///< Divides queryHeads.
  int64_t headDim = 128;
  int64_t valueDim = 0;        ///< 0: headDim.
  DType dtype = DType::BF16;   ///< Of q, k and v: f32, f16 or bf16.
  DType outDtype = DType::F32; ///< f32, f16 or bf16.
  /// Set: the kernel serves this page size alone (0: contiguous). Unset: every layout.
  std::optional<int64_t> pageSize;
  /// Values of `constexpr` parameters; those left out take their defaults.
  std::map<std::string, double> constants;
  /// Shapes of inputs by name. Those of vectors are compiled for their last extent, weights of
  /// `linear` for their last two; vectors that are left out have `headDim` elements, weights
  /// `headDim` rows.
  std::map<std::string, std::vector<int64_t>> inputShapes;
  /// The kernel can also write the relation it kept (`RunOptions::kept`).
  bool writesKept = false;
};

/// What `emit` prints: the pattern after the front end, the launch plan with its tile programs,
/// the plan as JSON, LLVM IR, assembly, or the bytes of an object file.
enum class Stage : uint8_t { Skim, Tile, Plan, Llvm, Assembly, Object, Ptx, Cubin };

/// One kernel of a bundle: a pattern, and what it is compiled for.
struct BundleRequest {
  Pattern pattern;
  CompileOptions options;
};

/// Compiles patterns. Holds no state between calls; safe to share between threads.
class Compiler {
public:
  /// A failure holds all diagnostics, each with its line and caret. `warnings`, where not null,
  /// receives those of a pattern that compiles.
  Expected<Kernel> compile(const Pattern &pattern, const CompileOptions &options,
                           std::string *warnings = nullptr) const;

  /// The bytes of a bundle with a kernel for each request, which `Kernel::load` reads without a
  /// compiler. Requests must differ in pattern, target, configuration or constants. The same
  /// requests give the same bytes. `warnings`, where not null, is appended to.
  Expected<std::string> bundle(const std::vector<BundleRequest> &requests,
                               std::string *warnings = nullptr) const;

  /// The text of the intermediate form at `stage`. `warnings` as for `compile`.
  Expected<std::string> emit(const Pattern &pattern, const CompileOptions &options, Stage stage,
                             std::string *warnings = nullptr) const;

  /// What the kernels of the pattern cost for `call`, the workspace that they need, and what their
  /// results depend on. `warnings` as for `compile`; the report has them too.
  Expected<Report> report(const Pattern &pattern, const CompileOptions &options,
                          const ReportOptions &call, std::string *warnings = nullptr) const;
};

} // namespace skim

#endif // SKIM_CODEGEN_COMPILER_H
