#include "codegen/Compiler.h"

#include "codegen/ExportPlan.h"
#include "codegen/cpu/Emit.h"
#include "codegen/cpu/Jit.h"
#include "codegen/cpu/Pipeline.h"
#include "codegen/report/CreateReport.h"
#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "frontends/text/Check.h"
#include "frontends/text/Locations.h"
#include "passes/MapAnalysis.h"
#include "passes/Pipelines.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace skim {
namespace {

mlir::FloatType floatType(mlir::MLIRContext &context, DType dtype) {
  switch (dtype) {
  case DType::F16:
    return mlir::Float16Type::get(&context);
  case DType::BF16:
    return mlir::BFloat16Type::get(&context);
  default:
    return mlir::Float32Type::get(&context);
  }
}

Status invalid(std::string message) { return {StatusCode::InvalidArgument, std::move(message)}; }

Status checkOptions(const CompileOptions &options) {
  auto isFloat = [](DType dtype) {
    return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
  };
  if (options.queryHeads < 1 || options.kvHeads < 1 || options.queryHeads % options.kvHeads != 0)
    return invalid("expected the number of query heads to be a positive multiple of the number of "
                   "KV heads but got " +
                   std::to_string(options.queryHeads) + " and " + std::to_string(options.kvHeads));
  constexpr int64_t kLargestDim = 1024;
  if (options.headDim < 1 || options.headDim > kLargestDim)
    return invalid("expected a head dimension from 1 to 1024 but got " +
                   std::to_string(options.headDim));
  if (options.valueDim < 0 || options.valueDim > kLargestDim)
    return invalid("expected a value dimension up to 1024 but got " +
                   std::to_string(options.valueDim));
  if (!isFloat(options.dtype) || !isFloat(options.outDtype))
    return invalid(std::string("expected operands and output of f32, f16 or bf16 but got ") +
                   dtypeName(options.dtype) + " and " + dtypeName(options.outDtype));
  if (options.pageSize && *options.pageSize < 0)
    return invalid("expected a page size from 0 up but got " + std::to_string(*options.pageSize));
  return Status::ok();
}

/// One compilation: the text, what is said about it, and its IR.
class Session {
public:
  explicit Session(const CompileOptions &options)
      : options(options), context(mlir::MLIRContext::Threading::DISABLED) {
    // Diagnostics are for those who write patterns: their text is cited, not the IR.
    context.printOpOnDiagnostic(false);
    context.loadDialect<ir::SkimDialect, tile::TileDialect, mlir::affine::AffineDialect,
                        mlir::arith::ArithDialect, mlir::math::MathDialect>();
    mlir::DialectRegistry registry;
    cpu::registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// The pattern and what it is attended for.
  Status build(const Pattern &pattern) {
    if (Status checked = checkOptions(options); !checked)
      return checked;
    std::string name = options.target == "cpu" ? "native" : options.target;
    llvm::Expected<const cpu::Target *> found = cpu::findTarget(name);
    if (!found)
      return invalid(llvm::toString(found.takeError()));
    target = *found;
    text::Program program = text::loadBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(pattern.text(), pattern.path()), diagnostics);
    module = text::buildModule(program, {options.pattern, options.constants}, context, diagnostics);
    if (!module)
      return refused();
    return Status::ok();
  }

  /// What the shapes of inputs say of vectors: how many elements they have; of weights, how many
  /// rows.
  mlir::DictionaryAttr vectorLengths(ir::PatternOp pattern) {
    mlir::Builder builder(&context);
    mlir::NamedAttrList lengths;
    for (auto input : pattern.getBody().getOps<ir::InputOp>()) {
      auto shape = options.inputShapes.find(input.getName().str());
      if (shape == options.inputShapes.end() || !llvm::cast<ir::MapType>(input.getType()).isVec())
        continue;
      size_t fromLast = isWeight(input) ? 2 : 1;
      // Other shapes are refused when the kernel runs.
      if (shape->second.size() >= fromLast && *(shape->second.end() - fromLast) > 0)
        lengths.set(input.getName(), builder.getI64IntegerAttr(*(shape->second.end() - fromLast)));
    }
    return lengths.getDictionary(&context);
  }

  Status plan() {
    auto patterns = module->getOps<ir::PatternOp>();
    mlir::OpBuilder builder(&context);
    builder.setInsertionPointToEnd(module->getBody());
    mlir::IntegerAttr pageSize;
    if (options.pageSize)
      pageSize = builder.getI64IntegerAttr(*options.pageSize);
    mlir::DictionaryAttr lengths = vectorLengths(*patterns.begin());
    ir::AttendOp::create(builder, (*patterns.begin()).getLoc(), (*patterns.begin()).getSymName(),
                         options.queryHeads, options.kvHeads, options.headDim,
                         options.valueDim ? options.valueDim : options.headDim,
                         floatType(context, options.dtype), floatType(context, options.outDtype),
                         pageSize, options.writesKept, lengths);
    mlir::PassManager manager(&context);
    manager.enableVerifier(true);
    buildPlanPipeline(manager);
    text::DiagnosticsFromMlir handler(context, diagnostics);
    if (failed(manager.run(*module)))
      return refused();
    mlir::FailureOr<LaunchPlan> exported = exportPlan(*module->getOps<tile::PlanOp>().begin());
    if (failed(exported))
      return refused();
    launchPlan = std::move(*exported);
    return Status::ok();
  }

