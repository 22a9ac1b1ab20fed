// The subcommands of `skim`, one file each.
#ifndef SKIM_TOOLS_SKIM_SUBCOMMANDS_H
#define SKIM_TOOLS_SKIM_SUBCOMMANDS_H

#include "tools/skim/Options.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace skim::tool {

llvm::Error compile(const Options &options);
llvm::Error runPattern(const Options &options);
llvm::Error show(const Options &options);
llvm::Error evaluate(const Options &options);
llvm::Error inspect(const Options &options);
llvm::Error bench(const Options &options);
llvm::Error completion(const Options &options);

struct Subcommand {
  llvm::StringLiteral name;
  Command command;
  llvm::Error (*run)(const Options &);
  llvm::StringLiteral summary;
};

/// All of them, in the order in which they are listed.
llvm::ArrayRef<Subcommand> subcommands();

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_SUBCOMMANDS_H
