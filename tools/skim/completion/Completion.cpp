// `skim completion`: prints a script for a shell.
#include "tools/skim/Failure.h"
#include "tools/skim/Subcommands.h"
#include "tools/skim/completion/Scripts.h"

namespace skim::tool {

ValueKind valueKind(const OptionDescription &option) {
  if (option.metavar.empty())
    return ValueKind::None;
  if (!option.choices.empty())
    return ValueKind::Choice;
  if (option.metavar == "FILE")
    return ValueKind::File;
  return option.metavar == "FOLDER" ? ValueKind::Folder : ValueKind::Other;
}

bool mayRepeat(const OptionDescription &option) { return option.help.contains("may be repeated"); }

Operand operandOf(Command command) {
  switch (command) {
  case InspectCommand:
    return {"skimb", ""};
  case BenchCommand:
    return {"", "cpu gpu"};
  case CompletionCommand:
    return {"", "bash zsh fish"};
  default:
    return {"skim", ""};
  }
}

std::string quote(llvm::StringRef text, llvm::StringRef escape) {
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? escape.str() : std::string(1, c);
  return quoted + "'";
}

llvm::Error completion(const Options &options) {
  llvm::StringRef shell = options.operand();
  if (shell == "bash")
    printBashCompletion(llvm::outs());
  else if (shell == "zsh")
    printZshCompletion(llvm::outs());
  else if (shell == "fish")
    printFishCompletion(llvm::outs());
  else
    return wrongUsage("expected a shell (bash, zsh or fish) but got '" + shell + "'");
  return llvm::Error::success();
}

} // namespace skim::tool
