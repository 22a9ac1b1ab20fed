// One compilation: the text of a pattern, what is said about it, its IR and its code.
#ifndef SKIM_CODEGEN_SESSION_H
#define SKIM_CODEGEN_SESSION_H

#include "codegen/cache/CacheKey.h"
#include "codegen/cpu/Emit.h"
#include "frontends/text/Diagnostics.h"
#include "frontends/text/Loader.h"
#include "passes/Invariance.h"
#include "runtime/LaunchPlan.h"
#include "runtime/bundle/Bundle.h"

#include <skim/Compiler.h>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <optional>

namespace skim {

/// The steps come in their order: `parse`, `build`, `plan`, and then what is made of the programs.
/// A failure holds all diagnostics so far.
class Session {
public:
  /// `options` must outlive the session.
  explicit Session(const CompileOptions &options) : options(options) {}

  /// Checks the options and reads the text, without MLIR.
  Status parse(const Pattern &pattern);
  /// The IR of the pattern.
  Status build();
  /// The launch plan and its tile programs.
  Status plan();

  /// The key of the cache by all that the text says, after `parse`. Empty where it is wrong.
  std::string textKey() const;
  /// By the IR alone, after `build`.
  std::string irKey() const;

  /// What the text makes a bundle say of the kernel: its invariance, and warnings so far.
  void describe(KernelMetadata &metadata) const;
  /// The kernels as machine code, with all that a bundle says of them.
  Expected<BundleEntry> compile();
  /// The code in one of the forms that the target has.
  Expected<std::string> emit(Stage stage);
  /// The IR as it is now.
  std::string print() const;
  std::string planAsJson() const { return toJson(launchPlan) + "\n"; }
  /// Instead of `plan`, which it includes.
  Expected<Report> report(const ReportOptions &call);

  /// All diagnostics so far, as text.
  std::string messages() const;

private:
  Status refused() const { return {StatusCode::InvalidPattern, messages()}; }
  Status failedToLower(llvm::Error error) const;
  /// Whether the target is sm_90a and not a CPU.
  bool onHopper() const;
  Status compileForCpu(BundleEntry &entry);
  Status compileForHopper(BundleEntry &entry);
  /// With all but the pattern.
  CacheKey startKey(llvm::StringRef kind) const;
  mlir::DictionaryAttr vectorLengths(ir::PatternOp pattern);
  SourcePlace placeOf(llvm::SMLoc location) const;
  SourcePlace placeOf(mlir::Location location) const;

  const CompileOptions &options;
  text::Diagnostics diagnostics;
  text::Program program;
  const cpu::Target *target = nullptr; ///< null on a GPU
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<ChunkInvariance> invariance;
  LaunchPlan launchPlan;
};

} // namespace skim

#endif // SKIM_CODEGEN_SESSION_H
