#include "tools/skim/Subcommands.h"
#include "tools/skim/completion/Scripts.h"

#include "llvm/ADT/StringExtras.h"

namespace skim::tool {

namespace {

/// A text inside of a specification of `_arguments` or `_describe`.
std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\')
      result += '\\';
    result += c;
  }
  return result;
}

std::string actionOf(const OptionDescription &option) {
  switch (valueKind(option)) {
  case ValueKind::Choice:
    return "(" + llvm::join(option.choices, " ") + ")";
  case ValueKind::File:
    return "_files";
  case ValueKind::Folder:
    return "_files -/";
  case ValueKind::None:
  case ValueKind::Other:
    break;
  }
  return " ";
}

void printLine(llvm::raw_ostream &os, llvm::StringRef specification) {
  os << " \\\n      " << quote(specification, R"('\'')");
}

void printSubcommand(llvm::raw_ostream &os, const Subcommand &subcommand) {
  os << "  " << subcommand.name << ")\n    _arguments";
  for (const OptionDescription &option : Options::list(subcommand.command)) {
    std::string line = mayRepeat(option) ? "*" : "";
    line += option.name;
    if (!option.metavar.empty())
      line += option.name.starts_with("--") ? "=" : "+"; // the value in the same word or the next
    line += "[" + escaped(option.help) + "]";
    if (!option.metavar.empty())
      line += ":" + escaped(option.metavar) + ":" + actionOf(option);
    printLine(os, line);
  }
  Operand operand = operandOf(subcommand.command);
  if (operand.suffix.empty())
    printLine(os, ("1: :(" + operand.choices + ")").str());
  else
    printLine(os, ("*:file:_files -g \"*." + operand.suffix + "(-.)\"").str());
  os << "\n    ;;\n";
}

} // namespace

void printZshCompletion(llvm::raw_ostream &os) {
  os << "#compdef skim\n# Completion of skim for zsh.\n_skim() {\n  local -a subcommands\n"
        "  subcommands=(\n";
  for (const Subcommand &subcommand : subcommands())
    os << "    " << quote(subcommand.name.str() + ":" + escaped(subcommand.summary), R"('\'')")
       << "\n";
  os << "  )\n  if ((CURRENT == 2)); then\n    if [[ $PREFIX == -* ]]; then\n"
        "      compadd -- --help --version\n    else\n"
        "      subcommands+=('help:the options of a subcommand')\n"
        "      _describe subcommand subcommands\n    fi\n    return\n  fi\n"
        "  shift words\n  ((CURRENT--))\n  case $words[1] in\n"
        "  help) _describe subcommand subcommands ;;\n";
  for (const Subcommand &subcommand : subcommands())
    printSubcommand(os, subcommand);
  os << "  esac\n}\n\n# As a file of fpath this is the body of _skim itself.\n"
        "if [[ $funcstack[1] == _skim ]]; then\n  _skim \"$@\"\nelse\n  compdef _skim skim\nfi\n";
}

} // namespace skim::tool
