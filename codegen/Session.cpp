#include "codegen/Session.h"

#include "codegen/ExportPlan.h"
#include "codegen/Version.h"
#include "codegen/cache/CacheKey.h"
#include "codegen/cpu/LinkImage.h"
#include "codegen/cpu/Pipeline.h"
#include "codegen/nvvm/Emit.h"
#include "codegen/nvvm/KernelFunction.h"
#include "codegen/nvvm/Pipeline.h"
#include "codegen/nvvm/Ptxas.h"
#include "codegen/report/CreateReport.h"
#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "frontends/text/Check.h"
#include "frontends/text/Locations.h"
#include "passes/MapAnalysis.h"
#include "passes/Pipelines.h"
#include "runtime/cuda/Driver.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <span>

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

constexpr const char *kHopper = "sm_90a";

std::unique_ptr<mlir::MLIRContext> createContext() {
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  // Diagnostics are for those who write patterns: their text is cited, not the IR.
  context->printOpOnDiagnostic(false);
  context->loadDialect<ir::SkimDialect, tile::TileDialect, mlir::affine::AffineDialect,
                       mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::DialectRegistry registry;
  cpu::registerDialects(registry);
  nvvm::registerDialects(registry);
  context->appendDialectRegistry(registry);
  return context;
}

/// A form of machine code as `skim compile --emit` names it.
std::string nameOf(Stage stage) {
  switch (stage) {
  case Stage::Assembly:
    return "asm";
  case Stage::Object:
    return "object";
  case Stage::Ptx:
    return "ptx";
  case Stage::Cubin:
    return "cubin";
  default:
    return "llvm";
  }
}

} // namespace

bool Session::onHopper() const { return options.target == kHopper; }

Status Session::parse(const Pattern &pattern) {
  if (Status checked = checkOptions(options); !checked)
    return checked;
  if (!onHopper()) {
    std::string name = options.target == "cpu" ? "native" : options.target;
    llvm::Expected<const cpu::Target *> found = cpu::findTarget(name);
    if (!found)
      return invalid(llvm::toString(found.takeError()));
    target = *found;
  }
  program = text::loadBuffer(llvm::MemoryBuffer::getMemBufferCopy(pattern.text(), pattern.path()),
                             diagnostics);
  return Status::ok();
}

Status Session::build() {
  context = createContext();
  module = text::buildModule(program, {options.pattern, options.constants}, *context, diagnostics);
  if (!module)
    return refused();
  invariance = analyzeChunkInvariance(*module->getOps<ir::PatternOp>().begin());
  return Status::ok();
}

/// What the shapes of inputs say of vectors: how many elements they have; of weights, how many
/// rows.
mlir::DictionaryAttr Session::vectorLengths(ir::PatternOp pattern) {
  mlir::Builder builder(context.get());
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
  return lengths.getDictionary(context.get());
}

Status Session::plan() {
  auto pattern = *module->getOps<ir::PatternOp>().begin();
  mlir::OpBuilder builder(context.get());
  builder.setInsertionPointToEnd(module->getBody());
  mlir::IntegerAttr pageSize;
  if (onHopper())
    pageSize = builder.getI64IntegerAttr(options.pageSize.value_or(0));
  else if (options.pageSize)
    pageSize = builder.getI64IntegerAttr(*options.pageSize);
  mlir::DictionaryAttr lengths = vectorLengths(pattern);
  ir::AttendOp::create(builder, pattern.getLoc(), pattern.getSymName(), options.queryHeads,
                       options.kvHeads, options.headDim,
                       options.valueDim ? options.valueDim : options.headDim,
                       floatType(*context, options.dtype), floatType(*context, options.outDtype),
                       pageSize, options.writesKept, lengths);
  mlir::PassManager manager(context.get());
  manager.enableVerifier(true);
  buildPlanPipeline(manager, onHopper() ? kHopper : "cpu");
  if (onHopper())
    nvvm::addPlanPipeline(manager);
  text::DiagnosticsFromMlir handler(*context, diagnostics);
  if (failed(manager.run(*module)))
    return refused();
  mlir::FailureOr<LaunchPlan> exported = exportPlan(*module->getOps<tile::PlanOp>().begin());
  if (failed(exported))
    return refused();
  launchPlan = std::move(*exported);
  if (onHopper())
    nvvm::describeLaunches(*module, launchPlan);
  return Status::ok();
}

CacheKey Session::startKey(llvm::StringRef kind) const {
  if (onHopper()) {
    CacheKey key(kind, options, kHopper, nvvm::kTriple, nvvm::kFeatures);
    // The cache keeps machine code that this driver made.
    const Expected<std::string> driver = cuda::driverVersion();
    key.add(driver ? *driver : "");
    return key;
  }
  return {kind, options, target->name, target->triple, target->processor};
}

std::string Session::textKey() const {
  if (diagnostics.hasErrors())
    return "";
  CacheKey key = startKey("text");
  for (const auto &file : program.files) {
    key.add(file->path);
    key.add(diagnostics.sources().getMemoryBuffer(file->buffer)->getBuffer());
  }
  return key.digest();
}

std::string Session::irKey() const {
  CacheKey key = startKey("ir");
  key.add(print());
  return key.digest();
}

