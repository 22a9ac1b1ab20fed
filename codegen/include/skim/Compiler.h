// The host interface of the compiler: pattern text in, a kernel of the runtime out.
//
//   skim::Compiler compiler;
//   auto pattern = skim::Pattern::load("streaming.skim");
//   auto kernel = compiler.compile(*pattern, {.queryHeads = 32, .kvHeads = 8, .headDim = 128,
//                                             .dtype = skim::DType::BF16});
#ifndef SKIM_COMPILER_H
#define SKIM_COMPILER_H

#include <skim/DType.h>
#include <skim/Kernel.h>
#include <skim/Report.h>
#include <skim/Status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
  /// Set: the kernel serves this page size alone (0: contiguous). Unset: every layout; of `sm_90a`
  /// contiguous keys and values alone.
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

class KernelCache;
class Metrics;

struct CompilerOptions {
  /// The folder in which compiled kernels are kept for this and other processes; empty: nowhere.
  /// Unset: what the environment's SKIM_CACHE_DIR says, else `skim` in XDG_CACHE_HOME, else
  /// `.cache/skim` in HOME, else nowhere. A folder that is somebody else's or that everybody may
  /// write to is not used. docs/cache.md has the details.
  std::optional<std::string> cacheDirectory = {};
  /// How large the folder may become; those used least recently are removed first, and 0 is no
  /// cache. Unset: what SKIM_CACHE_BYTES says, else 1 GiB.
  std::optional<int64_t> cacheBytes = {};
  /// Where not null, counts compilations and what the cache does. Must outlive the compiler.
  Metrics *metrics = nullptr;
};

/// Compiles patterns. Safe to share between threads; cheap to copy.
class Compiler {
public:
  /// Touches no file.
  explicit Compiler(const CompilerOptions &options = {});

  /// From the cache, where it holds this pattern for these options, compiled by this compiler.
  /// A failure holds all diagnostics, each with its line and caret. `warnings`, where not null,
  /// receives those of a pattern that compiles, and once a line where the cache cannot be written.
  Expected<Kernel> compile(const Pattern &pattern, const CompileOptions &options,
                           std::string *warnings = nullptr) const;

  /// The bytes of a bundle with a kernel for each request, which `Kernel::load` reads without a
  /// compiler. Requests must differ in pattern, target, configuration or constants. The same
  /// requests give the same bytes. For `sm_90a` they hold PTX and, where ptxas is found (docs/
  /// bundles.md says where), machine code. `warnings`, where not null, is appended to. `progress`,
  /// where there is one, is called before each request is compiled, with its number from 0.
  Expected<std::string> bundle(const std::vector<BundleRequest> &requests,
                               std::string *warnings = nullptr,
                               const std::function<void(size_t)> &progress = {}) const;

  /// The text of the intermediate form at `stage`. `warnings` as for `compile`.
  Expected<std::string> emit(const Pattern &pattern, const CompileOptions &options, Stage stage,
                             std::string *warnings = nullptr) const;

  /// What the kernels of the pattern cost for `call`, the workspace that they need, and what their
  /// results depend on. `warnings` as for `compile`; the report has them too.
  Expected<Report> report(const Pattern &pattern, const CompileOptions &options,
                          const ReportOptions &call, std::string *warnings = nullptr) const;

private:
  std::shared_ptr<KernelCache> cache_;
  Metrics *metrics_;
};

} // namespace skim

#endif // SKIM_COMPILER_H
