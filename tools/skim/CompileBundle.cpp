#include "tools/skim/CompileBundle.h"

#include "tools/skim/Failure.h"
#include "tools/skim/OutputFile.h"
#include "tools/skim/PatternSource.h"
#include "tools/skim/Problem.h"
#include "tools/skim/Progress.h"
#include "tools/skim/Settings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace skim::tool {
namespace {

bool hasParameter(const PatternSource &source, llvm::StringRef name) {
  return llvm::any_of(source.entry().parameters,
                      [&](const text::Parameter &each) { return each.name == name; });
}

llvm::Error checkOptions(const Options &options) {
  if (options.has(OPT_report))
    return wrongUsage("--report: expected one pattern and target, not a bundle");
  for (const auto &[id, name] : {std::pair(OPT_tokens, "--tokens"),
                                 {OPT_context, "--context"},
                                 {OPT_threads, "--threads"},
                                 {OPT_json, "--json"}})
    if (options.has(id))
      return wrongUsage(llvm::Twine(name) + ": expected --report beside it");
  if (!options.has(OPT_output))
    return wrongUsage("expected -o FILE for a bundle");
  if (options.has(OPT_pattern) && options.operands().size() > 1)
    return wrongUsage("--pattern: expected one pattern file but got '" +
                      llvm::join(options.operands(), "', '") + "'");
  return llvm::Error::success();
}

/// The settings of one pattern: a name is that of every pattern that has it.
llvm::Expected<std::map<std::string, ParameterSetting>>
constantsOf(const PatternSource &source, llvm::ArrayRef<Setting> settings, const Sources &sources) {
  std::vector<Setting> own;
  for (const Setting &setting : settings)
    if (hasParameter(source, setting.name) ||
        llvm::none_of(sources, [&](const auto &each) { return hasParameter(*each, setting.name); }))
      own.push_back(setting);
  return matchConstants(source.entry(), own);
}

Expected<std::string> compileAll(const std::vector<BundleRequest> &requests,
                                 std::string &warnings) {
  Progress progress("compiling " + llvm::Twine(requests.size()) + " kernels");
  return Compiler().bundle(requests, &warnings, [&](size_t number) {
    const CompileOptions &options = requests[number].options;
    progress.show("compiling " + llvm::Twine(options.pattern) + " for " + options.target +
                  ", kernel " + llvm::Twine(number + 1) + " of " + llvm::Twine(requests.size()));
  });
}

} // namespace

llvm::Error compileBundle(const Options &options) {
  if (llvm::Error error = checkOptions(options))
    return error;
  llvm::Expected<CompileOptions> problem = readProblem(options);
  if (!problem)
    return problem.takeError();
  llvm::SmallVector<llvm::StringRef> targets;
  options.text(OPT_target, "cpu").split(targets, ',');
  for (llvm::StringRef target : targets)
    if (llvm::Error error = checkTarget(target))
      return error;
  llvm::Expected<std::vector<Setting>> settings = options.settings();
  if (!settings)
    return settings.takeError();

  llvm::Expected<Sources> sources = loadSources(options.operands(), options.text(OPT_pattern));
  if (!sources)
    return sources.takeError();
  if (llvm::Error error = checkInputShapes(
          *problem, llvm::to_vector(llvm::map_range(*sources, [](const auto &source) {
            return static_cast<const PatternSource *>(source.get());
          }))))
    return error;
  std::vector<BundleRequest> requests;
  for (const auto &source : *sources) {
    auto constants = constantsOf(*source, *settings, *sources);
    if (!constants)
      return constants.takeError();
    CompileOptions compileOptions = *problem;
    compileOptions.pattern = source->entry().name;
    for (const auto &[name, setting] : *constants)
      compileOptions.constants[name] = setting.values.front();
    for (llvm::StringRef target : targets) {
      compileOptions.target = target.str();
      requests.push_back({source->variant(Variant::Asked), compileOptions});
    }
  }
  std::string warnings;
  Expected<std::string> bundle = compileAll(requests, warnings);
  if (!bundle)
    return failureOf(bundle.status());
  llvm::errs() << warnings;
  return writeOutput(options.text(OPT_output),
                     [&](llvm::raw_ostream &stream) { stream << *bundle; });
}

} // namespace skim::tool
