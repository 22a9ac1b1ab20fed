// Prints the words of the language, each with its kind, for the tests of the grammars.
#include "tools/skim-lsp-server/Words.h"

#include "llvm/Support/raw_ostream.h"

int main() {
  constexpr llvm::StringLiteral kinds[] = {"keyword", "context", "type",
                                           "axis",    "value",   "function"};
  for (const skim::lsp::Word &word : skim::lsp::words())
    llvm::outs() << kinds[static_cast<size_t>(word.kind)] << ' ' << word.name << '\n';
  return 0;
}
