#include "tools/skim/Subcommands.h"
#include "tools/skim/completion/Scripts.h"

#include "llvm/ADT/StringExtras.h"

namespace skim::tool {

namespace {

// bash splits words at '=', so `--name=VALUE` is three of them. File names are completed as such,
// so that blanks in them are escaped.
constexpr llvm::StringLiteral head = R"(# Completion of skim for bash.
_skim_files() {
  local IFS=$'\n'
  compopt -o filenames
  COMPREPLY+=($(compgen -d -- "$2") $(compgen -f -X "!*$1" -- "$2"))
}

_skim_words() {
  COMPREPLY+=($(compgen -W "$1" -- "$2"))
}

_skim() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

void printSubcommand(llvm::raw_ostream &os, const Subcommand &subcommand) {
  std::vector<OptionDescription> options = Options::list(subcommand.command);
  os << "  " << subcommand.name << ")\n    case $previous in\n";
  llvm::SmallVector<llvm::StringRef> names;
  for (const OptionDescription &option : options) {
    names.push_back(option.name);
    ValueKind kind = valueKind(option);
    if (kind == ValueKind::None)
      continue;
    os << "    " << option.name << ") ";
    if (kind == ValueKind::Choice)
      os << "_skim_words \"" << llvm::join(option.choices, " ") << "\" \"$current\"; ";
    else if (kind == ValueKind::File || kind == ValueKind::Folder)
      os << "_skim_files \"" << (kind == ValueKind::Folder ? "/" : "") << "\" \"$current\"; ";
    os << "return ;;\n";
  }
  os << "    esac\n    if [[ $current == -* ]]; then\n      _skim_words \""
     << llvm::join(names, " ") << "\" \"$current\"\n    else\n      ";
  Operand operand = operandOf(subcommand.command);
  if (operand.suffix.empty())
    os << "_skim_words \"" << operand.choices << "\" \"$current\"";
  else
    os << "_skim_files ." << operand.suffix << " \"$current\"";
  os << "\n    fi\n    ;;\n";
}

} // namespace

void printBashCompletion(llvm::raw_ostream &os) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const Subcommand &subcommand : subcommands())
    names.push_back(subcommand.name);
  std::string all = llvm::join(names, " ");
  os << head << "  if ((COMP_CWORD == 1)); then\n    _skim_words \"" << all
     << " help --help --version\" \"$current\"\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n"
     << "  help) _skim_words \"" << all << "\" \"$current\" ;;\n";
  for (const Subcommand &subcommand : subcommands())
    printSubcommand(os, subcommand);
  os << "  esac\n}\n\ncomplete -F _skim skim\n";
}

} // namespace skim::tool
