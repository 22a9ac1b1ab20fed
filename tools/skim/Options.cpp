#include "tools/skim/Options.h"

#include "tools/skim/Failure.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"

namespace skim::tool {
namespace {

#define OPTTABLE_STR_TABLE_CODE
#include "tools/skim/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "tools/skim/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

using llvm::opt::DefaultVis;
constexpr llvm::opt::OptTable::Info optionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "tools/skim/Options.inc"
#undef OPTION
};

class Table : public llvm::opt::GenericOptTable {
public:
  Table() : GenericOptTable(OptionStrTable, OptionPrefixesTable, optionInfos) {
    setDashDashParsing(true);
  }
};

const Table &table() {
  static const Table instance;
  return instance;
}

struct CommandText {
  const char *usage;
  const char *title;
  const char *operand = "pattern file";
};

CommandText textOf(Command command) {
  switch (command) {
  case CompileCommand:
    return {
        "skim compile PATTERN.skim... [options]",
        "Compiles a pattern for one shape of heads and one target; bundles take several patterns "
        "and targets."};
  case RunCommand:
    return {"skim run PATTERN.skim --qkv FILE [options]",
            "Runs a pattern over queries, keys and values, and compares it with dense attention."};
  case ShowCommand:
    return {"skim show PATTERN.skim -o FILE.svg|FILE.png [options]",
            "Draws what a pattern keeps, head by head."};
  case EvalCommand:
    return {"skim eval PATTERN.skim... [options]",
            "Runs a small language model under patterns: bits per byte and retrieval beside dense "
            "attention."};
  case BenchCommand:
    return {"skim bench cpu|gpu [options]",
            "Measures attention on this machine, beside another implementation.",
            "suite (cpu or gpu)"};
  case InspectCommand:
    return {"skim inspect FILE.skimb [options]",
            "Prints what a bundle holds, and checks it against damage.", "bundle"};
  case CompletionCommand:
    return {"skim completion bash|zsh|fish",
            "Prints what makes a shell complete the subcommands and options of skim.",
            "shell (bash, zsh or fish)"};
  }
  return {};
}

llvm::Expected<int64_t> parseNumber(llvm::StringRef what, llvm::StringRef text, int64_t least,
                                    int64_t most) {
  int64_t value = 0;
  if (text.getAsInteger(10, value))
    return wrongUsage(what + ": expected a whole number but got '" + text + "'");
  if (value < least || value > most)
    return wrongUsage(what + ": expected a number from " + llvm::Twine(least) + " to " +
                      llvm::Twine(most) + " but got " + llvm::Twine(value));
  return value;
}

} // namespace

llvm::Expected<Options> Options::parse(Command command, llvm::ArrayRef<const char *> arguments) {
  Options options;
  unsigned missingIndex = 0;
  unsigned missingCount = 0;
  options.arguments =
      table().ParseArgs(arguments, missingIndex, missingCount, llvm::opt::Visibility(command));
  if (missingCount > 0)
    return wrongUsage(llvm::Twine("expected a value after ") + arguments[missingIndex]);

  for (const llvm::opt::Arg *unknown : options.arguments.filtered(OPT_UNKNOWN)) {
    std::string text = unknown->getAsString(options.arguments);
    std::string nearest;
    unsigned distance = table().findNearest(text, nearest, llvm::opt::Visibility(command));
    if (distance <= 2)
      return wrongUsage("unknown option '" + llvm::Twine(text) + "'; did you mean '" + nearest +
                        "'?");
    return wrongUsage("unknown option '" + llvm::Twine(text) + "'");
  }
  if (options.has(OPT_help))
    return options;

  for (const llvm::opt::Arg *argument : options.arguments)
    if (argument->getNumValues() != 0 && argument->getOption().getID() != OPT_INPUT &&
        argument->getOption().getID() != OPT_set && argument->getOption().getID() != OPT_sweep &&
        argument->getOption().getID() != OPT_input_shape &&
        options.arguments.getLastArg(argument->getOption().getID()) != argument)
      return wrongUsage(argument->getOption().getPrefixedName() + ": given twice");

  std::vector<std::string> operands = options.arguments.getAllArgValues(OPT_INPUT);
  llvm::StringRef what = textOf(command).operand;
  if (operands.empty())
    return wrongUsage("expected a " + what);
  if (operands.size() > 1 && command != EvalCommand && command != CompileCommand)
    return wrongUsage("expected one " + what + " but got '" + llvm::join(operands, "', '") + "'");
  options.operandTexts = std::move(operands);
  return options;
}

