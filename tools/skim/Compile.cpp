// `skim compile`: a pattern to an intermediate form, assembly or an object file.
#include "codegen/cpu/Target.h"
#include "tools/skim/Failure.h"
#include "tools/skim/OutputFile.h"
#include "tools/skim/PatternSource.h"
#include "tools/skim/PrintReport.h"
#include "tools/skim/Settings.h"
#include "tools/skim/Subcommands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace skim::tool {
namespace {

llvm::Error checkTarget(llvm::StringRef target) {
  llvm::SmallVector<llvm::StringRef> known = {"cpu"};
  for (const cpu::Target &each : cpu::targets())
    known.push_back(each.name);
  if (llvm::is_contained(known, target))
    return llvm::Error::success();
  std::string targets = llvm::join(known, ", ");
  if (target.starts_with("sm_"))
    return wrongInput("--target " + target +
                      ": this build of skim compiles for no GPU; expected one of " + targets);
  return wrongInput("--target: unknown target '" + target + "'; expected one of " + targets);
}

llvm::Expected<Stage> stageOf(llvm::StringRef form) {
  constexpr llvm::StringLiteral forms = "skim, plan, tile, llvm, asm, object";
  std::optional<Stage> stage = llvm::StringSwitch<std::optional<Stage>>(form)
                                   .Case("skim", Stage::Skim)
                                   .Case("plan", Stage::Plan)
                                   .Case("tile", Stage::Tile)
                                   .Case("llvm", Stage::Llvm)
                                   .Case("asm", Stage::Assembly)
                                   .Case("object", Stage::Object)
                                   .Default(std::nullopt);
  if (stage)
    return *stage;
  if (form == "ptx" || form == "cubin" || form == "bundle")
    return wrongInput("--emit " + form + ": this build of skim compiles for no GPU and writes no " +
                      "bundles; expected one of " + forms);
  return wrongUsage("--emit: expected one of " + forms + " but got '" + form + "'");
}

llvm::Expected<CompileOptions> readProblem(const Options &options) {
  CompileOptions result;
  struct Count {
    OptionId id;
    int64_t otherwise, least, most;
    int64_t *value;
  };
  int64_t pageSize = 0;
  Count counts[] = {{OPT_kv_heads, 1, 1, 65536, &result.kvHeads},
                    {OPT_query_heads, 0, 1, 65536, &result.queryHeads},
                    {OPT_head_dim, 128, 1, 65536, &result.headDim},
                    {OPT_value_dim, 0, 1, 65536, &result.valueDim},
                    {OPT_page_size, 0, 0, INT32_MAX, &pageSize}};
  for (const Count &count : counts) {
    llvm::Expected<int64_t> value =
        options.number(count.id, count.otherwise, count.least, count.most);
    if (!value)
      return value.takeError();
    *count.value = *value;
  }
  if (result.queryHeads == 0)
    result.queryHeads = result.kvHeads;
  if (result.queryHeads % result.kvHeads != 0)
    return wrongUsage("--query-heads: expected a multiple of the " + llvm::Twine(result.kvHeads) +
                      " KV heads but got " + llvm::Twine(result.queryHeads));
  result.pageSize = pageSize;
  llvm::Expected<std::vector<Setting>> shapes = options.settings(OPT_input_shape);
  if (!shapes)
    return shapes.takeError();
  for (const Setting &shape : *shapes) {
    llvm::StringRef extents = shape.values.front();
    for (llvm::StringRef text : llvm::split(extents, 'x')) {
      int64_t extent = 0;
      if (shape.values.size() != 1 || text.getAsInteger(10, extent) || extent < 1 ||
          extent > INT32_MAX)
        return wrongUsage("--input-shape: expected NAME=AxB but got '" + shape.name + "=" +
                          llvm::join(shape.values, ",") + "'");
      result.inputShapes[shape.name].push_back(extent);
    }
  }
  llvm::Expected<llvm::StringRef> dtype = options.choice(OPT_dtype, "bf16", {"bf16", "f16", "f32"});
  if (!dtype)
    return dtype.takeError();
  result.dtype = llvm::StringSwitch<DType>(*dtype)
                     .Case("bf16", DType::BF16)
                     .Case("f16", DType::F16)
                     .Default(DType::F32);
  return result;
}

/// The call that `--report` counts for; parameters are added later.
llvm::Expected<ReportOptions> readCall(const Options &options) {
  constexpr int64_t kLargest = ReportOptions::kLargestContext;
  ReportOptions call;
  llvm::Expected<int64_t> context = options.number(OPT_context, 0, 1, kLargest);
  if (!context)
    return context.takeError();
  llvm::Expected<int64_t> tokens = options.number(
      OPT_tokens, *context == 0 ? call.tokens : std::min(call.tokens, *context), 1, kLargest);
  if (!tokens)
    return tokens.takeError();
  llvm::Expected<int64_t> workers = options.number(OPT_threads, 0, 1, ThreadPool::kMaxThreads);
  if (!workers)
    return workers.takeError();
  call.tokens = *tokens;
  call.context = *context == 0 ? *tokens : *context;
  if (call.tokens > call.context)
    return wrongUsage("--tokens: expected at most the " + llvm::Twine(call.context) +
                      " keys of --context but got " + llvm::Twine(call.tokens));
  call.workers = *workers;
  if (call.workers == 0) {
    Expected<const ThreadPool *> pool = ThreadPool::shared();
    call.workers = pool ? (*pool)->threads() : 1;
  }
  return call;
}

/// Options that go with others only.
llvm::Error checkReportOptions(const Options &options) {
  if (options.has(OPT_report)) {
    if (options.has(OPT_emit) && !options.has(OPT_output))
      return wrongUsage("--emit: expected -o FILE beside --report");
    if (options.text(OPT_output) == "-")
      return wrongUsage("-o: expected a file, as the report goes to the standard output");
    return llvm::Error::success();
  }
  constexpr std::pair<OptionId, llvm::StringLiteral> ofReport[] = {{OPT_tokens, "--tokens"},
                                                                   {OPT_context, "--context"},
                                                                   {OPT_threads, "--threads"},
                                                                   {OPT_json, "--json"}};
  for (const auto &[id, name] : ofReport)
    if (options.has(id))
      return wrongUsage(name + ": expected --report beside it");
  return llvm::Error::success();
}

llvm::Error report(const Options &options, const PatternSource &source,
                   const CompileOptions &problem, ReportOptions call,
                   const std::map<std::string, ParameterSetting> &settings) {
  for (const auto &[name, setting] : settings)
    if (!setting.isConstexpr)
      call.parameters[name] = setting.values;
  std::string warnings;
  Expected<Report> report =
      Compiler().report(source.variant(Variant::Asked), problem, call, &warnings);
  if (!report)
    return failureOf(report.status());
  llvm::errs() << warnings;
  std::string title = callText(source.entry(), settings);
  return writeOutput("-", [&](llvm::raw_ostream &stream) {
    if (options.has(OPT_json))
      printReportJson(stream, *report, title, problem);
    else
      printReport(stream, *report, title, problem);
  });
}

} // namespace

