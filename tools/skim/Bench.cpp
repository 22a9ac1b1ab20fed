// `skim bench`: runs a suite of benchmarks.
#include "bench/CpuSuite.h"
#include "bench/GpuSuite.h"
#include "bench/Report.h"
#include "tools/skim/Failure.h"
#include "tools/skim/Progress.h"
#include "tools/skim/Subcommands.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace skim::tool {
namespace {

struct NamedOption {
  OptionId id;
  llvm::StringLiteral name;
};

llvm::Error refuse(const Options &options, llvm::ArrayRef<NamedOption> named,
                   llvm::StringRef expected) {
  for (const NamedOption &option : named)
    if (options.has(option.id))
      return wrongUsage(llvm::Twine(option.name) + ": expected " + expected);
  return llvm::Error::success();
}

llvm::Error benchCpu(const Options &options, bool besideTorch) {
  if (llvm::Error error =
          refuse(options, {{OPT_rows, "--rows"}, {OPT_rounds, "--rounds"}, {OPT_keep, "--keep"}},
                 "the suite gpu"))
    return error;
  bench::CpuSuiteOptions suite;
  suite.torch = besideTorch;
  suite.python = options.text(OPT_python, suite.python).str();
  struct Number {
    OptionId id;
    int64_t &value;
    int64_t least, most;
  };
  for (const Number &number :
       {Number{OPT_threads, suite.threads, 1, 4096}, Number{OPT_repeats, suite.repeats, 1, 10'000},
        Number{OPT_tokens, suite.geometry.tokens, 1, 65'536}}) {
    llvm::Expected<int64_t> given =
        options.number(number.id, number.value, number.least, number.most);
    if (!given)
      return given.takeError();
    number.value = *given;
  }
  Expected<bench::SuiteResult> result = [&] {
    Progress progress("starting");
    suite.progress = [&](const std::string &what) { progress.show(what); };
    return bench::runCpuSuite(suite);
  }();
  if (!result)
    return failureOf(result.status());
  if (options.has(OPT_json))
    bench::printJson(llvm::outs(), *result);
  else
    bench::printTable(llvm::outs(), *result);
  return llvm::Error::success();
}

std::string thisProgram() {
  static const char anchor = 0;
  return llvm::sys::fs::getMainExecutable(nullptr, const_cast<char *>(&anchor));
}

/// Beside this program, as the build puts it, or among the libraries where both are installed.
llvm::Expected<std::string> gpuRuntimeLibrary(llvm::StringRef program) {
  const llvm::StringRef folder = llvm::sys::path::parent_path(program);
  for (llvm::StringRef from : {"", SKIM_LIBRARIES_FROM_PROGRAMS}) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, from, bench::kGpuRuntimeLibrary);
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return environmentFailed(llvm::Twine("expected ") + bench::kGpuRuntimeLibrary + " in '" + folder +
                           "' or in '" + folder + "/" SKIM_LIBRARIES_FROM_PROGRAMS "'");
}

llvm::Expected<bench::PreparedGpuSuite> prepareGpu(const std::string &folder,
                                                   bench::GpuSuiteOptions &suite) {
  Expected<bench::PreparedGpuSuite> prepared = [&] {
    Progress progress("starting");
    suite.progress = [&](const std::string &what) { progress.show(what); };
    Expected<bench::PreparedGpuSuite> result = bench::prepareGpuSuite(folder, suite);
    suite.progress = {};
    return result;
  }();
  if (!prepared)
    return failureOf(prepared.status());
  for (const std::string &refused : prepared->refused)
    llvm::errs() << "warning: " << refused << "\n";
  return *std::move(prepared);
}

llvm::Error benchGpu(const Options &options, bool besidePeers) {
  if (llvm::Error error =
          refuse(options,
                 {{OPT_threads, "--threads"}, {OPT_repeats, "--repeats"}, {OPT_tokens, "--tokens"}},
                 "the suite cpu"))
    return error;
  bench::GpuSuiteOptions suite;
  llvm::Expected<int64_t> rounds = options.number(OPT_rounds, suite.rounds, 1, 1000);
  if (!rounds)
    return rounds.takeError();
  suite.program = thisProgram();
  llvm::Expected<std::string> library = gpuRuntimeLibrary(suite.program);
  if (!library)
    return library.takeError();
  suite.python = options.text(OPT_python, suite.python).str();
  suite.rows = options.text(OPT_rows).str();
  suite.rounds = *rounds;
  suite.peers = besidePeers;
  suite.json = options.has(OPT_json);
  suite.library = *std::move(library);

  if (options.has(OPT_keep)) {
    if (llvm::Error error = refuse(options,
                                   {{OPT_rows, "--rows"},
                                    {OPT_rounds, "--rounds"},
                                    {OPT_peer, "--peer"},
                                    {OPT_python, "--python"},
                                    {OPT_json, "--json"}},
                                   "no --keep beside it, which runs nothing"))
      return error;
    const std::string folder = options.text(OPT_keep).str();
    llvm::Expected<bench::PreparedGpuSuite> prepared = prepareGpu(folder, suite);
    if (!prepared)
      return prepared.takeError();
    llvm::outs() << folder << ": " << prepared->kernels << " kernels, " << prepared->refused.size()
                 << " refused\n";
    return llvm::Error::success();
  }

  if (Status status = bench::checkGpuSuite(suite); !status)
    return failureOf(status);
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("skim-bench", folder))
    return environmentFailed("cannot make a temporary folder: " + error.message());
  llvm::scope_exit remove([&] {
    if (std::error_code error = llvm::sys::fs::remove_directories(folder))
      llvm::errs() << "warning: cannot remove '" << folder << "': " << error.message() << "\n";
  });
  if (auto prepared = prepareGpu(folder.str().str(), suite); !prepared)
    return prepared.takeError();
  Status status = bench::runGpuSuite(folder.str().str(), suite);
  return status ? llvm::Error::success() : failureOf(status);
}

} // namespace

llvm::Error bench(const Options &options) {
  const bool onGpu = options.operand() == "gpu";
  if (!onGpu && options.operand() != "cpu")
    return wrongUsage("expected a suite (cpu or gpu) but got '" + options.operand() + "'");
  llvm::Expected<llvm::StringRef> peer = options.choice(OPT_peer, "torch", {"torch", "none"});
  if (!peer)
    return peer.takeError();
  return onGpu ? benchGpu(options, *peer == "torch") : benchCpu(options, *peer == "torch");
}

} // namespace skim::tool