  Expected<Kernel> compile() {
    text::DiagnosticsFromMlir handler(context, diagnostics);
    llvm::Expected<std::unique_ptr<cpu::Jit>> jit = cpu::Jit::create(*module, *target);
    if (!jit)
      return failedToLower(jit.takeError());
    std::vector<skim_cpu_kernel> functions;
    for (const KernelDescription &kernel : launchPlan.kernels) {
      llvm::Expected<skim_cpu_kernel> function = (*jit)->lookup(kernel.symbol);
      if (!function)
        return failedToLower(function.takeError());
      functions.push_back(*function);
    }
    return Kernel::create(std::move(launchPlan), std::move(functions),
                          std::shared_ptr<void>(std::move(*jit)));
  }

  Expected<std::string> emit(cpu::OutputKind kind) {
    text::DiagnosticsFromMlir handler(context, diagnostics);
    llvm::Expected<llvm::SmallVector<char, 0>> bytes = cpu::emit(*module, *target, kind);
    if (!bytes)
      return failedToLower(bytes.takeError());
    return std::string(bytes->begin(), bytes->end());
  }

  std::string print() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    stream << "\n";
    return text;
  }

  /// Of a pattern that is built and not planned yet: plans it.
  Expected<Report> report(const ReportOptions &call) {
    ChunkInvariance invariance = analyzeChunkInvariance(*module->getOps<ir::PatternOp>().begin());
    if (Status planned = plan(); !planned)
      return planned;
    auto place = [&](llvm::SMLoc location) {
      text::Diagnostics::Place found = diagnostics.place(location);
      return SourcePlace{found.path.str(), found.line, found.column};
    };
    Expected<Report> report =
        report::createReport(*module, launchPlan, invariance, call, [&](mlir::Location location) {
          return place(text::rangeOf(location, diagnostics).Start);
        });
    if (!report)
      return report;
    std::vector<Remark> warnings;
    for (const text::Diagnostic &diagnostic : diagnostics.all()) {
      if (diagnostic.severity != text::Severity::Warning)
        continue;
      Remark warning{place(diagnostic.range.Start), diagnostic.message, {}};
      for (const text::Diagnostic &note : diagnostic.notes)
        warning.notes.push_back(note.message);
      warnings.push_back(std::move(warning));
    }
    report->warnings.insert(report->warnings.begin(), warnings.begin(), warnings.end());
    return report;
  }

  std::string planAsJson() { return toJson(launchPlan) + "\n"; }

  /// All diagnostics so far, as text.
  std::string messages() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    diagnostics.print(stream);
    return text;
  }

private:
  Status refused() { return {StatusCode::InvalidPattern, messages()}; }
  Status failedToLower(llvm::Error error) {
    return {StatusCode::Unsupported, messages() + llvm::toString(std::move(error))};
  }

  const CompileOptions &options;
  text::Diagnostics diagnostics;
  mlir::MLIRContext context;
  const cpu::Target *target = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  LaunchPlan launchPlan;
};

} // namespace

Expected<Pattern> Pattern::load(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return invalid("cannot read '" + path + "': " + buffer.getError().message());
  return fromText((*buffer)->getBuffer().str(), path);
}

Pattern Pattern::fromText(std::string text, std::string name) {
  Pattern pattern;
  pattern.text_ = std::move(text);
  pattern.path_ = std::move(name);
  return pattern;
}

Expected<Kernel> Compiler::compile(const Pattern &pattern, const CompileOptions &options,
                                   std::string *warnings) const {
  Session session(options);
  if (Status status = session.build(pattern); !status)
    return status;
  if (Status status = session.plan(); !status)
    return status;
  Expected<Kernel> kernel = session.compile();
  if (kernel && warnings)
    *warnings = session.messages();
  return kernel;
}

static Expected<std::string> emitStage(Session &session, const Pattern &pattern, Stage stage) {
  if (Status status = session.build(pattern); !status)
    return status;
  if (stage == Stage::Skim)
    return session.print();
  if (Status status = session.plan(); !status)
    return status;
  switch (stage) {
  case Stage::Skim:
  case Stage::Tile:
    return session.print();
  case Stage::Plan:
    return session.planAsJson();
  case Stage::Llvm:
    return session.emit(cpu::OutputKind::LlvmIr);
  case Stage::Assembly:
    return session.emit(cpu::OutputKind::Assembly);
  case Stage::Object:
    return session.emit(cpu::OutputKind::Object);
  }
  return session.print();
}

Expected<std::string> Compiler::emit(const Pattern &pattern, const CompileOptions &options,
                                     Stage stage, std::string *warnings) const {
  Session session(options);
  Expected<std::string> text = emitStage(session, pattern, stage);
  if (text && warnings)
    *warnings = session.messages();
  return text;
}

Expected<Report> Compiler::report(const Pattern &pattern, const CompileOptions &options,
                                  const ReportOptions &call, std::string *warnings) const {
  Session session(options);
  if (Status status = session.build(pattern); !status)
    return status;
  Expected<Report> report = session.report(call);
  if (report && warnings)
    *warnings = session.messages();
  return report;
}

} // namespace skim