void Options::printHelp(llvm::raw_ostream &stream, Command command) {
  CommandText text = textOf(command);
  table().printHelp(stream, text.usage, text.title, /*ShowHidden=*/false, /*ShowAllAliases=*/false,
                    llvm::opt::Visibility(command));
}

std::vector<OptionDescription> Options::list(Command command) {
  std::vector<OptionDescription> list;
  const Table &all = table();
  for (const llvm::opt::OptTable::Info &info : optionInfos) {
    const char *help = all.getOptionHelpText(info.ID, llvm::opt::Visibility(command));
    // Aliases and what is read as no option have no text.
    if ((info.Visibility & command) == 0 || help == nullptr)
      continue;
    OptionDescription option{
        all.getOptionPrefixedName(info.ID), info.MetaVar != nullptr ? info.MetaVar : "", help, {}};
    if (info.Values != nullptr && *info.Values != '\0')
      llvm::append_range(option.choices, llvm::split(info.Values, ','));
    list.push_back(std::move(option));
  }
  return list;
}

llvm::StringRef Options::text(OptionId id, llvm::StringRef otherwise) const {
  return arguments.getLastArgValue(id, otherwise);
}

llvm::Expected<int64_t> Options::number(OptionId id, int64_t otherwise, int64_t least,
                                        int64_t most) const {
  const llvm::opt::Arg *argument = arguments.getLastArg(id);
  if (!argument)
    return otherwise;
  return parseNumber(argument->getSpelling(), argument->getValue(), least, most);
}

llvm::Expected<std::vector<int64_t>> Options::numbers(OptionId id, int64_t least,
                                                      int64_t most) const {
  std::vector<int64_t> values;
  const llvm::opt::Arg *argument = arguments.getLastArg(id);
  if (!argument)
    return values;
  for (llvm::StringRef part : llvm::split(argument->getValue(), ',')) {
    llvm::Expected<int64_t> value = parseNumber(argument->getSpelling(), part, least, most);
    if (!value)
      return value.takeError();
    values.push_back(*value);
  }
  return values;
}

llvm::Expected<llvm::StringRef> Options::choice(OptionId id, llvm::StringRef otherwise,
                                                llvm::ArrayRef<llvm::StringRef> choices) const {
  llvm::StringRef value = text(id, otherwise);
  if (llvm::is_contained(choices, value))
    return value;
  return wrongUsage(arguments.getLastArg(id)->getSpelling() + ": expected one of " +
                    llvm::join(choices, ", ") + " but got '" + value + "'");
}

llvm::Expected<std::vector<Setting>> Options::settings(OptionId id) const {
  llvm::StringRef option = id == OPT_sweep         ? "--sweep"
                           : id == OPT_input_shape ? "--input-shape"
                                                   : "--set";
  std::vector<Setting> settings;
  for (llvm::StringRef text : arguments.getAllArgValues(id)) {
    auto [name, list] = text.split('=');
    name = name.trim();
    if (!name.empty() && list.empty() && text.ends_with("="))
      return wrongUsage(option + ": expected NAME=VALUE but the value of '" + name + "' is empty");
    if (name.empty() || list.empty())
      return wrongUsage(option + ": expected NAME=VALUE but got '" + text + "'");
    if (llvm::any_of(settings, [&](const Setting &other) { return other.name == name; }))
      return wrongUsage(option + ": '" + name + "' is given twice");
    Setting setting{name.str(), {}, option};
    for (llvm::StringRef value : llvm::split(list, ','))
      setting.values.push_back(value.str());
    settings.push_back(std::move(setting));
  }
  return settings;
}

} // namespace skim::tool