llvm::Error compile(const Options &options) {
  bool reports = options.has(OPT_report);
  if (llvm::Error error = checkReportOptions(options))
    return error;
  llvm::Expected<CompileOptions> problem = readProblem(options);
  if (!problem)
    return problem.takeError();
  llvm::Expected<ReportOptions> call = reports ? readCall(options) : ReportOptions();
  if (!call)
    return call.takeError();
  llvm::Expected<Stage> stage = stageOf(options.text(OPT_emit, "object"));
  if (!stage)
    return stage.takeError();
  problem->target = options.text(OPT_target, "cpu").str();
  if (llvm::Error error = checkTarget(problem->target))
    return error;
  if (*stage == Stage::Object && !options.has(OPT_output) && !reports)
    return wrongUsage("expected -o FILE for an object file");
  llvm::Expected<std::vector<Setting>> given = options.settings();
  if (!given)
    return given.takeError();

  auto source = PatternSource::load(options.operand(), options.text(OPT_pattern));
  if (!source)
    return source.takeError();
  problem->pattern = (*source)->entry().name;
  const text::Pattern &entry = (*source)->entry();
  auto settings = reports ? matchSettings(entry, *given) : matchConstants(entry, *given);
  if (!settings)
    return settings.takeError();
  for (const auto &[name, setting] : *settings)
    if (setting.isConstexpr)
      problem->constants[name] = setting.values.front();
  if (reports) {
    if (llvm::Error error = report(options, **source, *problem, *call, *settings))
      return error;
    if (!options.has(OPT_output))
      return llvm::Error::success();
  }
  std::string warnings;
  Expected<std::string> text =
      Compiler().emit((*source)->variant(Variant::Asked), *problem, *stage, &warnings);
  if (!text)
    return failureOf(text.status());
  if (!reports) // The report brought them.
    llvm::errs() << warnings;
  return writeOutput(options.text(OPT_output, "-"),
                     [&](llvm::raw_ostream &stream) { stream << *text; });
}

} // namespace skim::tool