void Session::describe(KernelMetadata &metadata) const {
  metadata.invariance = {};
  if (invariance->holds())
    metadata.invariance.chunkMultiple = invariance->multiple;
  for (const InvarianceBreaker &breaker : invariance->breakers) {
    SourcePlace place = placeOf(breaker.loc);
    metadata.invariance.brokenBy.push_back(place.path + ":" + std::to_string(place.line) + ":" +
                                           std::to_string(place.column) + ": " + breaker.reason);
  }
  metadata.warnings = messages();
}

Expected<BundleEntry> Session::compile() {
  text::DiagnosticsFromMlir handler(*context, diagnostics);
  BundleEntry entry;
  if (Status status = onHopper() ? compileForHopper(entry) : compileForCpu(entry); !status)
    return status;
  entry.launchPlan = launchPlan;
  KernelMetadata &metadata = entry.metadata;
  metadata.skimVersion = compilerVersion();
  metadata.llvmVersion = LLVM_VERSION_STRING;
  for (const auto &[name, value] : options.constants)
    metadata.constants.push_back({name, value});
  describe(metadata);
  return entry;
}

Status Session::compileForCpu(BundleEntry &entry) {
  auto object = cpu::emit(*module, *target, cpu::OutputKind::Object);
  if (!object)
    return failedToLower(object.takeError());
  std::vector<std::string> symbols;
  for (const KernelDescription &kernel : launchPlan.kernels)
    symbols.push_back(kernel.symbol);
  llvm::Expected<CodeImage> image = cpu::linkImage(*object, symbols);
  if (!image)
    return failedToLower(image.takeError());
  entry.target = target->name.str();
  entry.triple = target->triple.str();
  entry.features = target->processor.str();
  entry.metadata.cpuImage = std::move(image->layout);
  entry.code.push_back({SectionKind::CpuImage, std::move(image->bytes)});
  return Status::ok();
}

Status Session::compileForHopper(BundleEntry &entry) {
  llvm::Expected<std::string> ptx = nvvm::emit(*module, nvvm::OutputKind::Ptx);
  if (!ptx)
    return failedToLower(ptx.takeError());
  entry.target = kHopper;
  entry.triple = nvvm::kTriple.str();
  entry.features = nvvm::kFeatures.str();
  std::span<const std::byte> bytes = std::as_bytes(std::span(*ptx));
  entry.code.push_back({SectionKind::Ptx, {bytes.begin(), bytes.end()}});
  return Status::ok();
}

Expected<std::string> Session::emit(Stage stage) {
  text::DiagnosticsFromMlir handler(*context, diagnostics);
  bool ptx = stage == Stage::Ptx || stage == Stage::Cubin;
  if (ptx != onHopper() && stage != Stage::Llvm)
    return invalid(std::string("expected a form of ") +
                   (onHopper() ? "sm_90a (llvm, ptx, cubin)" : "the CPU (llvm, asm, object)") +
                   " but got '" + nameOf(stage) + "'");
  if (onHopper()) {
    auto kind = stage == Stage::Llvm ? nvvm::OutputKind::LlvmIr : nvvm::OutputKind::Ptx;
    llvm::Expected<std::string> text = nvvm::emit(*module, kind);
    if (!text)
      return failedToLower(text.takeError());
    if (stage != Stage::Cubin)
      return *text;
    llvm::Expected<nvvm::Assembly> assembly = nvvm::assemble(*text, kHopper);
    if (!assembly)
      return failedToLower(assembly.takeError());
    return assembly->cubin;
  }
  auto kind = stage == Stage::Llvm       ? cpu::OutputKind::LlvmIr
              : stage == Stage::Assembly ? cpu::OutputKind::Assembly
                                         : cpu::OutputKind::Object;
  llvm::Expected<llvm::SmallVector<char, 0>> bytes = cpu::emit(*module, *target, kind);
  if (!bytes)
    return failedToLower(bytes.takeError());
  return std::string(bytes->begin(), bytes->end());
}

std::string Session::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::ModuleOp(*module).print(stream);
  stream << "\n";
  return text;
}

SourcePlace Session::placeOf(llvm::SMLoc location) const {
  text::Diagnostics::Place found = diagnostics.place(location);
  return {found.path.str(), found.line, found.column};
}

SourcePlace Session::placeOf(mlir::Location location) const {
  return placeOf(text::rangeOf(location, diagnostics).Start);
}

Expected<Report> Session::report(const ReportOptions &call) {
  if (Status planned = plan(); !planned)
    return planned;
  Expected<Report> report =
      report::createReport(*module, launchPlan, *invariance, call,
                           [&](mlir::Location location) { return placeOf(location); });
  if (!report)
    return report;
  std::vector<Remark> warnings;
  for (const text::Diagnostic &diagnostic : diagnostics.all()) {
    if (diagnostic.severity != text::Severity::Warning)
      continue;
    Remark warning{placeOf(diagnostic.range.Start), diagnostic.message, {}};
    for (const text::Diagnostic &note : diagnostic.notes)
      warning.notes.push_back(note.message);
    warnings.push_back(std::move(warning));
  }
  report->warnings.insert(report->warnings.begin(), warnings.begin(), warnings.end());
  return report;
}

std::string Session::messages() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  diagnostics.print(stream);
  return text;
}

Status Session::failedToLower(llvm::Error error) const {
  return {StatusCode::Unsupported, messages() + llvm::toString(std::move(error))};
}

} // namespace skim
