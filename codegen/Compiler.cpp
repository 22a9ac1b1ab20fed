#include "codegen/Compiler.h"

#include "codegen/Session.h"
#include "runtime/bundle/LoadKernel.h"

#include "llvm/Support/MemoryBuffer.h"

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

Expected<Kernel> Compiler::compile(const Pattern &pattern, const CompileOptions &options,
                                   std::string *warnings) const {
  Expected<BundleEntry> compiled = compileEntry(pattern, options);
  if (!compiled)
    return compiled.status();
  std::string bytes = writeBundle({&*compiled, 1});
  Expected<Bundle> bundle = Bundle::fromMemory(std::as_bytes(std::span(bytes)), pattern.path());
  if (!bundle)
    return bundle.status();
  Expected<Kernel> kernel = loadKernel(*bundle, bundle->entries().front());
  if (kernel && warnings)
    *warnings = compiled->metadata.warnings;
  return kernel;
}

static bool isAlike(const BundleEntry &a, const BundleEntry &b) {
  return a.target == b.target && a.launchPlan.pattern == b.launchPlan.pattern &&
         a.launchPlan.signature == b.launchPlan.signature &&
         a.metadata.constants == b.metadata.constants;
}

Expected<std::string> Compiler::bundle(const std::vector<BundleRequest> &requests,
                                       std::string *warnings) const {
  std::vector<BundleEntry> entries;
  for (const BundleRequest &request : requests) {
    Expected<BundleEntry> entry = compileEntry(request.pattern, request.options);
    if (!entry)
      return entry.status();
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
