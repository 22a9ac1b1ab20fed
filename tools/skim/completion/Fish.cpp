#include "tools/skim/Subcommands.h"
#include "tools/skim/completion/Scripts.h"

#include "llvm/ADT/StringExtras.h"

namespace skim::tool {

namespace {

std::string quoted(llvm::StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '\\' ? "\\\\" : std::string(1, c);
  return quote(escaped, R"(\')");
}

void printOption(llvm::raw_ostream &os, llvm::StringRef subcommand,
                 const OptionDescription &option) {
  os << "complete -c skim -n '__fish_seen_subcommand_from " << subcommand << "' ";
  llvm::StringRef name = option.name;
  if (name.consume_front("--"))
    os << "-l " << name;
  else
    os << "-s " << name.drop_front();
  switch (valueKind(option)) {
  case ValueKind::None:
    break;
  case ValueKind::Choice:
    os << " -x -a " << quoted(llvm::join(option.choices, " "));
    break;
  case ValueKind::File:
    os << " -r -F";
    break;
  case ValueKind::Folder:
    os << " -x -a '(__fish_complete_directories)'";
    break;
  case ValueKind::Other:
    os << " -x";
    break;
  }
  os << " -d " << quoted(option.help) << '\n';
}

} // namespace

void printFishCompletion(llvm::raw_ostream &os) {
  os << "# Completion of skim for fish.\ncomplete -c skim -f\n";
  llvm::SmallVector<llvm::StringRef> names;
  for (const Subcommand &subcommand : subcommands()) {
    names.push_back(subcommand.name);
    os << "complete -c skim -n __fish_use_subcommand -a " << subcommand.name << " -d "
       << quoted(subcommand.summary) << '\n';
  }
  std::string all = llvm::join(names, " ");
  os << "complete -c skim -n __fish_use_subcommand -a help -d 'the options of a subcommand'\n"
        "complete -c skim -n __fish_use_subcommand -l help -d 'print an overview'\n"
        "complete -c skim -n __fish_use_subcommand -l version -d 'print the versions of skim and "
        "LLVM'\n"
        "complete -c skim -n '__fish_seen_subcommand_from help' -a '"
     << all << "'\n";
  for (const Subcommand &subcommand : subcommands()) {
    for (const OptionDescription &option : Options::list(subcommand.command))
      printOption(os, subcommand.name, option);
    Operand operand = operandOf(subcommand.command);
    os << "complete -c skim -n '__fish_seen_subcommand_from " << subcommand.name << "' -k -a ";
    if (operand.suffix.empty())
      os << "'" << operand.choices << "'\n";
    else
      os << "'(__fish_complete_suffix ." << operand.suffix << ")'\n";
  }
}

} // namespace skim::tool
