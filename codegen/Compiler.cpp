#include <skim/Compiler.h>

#include "codegen/Cubin.h"
#include "codegen/Session.h"
#include "codegen/cache/KernelCache.h"
#include "runtime/bundle/LoadKernel.h"

#include <skim/Metrics.h>

#include "llvm/Support/MemoryBuffer.h"

#include <chrono>

namespace skim {

Expected<Pattern> Pattern::load(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return Status(StatusCode::InvalidArgument,
                  "cannot read '" + path + "': " + buffer.getError().message());
  return fromText((*buffer)->getBuffer().str(), path);
}

Pattern Pattern::fromText(std::string text, std::string name) {
  Pattern pattern;
  pattern.text_ = std::move(text);
  pattern.path_ = std::move(name);
  return pattern;
}

Compiler::Compiler(const CompilerOptions &options)
    : cache_(KernelCache::open(options)), metrics_(options.metrics) {}

static Expected<BundleEntry> compileEntry(const Pattern &pattern, const CompileOptions &options) {
  Session session(options);
  if (Status status = session.parse(pattern); !status)
    return status;
  if (Status status = session.build(); !status)
    return status;
  if (Status status = session.plan(); !status)
    return status;
  return session.compile();
}

static Expected<Kernel> loadBytes(const std::string &bytes, const Pattern &pattern) {
  Expected<Bundle> bundle = Bundle::fromMemory(std::as_bytes(std::span(bytes)), pattern.path());
  if (!bundle)
    return bundle.status();
  return loadKernel(*bundle, bundle->entries().front());
}

namespace {

/// One compilation that asks the cache first by the text, which needs no MLIR, and then by the IR,
/// which is the same for texts that differ in words alone.
class CachedCompilation {
public:
  CachedCompilation(KernelCache *cache, Metrics *metrics, const CompileOptions &options)
      : cache(cache), metrics(metrics), session(options) {}

  Expected<Kernel> run(const Pattern &pattern, std::string &warnings) {
    if (Status status = session.parse(pattern); !status)
      return status;
    const std::string textKey = cache ? session.textKey() : "";
    if (std::optional<KernelCache::Hit> hit = find(textKey)) {
      warnings = hit->entry.metadata.warnings;
      return found(*std::move(hit));
    }
    if (Status status = session.build(); !status)
      return status;
    const std::string irKey = cache ? session.irKey() : "";
    if (std::optional<KernelCache::Hit> hit = find(irKey)) {
      session.describe(hit->entry.metadata);
      cache->publish(textKey, writeBundle({&hit->entry, 1}));
      warnings = session.messages();
      return found(*std::move(hit));
    }
    if (cache && metrics)
      metrics->recordCacheLookup(false);
    Expected<Kernel> kernel = compile(pattern, textKey, irKey, warnings);
    if (kernel && metrics)
      metrics->recordCompile(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return kernel;
  }

private:
  std::optional<KernelCache::Hit> find(const std::string &key) {
    return key.empty() ? std::nullopt : cache->find(key);
  }

  Expected<Kernel> found(KernelCache::Hit hit) {
    if (metrics)
      metrics->recordCacheLookup(true);
    return std::move(hit.kernel);
  }

  Expected<Kernel> compile(const Pattern &pattern, const std::string &textKey,
                           const std::string &irKey, std::string &warnings) {
    const std::string saidOfText = session.messages();
    if (Status status = session.plan(); !status)
      return status;
    Expected<BundleEntry> entry = session.compile();
    if (!entry)
      return entry.status();
    warnings = entry->metadata.warnings;
    if (cache)
      addCubinOfDriver(*entry);
    const std::string bytes = writeBundle({&*entry, 1});
    Expected<Kernel> kernel = loadBytes(bytes, pattern);
    if (!kernel)
      return kernel;
    if (!textKey.empty())
      cache->publish(textKey, bytes);
    // What planning warned of names places in this text, which another may not have.
    if (!irKey.empty() && warnings == saidOfText)
      cache->publish(irKey, bytes);
    return kernel;
  }

  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  KernelCache *cache;
  Metrics *metrics;
  Session session;
};

} // namespace

Expected<Kernel> Compiler::compile(const Pattern &pattern, const CompileOptions &options,
                                   std::string *warnings) const {
  std::string said;
  Expected<Kernel> kernel = CachedCompilation(cache_.get(), metrics_, options).run(pattern, said);
  if (!kernel)
    return kernel;
  if (warnings)
    *warnings = said + (cache_ ? cache_->takeWarning() : "");
  return kernel;
}

static bool isAlike(const BundleEntry &a, const BundleEntry &b) {
  return a.target == b.target && a.launchPlan.pattern == b.launchPlan.pattern &&
         a.launchPlan.signature == b.launchPlan.signature &&
         a.metadata.constants == b.metadata.constants;
}

Expected<std::string> Compiler::bundle(const std::vector<BundleRequest> &requests,
                                       std::string *warnings,
                                       const std::function<void(size_t)> &progress) const {
  std::vector<BundleEntry> entries;
  for (const BundleRequest &request : requests) {
    if (progress)
      progress(entries.size());
    Expected<BundleEntry> entry = compileEntry(request.pattern, request.options);
    if (!entry)
      return entry.status();
    if (Status status = addCubinOfPtxas(*entry); !status)
      return status;
    for (const BundleEntry &other : entries)
      if (isAlike(*entry, other))
        return Status(StatusCode::InvalidArgument,
                      "expected kernels that differ but got '" + entry->launchPlan.pattern +
                          "' for " + entry->target + " with one configuration twice");
    if (warnings && warnings->find(entry->metadata.warnings) == std::string::npos)
      *warnings += entry->metadata.warnings;
    entries.push_back(*std::move(entry));
  }
  return writeBundle(entries);
}

static Expected<std::string> emitStage(Session &session, const Pattern &pattern, Stage stage) {
  if (Status status = session.parse(pattern); !status)
    return status;
  if (Status status = session.build(); !status)
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
  case Stage::Assembly:
  case Stage::Object:
  case Stage::Ptx:
  case Stage::Cubin:
    return session.emit(stage);
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
  if (Status status = session.parse(pattern); !status)
    return status;
  if (Status status = session.build(); !status)
    return status;
  Expected<Report> report = session.report(call);
  if (report && warnings)
    *warnings = session.messages();
  return report;
}

} // namespace skim
