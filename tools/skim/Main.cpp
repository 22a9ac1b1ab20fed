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

const Subcommand *find(llvm::StringRef name) {
  const Subcommand *row =
      llvm::find_if(subcommands(), [&](const Subcommand &each) { return each.name == name; });
  return row == subcommands().end() ? nullptr : row;
}

void printOverview(llvm::raw_ostream &os) {
  os << "skim compiles sparse attention: a pattern that says which keys each query keeps\n"
        "becomes a kernel.\n\n"
        "usage: skim SUBCOMMAND PATTERN.skim [options]\n"
        "       skim inspect FILE.skimb [options]\n"
        "       skim bench SUITE [options]\n"
        "       skim completion SHELL\n\n";
  for (const Subcommand &row : subcommands())
    os << "  " << llvm::left_justify(row.name, 12) << row.summary << '\n';
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
  if (const Subcommand *row = find(arguments.front())) {
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
  const Subcommand *row = find(first);
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
