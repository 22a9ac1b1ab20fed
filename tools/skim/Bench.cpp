// `skim bench`: runs a suite of benchmarks.
#include "bench/CpuSuite.h"
#include "bench/Report.h"
#include "tools/skim/Failure.h"
#include "tools/skim/Progress.h"
#include "tools/skim/Subcommands.h"

#include "llvm/Support/raw_ostream.h"

namespace skim::tool {

llvm::Error bench(const Options &options) {
  if (options.operand() != "cpu")
    return wrongUsage("expected a suite (cpu) but got '" + options.operand() + "'");
  bench::CpuSuiteOptions suite;
  llvm::Expected<llvm::StringRef> peer = options.choice(OPT_peer, "torch", {"torch", "none"});
  if (!peer)
    return peer.takeError();
  suite.torch = *peer == "torch";
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

} // namespace skim::tool
