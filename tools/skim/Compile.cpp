// `skim compile`: a pattern to an intermediate form, assembly or an object file.
#include "tools/skim/CompileBundle.h"
#include "tools/skim/Failure.h"
#include "tools/skim/OutputFile.h"
#include "tools/skim/PatternSource.h"
#include "tools/skim/PrintReport.h"
#include "tools/skim/Problem.h"
#include "tools/skim/Progress.h"
#include "tools/skim/Settings.h"
#include "tools/skim/Subcommands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace skim::tool {
namespace {

llvm::Expected<Stage> stageOf(llvm::StringRef form) {
  constexpr llvm::StringLiteral forms = "skim, plan, tile, llvm, asm, object, ptx, cubin, bundle";
  std::optional<Stage> stage = llvm::StringSwitch<std::optional<Stage>>(form)
                                   .Case("skim", Stage::Skim)
                                   .Case("plan", Stage::Plan)
                                   .Case("tile", Stage::Tile)
                                   .Case("llvm", Stage::Llvm)
                                   .Case("asm", Stage::Assembly)
                                   .Case("object", Stage::Object)
                                   .Case("ptx", Stage::Ptx)
                                   .Case("cubin", Stage::Cubin)
                                   .Default(std::nullopt);
  if (stage)
    return *stage;
  return wrongUsage("--emit: expected one of " + forms + " but got '" + form + "'");
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
  Expected<Report> report = [&] {
    Progress progress("counting the cost of " + source.entry().name);
    return Compiler().report(source.variant(Variant::Asked), problem, call, &warnings);
  }();
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
  if (options.text(OPT_emit) == "bundle")
    return compileBundle(options);
  if (options.operands().size() > 1)
    return wrongUsage("expected one pattern file but got '" +
                      llvm::join(options.operands(), "', '") + "'; only bundles take several");
  bool reports = options.has(OPT_report);
  if (llvm::Error error = checkReportOptions(options))
    return error;
  llvm::Expected<CompileOptions> problem = readProblem(options);
  if (!problem)
    return problem.takeError();
  llvm::Expected<ReportOptions> call = reports ? readCall(options) : ReportOptions();
  if (!call)
    return call.takeError();
  llvm::StringRef target = options.text(OPT_target, "cpu");
  llvm::Expected<Stage> stage =
      stageOf(options.text(OPT_emit, target.starts_with("sm_") ? "ptx" : "object"));
  if (!stage)
    return stage.takeError();
  problem->target = target.str();
  if (llvm::Error error = checkTarget(problem->target))
    return error;
  bool binary = *stage == Stage::Object || *stage == Stage::Cubin;
  if (binary && !options.has(OPT_output) && !reports)
    return wrongUsage("expected -o FILE for an object file");
  llvm::Expected<std::vector<Setting>> given = options.settings();
  if (!given)
    return given.takeError();

  auto source = PatternSource::load(options.operand(), options.text(OPT_pattern));
  if (!source)
    return source.takeError();
  if (llvm::Error error = checkInputShapes(*problem, llvm::ArrayRef(source->get())))
    return error;
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
  Expected<std::string> text = [&] {
    Progress progress("compiling " + entry.name);
    return Compiler().emit((*source)->variant(Variant::Asked), *problem, *stage, &warnings);
  }();
  if (!text)
    return failureOf(text.status());
  if (!reports) // The report brought them.
    llvm::errs() << warnings;
  return writeOutput(options.text(OPT_output, "-"),
                     [&](llvm::raw_ostream &stream) { stream << *text; });
}

} // namespace skim::tool
