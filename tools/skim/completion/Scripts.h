// Scripts that make shells complete the command line of `skim`, from its own tables of subcommands
// and options.
#ifndef SKIM_TOOLS_SKIM_COMPLETION_SCRIPTS_H
#define SKIM_TOOLS_SKIM_COMPLETION_SCRIPTS_H

#include "tools/skim/Options.h"

namespace skim::tool {

void printBashCompletion(llvm::raw_ostream &os);
void printZshCompletion(llvm::raw_ostream &os);
void printFishCompletion(llvm::raw_ostream &os);

/// What the value of an option names, as far as a shell can complete it.
enum class ValueKind { None, Choice, File, Folder, Other };
ValueKind valueKind(const OptionDescription &option);
bool mayRepeat(const OptionDescription &option);

/// What stands behind a subcommand: the ending of files, or words to choose from.
struct Operand {
  llvm::StringLiteral suffix;
  llvm::StringLiteral choices; ///< Separated by blanks.
};
Operand operandOf(Command command);

/// `text` between single quotes, as shells read it; `escape` is what a quote inside becomes.
std::string quote(llvm::StringRef text, llvm::StringRef escape);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_COMPLETION_SCRIPTS_H
