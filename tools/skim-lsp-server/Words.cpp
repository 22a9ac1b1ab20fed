#include "tools/skim-lsp-server/Words.h"

#include "llvm/ADT/STLExtras.h"

namespace skim::lsp {

namespace {

constexpr Word table[] = {
#define WORD(kind, name, usage, meaning) {Word::Kind::kind, name, usage, meaning},
#include "tools/skim-lsp-server/Words.def"
#undef WORD
};

} // namespace

llvm::ArrayRef<Word> words() { return table; }

const Word *findWord(llvm::StringRef name) {
  const Word *word = llvm::find_if(table, [&](const Word &each) { return each.name == name; });
  return word == std::end(table) ? nullptr : word;
}

llvm::StringRef kindName(Word::Kind kind) {
  switch (kind) {
  case Word::Kind::Keyword:
  case Word::Kind::Context:
    return "keyword";
  case Word::Kind::Type:
    return "type";
  case Word::Kind::Axis:
    return "axis";
  case Word::Kind::Value:
    return "value of the language";
  case Word::Kind::Function:
    break;
  }
  return "function";
}

} // namespace skim::lsp
