// The command line of one subcommand, parsed by LLVM's option library from
// Options.td, with typed access to the values.
#ifndef SKIM_TOOLS_SKIM_OPTIONS_H
#define SKIM_TOOLS_SKIM_OPTIONS_H

#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptSpecifier.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace skim::tool {

/// Which options a subcommand takes; the bits are the visibilities of Options.td.
enum Command : unsigned {
  CompileCommand = 1u << 1,
  RunCommand = 1u << 2,
  ShowCommand = 1u << 3,
  BenchCommand = 1u << 4,
  EvalCommand = 1u << 5,
  InspectCommand = 1u << 6,
  CompletionCommand = 1u << 7
};

enum OptionId : unsigned {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "tools/skim/Options.inc"
#undef OPTION
};

/// `--set NAME=A,B`, not yet matched with the parameters of a pattern.
struct Setting {
  std::string name;
  std::vector<std::string> values;
  llvm::StringRef option; ///< As errors name it: `--set`, or another of that form.
};

/// One option of a subcommand, for those who list them.
struct OptionDescription {
  llvm::StringRef name;    ///< `--target`
  llvm::StringRef metavar; ///< `FILE`; empty for a switch.
  llvm::StringRef help;
  std::vector<llvm::StringRef> choices; ///< Empty where any value goes.
};

class Options {
public:
  /// Fails with WrongUsage on an unknown option, a missing value, or a number of
  /// operands other than one (the pattern file, the suite, the bundle or the shell; compile and
  /// eval take several pattern files); `--help` needs none.
  static llvm::Expected<Options> parse(Command command, llvm::ArrayRef<const char *> arguments);

  static void printHelp(llvm::raw_ostream &stream, Command command);
  /// The options that the help of a subcommand lists.
  static std::vector<OptionDescription> list(Command command);

  bool has(OptionId id) const { return arguments.hasArg(id); }
  /// The pattern file, the suite of benchmarks, the bundle or the shell.
  llvm::StringRef operand() const { return operandTexts.front(); }
  /// All of them, at least one.
  llvm::ArrayRef<std::string> operands() const { return operandTexts; }
  /// The value given, or `otherwise`.
  llvm::StringRef text(OptionId id, llvm::StringRef otherwise = "") const;
  /// A whole number within [least, most].
  llvm::Expected<int64_t> number(OptionId id, int64_t otherwise, int64_t least, int64_t most) const;
  /// A comma-separated list of such numbers; empty where the option is not given.
  llvm::Expected<std::vector<int64_t>> numbers(OptionId id, int64_t least, int64_t most) const;
  /// One of `choices`.
  llvm::Expected<llvm::StringRef> choice(OptionId id, llvm::StringRef otherwise,
                                         llvm::ArrayRef<llvm::StringRef> choices) const;
  /// The values of `--set`, or of another option of that form. Each name stands once.
  llvm::Expected<std::vector<Setting>> settings(OptionId id = OPT_set) const;

private:
  llvm::opt::InputArgList arguments;
  std::vector<std::string> operandTexts;
};

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_OPTIONS_H
