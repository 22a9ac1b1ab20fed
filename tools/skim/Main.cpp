// The driver: finds the subcommand, and turns its failure into a message and an exit code.
#include "tools/skim/Failure.h"
#include "tools/skim/Options.h"
#include "tools/skim/Subcommands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

namespace {

using namespace skim::tool;

struct Row {
  llvm::StringLiteral name;
  Command command;
  llvm::Error (*run)(const Options &);
  llvm::StringLiteral summary;
};

constexpr Row rows[] = {
    {"compile", CompileCommand, compile,
     "compile a pattern: intermediate forms, assembly, object, bundle"},
    {"run", RunCommand, runPattern, "run a pattern over Q/K/V and compare it with dense attention"},
    {"show", ShowCommand, show, "draw what a pattern keeps, as SVG or PNG"},
    {"eval", EvalCommand, evaluate,
     "run a small language model under patterns: what they cost in quality"},
    {"inspect", InspectCommand, inspect, "print what a bundle holds"},
    {"bench", BenchCommand, bench,
     "measure attention on this machine, beside another implementation"},
};

const Row *find(llvm::StringRef name) {
  const Row *row = llvm::find_if(rows, [&](const Row &r) { return r.name == name; });
  return row == std::end(rows) ? nullptr : row;
}

void printOverview(llvm::raw_ostream &os) {
  os << "skim compiles sparse attention: a pattern that says which keys each query keeps\n"
        "becomes a kernel.\n\n"
        "usage: skim SUBCOMMAND PATTERN.skim [options]\n"
        "       skim inspect FILE.skimb [options]\n"
        "       skim bench SUITE [options]\n\n";
  for (const Row &row : rows)
    os << "  " << llvm::left_justify(row.name, 10) << row.summary << '\n';
  os << "\n  skim help SUBCOMMAND   the options of a subcommand, as skim SUBCOMMAND --help\n"
        "  skim --version         the versions of skim and LLVM\n\n"
        "exit codes: 0 fine, 1 the input is wrong, 2 the usage is wrong, 3 the device or the\n"
        "environment failed\n";
}

int exitWith(ExitCode code) { return static_cast<int>(code); }

int fail(llvm::Error error, llvm::StringRef command) {
  ExitCode code = ExitCode::WrongInput;
  llvm::handleAllErrors(
      std::move(error),
      [&](const Failure &failure) {
        code = failure.exitCode();
        llvm::StringRef text = failure.text().rtrim();
        if (failure.isDiagnostics())
          llvm::errs() << text << '\n';
        else if (!text.empty())
          llvm::WithColor::error() << text << '\n';
      },
      [&](const llvm::ErrorInfoBase &other) {
        llvm::WithColor::error() << other.message() << '\n';
      });
  if (code == ExitCode::WrongUsage)
    llvm::errs() << "see skim" << (command.empty() ? "" : " ") << command << " --help\n";
  return exitWith(code);
}

int help(llvm::ArrayRef<const char *> arguments) {
  if (arguments.empty()) {
    printOverview(llvm::outs());
    return exitWith(ExitCode::Fine);
  }
  if (const Row *row = find(arguments.front())) {
    Options::printHelp(llvm::outs(), row->command);
    return exitWith(ExitCode::Fine);
  }
  return fail(wrongUsage(llvm::Twine("unknown subcommand '") + arguments.front() + "'"), "");
}

int dispatch(llvm::ArrayRef<const char *> arguments) {
  if (arguments.empty()) {
    printOverview(llvm::errs());
    return exitWith(ExitCode::WrongUsage);
  }
  llvm::StringRef first = arguments.front();
  if (first == "help" || first == "--help" || first == "-h")
    return help(arguments.drop_front());
  if (first == "--version") {
    llvm::outs() << "skim " SKIM_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
    return exitWith(ExitCode::Fine);
  }
  const Row *row = find(first);
  if (!row)
    return fail(wrongUsage("unknown subcommand '" + first + "'"), "");
  llvm::Expected<Options> options = Options::parse(row->command, arguments.drop_front());
  if (!options)
    return fail(options.takeError(), row->name);
  if (options->has(OPT_help))
    return help(first.data());
  if (llvm::Error error = row->run(*options))
    return fail(std::move(error), row->name);
  return exitWith(ExitCode::Fine);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A write beyond the limit on file sizes then fails as any other.
  std::signal(SIGXFSZ, SIG_IGN);
  int code = dispatch({argv + 1, argv + argc});
  llvm::outs().flush();
  if (std::error_code error = llvm::outs().error()) {
    llvm::outs().clear_error();
    return fail(environmentFailed("cannot write to the standard output: " + error.message()), "");
  }
  return code;
}
