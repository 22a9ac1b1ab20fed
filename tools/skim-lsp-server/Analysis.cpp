#include "tools/skim-lsp-server/Analysis.h"

#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileDialect.h"
#include "frontends/text/Locations.h"
#include "passes/Pipelines.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"

namespace skim::lsp {

namespace {

/// What stands in for a number that is only known when a pattern is compiled: a block size that is
/// usual, then one that divides every other and is odd.
constexpr double standIns[] = {64, 1};
constexpr int64_t headDim = 128;

void loadDialects(mlir::MLIRContext &context) {
  // Diagnostics are for those who write patterns: their text is cited, not the IR.
  context.printOpOnDiagnostic(false);
  context.loadDialect<ir::SkimDialect, tile::TileDialect, mlir::affine::AffineDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect>();
}

/// The launch plan of a call with one head of bf16; what is wrong with it is reported.
void plan(mlir::ModuleOp module, text::Diagnostics &diagnostics) {
  mlir::MLIRContext &context = *module.getContext();
  auto pattern = *module.getOps<ir::PatternOp>().begin();
  auto builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  ir::AttendOp::create(builder, pattern.getLoc(), pattern.getSymName(), /*query_heads=*/1,
                       /*kv_heads=*/1, headDim, headDim, builder.getBF16Type(),
                       builder.getF32Type(), mlir::IntegerAttr(), /*writes_kept=*/false,
                       builder.getDictionaryAttr({}));
  mlir::PassManager manager(&context);
  manager.enableVerifier(true);
  buildPlanPipeline(manager);
  text::DiagnosticsFromMlir handler(context, diagnostics);
  // Whether it failed stands in the diagnostics.
  (void)manager.run(module);
}

/// A value for each `constexpr` parameter that has none.
std::map<std::string, double> valuesFor(const text::Pattern &pattern, double index) {
  std::map<std::string, double> values;
  for (const text::Parameter &parameter : pattern.parameters) {
    if (!parameter.isConstexpr || parameter.defaultValue)
      continue;
    bool isBool = parameter.type.element == text::TypeSyntax::Element::Bool;
    values[parameter.name] = isBool ? 0 : index;
  }
  return values;
}

class Analyzer {
public:
  explicit Analyzer(Analysis &analysis)
      : analysis(analysis), context(mlir::MLIRContext::Threading::DISABLED) {
    loadDialects(context);
  }

  void checkAll() {
    // A tree with holes gives errors that follow from those already reported; the types of names
    // are found out all the same.
    bool hasHoles = analysis.diagnostics.hasErrors();
    for (const auto &pattern : analysis.file().tree.patterns) {
      std::map<std::string, double> values = chooseValues(*pattern, hasHoles);
      // Where the first stand-in is wrong, costs of the other are not those of the pattern.
      bool isSecond = values != valuesFor(*pattern, standIns[0]);
      analysis.diagnostics.mute(hasHoles || isSecond);
      if (auto module = build(*pattern, values))
        plan(*module, analysis.diagnostics);
      analysis.diagnostics.mute(false);
      for (const text::Parameter &parameter : pattern->parameters)
        if (auto value = values.find(parameter.name); value != values.end())
          analysis.assumed.push_back({&parameter, value->second});
    }
  }

private:
  mlir::OwningOpRef<mlir::ModuleOp> build(const text::Pattern &pattern,
                                          const std::map<std::string, double> &values) {
    return text::buildPattern(analysis.program, pattern, {pattern.name, values, &analysis.types},
                              context, analysis.diagnostics);
  }

  /// The first that the pattern compiles with, or the first of all.
  std::map<std::string, double> chooseValues(const text::Pattern &pattern, bool hasHoles) {
    std::map<std::string, double> first = valuesFor(pattern, standIns[0]);
    if (first.empty() || hasHoles)
      return first;
    for (double index : standIns) {
      std::map<std::string, double> values = valuesFor(pattern, index);
      analysis.diagnostics.mute(true);
      bool isGood = static_cast<bool>(build(pattern, values));
      analysis.diagnostics.mute(false);
      if (isGood)
        return values;
    }
    return first;
  }

  Analysis &analysis;
  mlir::MLIRContext context;
};

} // namespace

const text::SourceFile *Analysis::fileOf(llvm::SMLoc location) const {
  unsigned buffer =
      location.isValid() ? diagnostics.sources().FindBufferContainingLoc(location) : 0;
  for (const auto &file : program.files)
    if (file->buffer == buffer)
      return file.get();
  return nullptr;
}

std::unique_ptr<Analysis> analyze(llvm::StringRef path, llvm::StringRef text,
                                  llvm::vfs::FileSystem &files) {
  auto analysis = std::make_unique<Analysis>();
  analysis->program = text::loadBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, path),
                                       analysis->diagnostics, files);
  Analyzer(*analysis).checkAll();
  return analysis;
}

} // namespace skim::lsp
