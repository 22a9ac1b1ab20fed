// `skim eval`: runs a language model under patterns and says what they cost in quality.
#include "tools/skim/Failure.h"
#include "tools/skim/Progress.h"
#include "tools/skim/Subcommands.h"
#include "tools/skim/eval/EvalOptions.h"
#include "tools/skim/eval/Points.h"
#include "tools/skim/eval/Report.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

namespace skim::tool {
namespace {

llvm::Expected<std::vector<Prompt>> makePrompts(const EvalOptions &options) {
  llvm::Expected<std::string> text = readText(options.textPath);
  if (!text)
    return text.takeError();
  if (static_cast<int64_t>(text->size()) < options.context)
    return wrongInput("'" + options.textPath + "': expected at least the " +
                      llvm::Twine(options.context) + " bytes of a prompt but got " +
                      llvm::Twine(text->size()));
  std::vector<Prompt> prompts;
  for (int64_t i = 0; i < options.prompts; ++i) {
    Random random(options.seed, i);
    prompts.push_back(makePrompt(*text, options.context, options.pairs, random));
  }
  return prompts;
}

/// Says why points did not run. What several values of a sweep have in common is said once.
class Complaints {
public:
  void print(const Point &point, const PointResult &result) {
    llvm::StringRef text = llvm::StringRef(result.messages).rtrim();
    if (text.empty() || !printed.insert(text).second)
      return;
    if (text.contains("error: "))
      messages() << text << '\n';
    else
      llvm::WithColor::error(messages())
          << "pattern '" << point.source->entry().name << "': " << text << '\n';
  }

private:
  llvm::StringSet<> printed;
};

/// Runs dense attention, then every point.
llvm::Error measureAll(const EvalOptions &options, llvm::ArrayRef<Point> points,
                       const ModelWeights &weights, Measurement &measurement) {
  Expected<const ThreadPool *> pool = ThreadPool::shared();
  if (!pool)
    return environmentFailed(pool.status().message());
  Model model(weights, options.attention.dtype, **pool, options.attention.threads);
  Progress progress("language model");
  Complaints complaints;
  auto measureOne = [&](const Point &point, const AttentionSetup &setup) {
    llvm::StringRef name = point.source->entry().name;
    PointResult result = measure(
        point, model, weights.shape, setup, measurement.prompts, [&](size_t prompt, int64_t layer) {
          progress.show(name + ": prompt " + llvm::Twine(prompt + 1) + " of " +
                        llvm::Twine(options.prompts) + ", layer " + llvm::Twine(layer + 1) +
                        " of " + llvm::Twine(weights.shape.layers));
        });
    complaints.print(point, result);
    return result;
  };
  if (options.dense) {
    llvm::Expected<std::unique_ptr<PatternSource>> source = densePattern();
    if (!source)
      return source.takeError();
    AttentionSetup setup = options.attention;
    setup.massRows = 0;
    measurement.dense = measureOne({source->get(), {}}, setup);
    if (!measurement.dense->reason.empty())
      return alreadyReported();
  }
  for (const Point &point : points)
    measurement.points.push_back(measureOne(point, options.attention));
  return llvm::Error::success();
}

/// Fails where a point did not run, unless only because there are no inputs for it and others ran.
llvm::Error checkAllRan(const Measurement &measurement) {
  size_t failed = 0;
  size_t withoutInputs = 0;
  for (const PointResult &result : measurement.points) {
    failed += !result.reason.empty();
    withoutInputs += result.needsInputs;
  }
  if (failed == withoutInputs && failed < measurement.points.size())
    return llvm::Error::success();
  return wrongInput(llvm::Twine(failed) + " of " + llvm::Twine(measurement.points.size()) +
                    " points did not run");
}

} // namespace

llvm::Error evaluate(const Options &options) {
  llvm::StringRef picture = options.text(OPT_output);
  if (options.has(OPT_output) && !picture.ends_with(".svg") && !picture.ends_with(".png"))
    return wrongUsage("expected -o FILE.svg or -o FILE.png");
  llvm::Expected<EvalOptions> read = EvalOptions::read(options);
  if (!read)
    return read.takeError();
  llvm::Expected<Sources> sources = loadSources(options.operands(), options.text(OPT_pattern));
  if (!sources)
    return sources.takeError();
  llvm::Expected<std::vector<Setting>> settings = options.settings();
  if (!settings)
    return settings.takeError();
  llvm::Expected<std::vector<Setting>> sweeps = options.settings(OPT_sweep);
  if (!sweeps)
    return sweeps.takeError();
  llvm::Expected<std::vector<Point>> points = makePoints(*sources, *settings, *sweeps);
  if (!points)
    return points.takeError();

  llvm::Expected<ModelWeights> weights = ModelWeights::load(read->modelFolder);
  if (!weights)
    return weights.takeError();
  if (llvm::Error error = read->checkAgainst(weights->shape))
    return error;
  llvm::Expected<std::vector<Prompt>> prompts = makePrompts(*read);
  if (!prompts)
    return prompts.takeError();
  Measurement measurement;
  measurement.prompts = std::move(*prompts);
  if (llvm::Error error = measureAll(*read, *points, *weights, measurement))
    return error;

  ReportHead head{read->modelFolder, read->textPath, read->context,
                  read->pairs,       read->seed,     read->attention};
  if (options.has(OPT_output))
    if (llvm::Error error = drawFrontier(picture, head, *points, measurement))
      return error;
  if (options.has(OPT_json))
    printJson(llvm::outs(), head, *points, measurement);
  else
    printTable(llvm::outs(), head, *points, measurement);
  return checkAllRan(measurement);
}

} // namespace skim::tool
