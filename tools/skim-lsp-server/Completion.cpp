// What may be written at a place of a document.
#include "tools/skim-lsp-server/Describe.h"
#include "tools/skim-lsp-server/Document.h"
#include "tools/skim-lsp-server/Positions.h"

#include "frontends/text/Names.h"

namespace skim::lsp {

namespace {

using llvm::lsp::CompletionItem;
using llvm::lsp::CompletionItemKind;

CompletionItemKind kindOf(Word::Kind kind) {
  switch (kind) {
  case Word::Kind::Keyword:
  case Word::Kind::Context:
    return CompletionItemKind::Keyword;
  case Word::Kind::Type:
    return CompletionItemKind::TypeParameter;
  case Word::Kind::Axis:
  case Word::Kind::Value:
    return CompletionItemKind::Constant;
  case Word::Kind::Function:
    break;
  }
  return CompletionItemKind::Function;
}

class Completer {
public:
  Completer(const Analysis &analysis, size_t offset)
      : analysis(analysis), text(analysis.text()), start(wordAround(text, offset).first) {}

  std::vector<CompletionItem> complete() {
    if (isInComment(text, start) || isInString(text, start))
      return {};
    if (isAtType()) {
      addWords([](const Word &word) { return word.kind == Word::Kind::Type; });
      return std::move(items);
    }
    llvm::StringRef callee = calleeAround(text, start);
    addLabels(callee);
    addNames();
    addPatterns();
    bool inCall = !callee.empty();
    addWords([&](const Word &word) {
      // Keywords of clauses stand in no call.
      return word.kind == Word::Kind::Value || word.kind == Word::Kind::Function ||
             word.kind == Word::Kind::Axis || (word.kind == Word::Kind::Keyword && !inCall);
    });
    return std::move(items);
  }

private:
  /// After the colon of a parameter or an input.
  bool isAtType() const {
    llvm::StringRef before = text.take_front(start).rtrim();
    if (!before.consume_back(":"))
      return false;
    if (!calleeAround(text, start).empty())
      return false; // The value of a named argument.
    llvm::StringRef line = before.substr(before.rfind('\n') + 1).ltrim();
    const text::Pattern *pattern = enclosingPattern(analysis, start);
    bool inBody = pattern != nullptr &&
                  llvm::StringRef(pattern->range.Start.getPointer(),
                                  text.data() + start - pattern->range.Start.getPointer())
                      .contains('{');
    return line.starts_with("input ") || !inBody;
  }

  void add(llvm::StringRef name, CompletionItemKind kind, llvm::StringRef detail,
           llvm::StringRef sort, const Meaning &meaning) {
    CompletionItem item(name, kind, (sort + name).str());
    item.detail = detail.str();
    item.documentation = {llvm::lsp::MarkupKind::Markdown, describe(analysis, meaning)};
    items.push_back(std::move(item));
  }

  template <typename Filter> void addWords(Filter filter) {
    for (const Word &word : words())
      if (filter(word))
        add(word.name, kindOf(word.kind), word.usage, "3", {{}, {}, {}, {}, &word});
  }

  void addLabels(llvm::StringRef callee) {
    if (const text::BuiltinFunction *function = text::findFunction(callee)) {
      llvm::SmallVector<llvm::StringRef> labels;
      function->labels.split(labels, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
      for (llvm::StringRef label : labels)
        add((label + ":").str(), CompletionItemKind::Field, function->usage, "0",
            {{}, {}, {}, {}, findWord(label)});
    } else if (const text::Pattern *pattern = analysis.program.find(callee)) {
      for (const text::Parameter &parameter : pattern->parameters)
        add(parameter.name + ":", CompletionItemKind::Field, signatureOf(analysis, *pattern), "0",
            {{}, pattern, &parameter});
    }
  }

  /// Parameters and inputs of the pattern, and values that were named before.
  void addNames() {
    const text::Pattern *pattern = enclosingPattern(analysis, start);
    if (pattern == nullptr)
      return;
    for (const text::Parameter &parameter : pattern->parameters)
      add(parameter.name, CompletionItemKind::Variable, "parameter", "1",
          {{}, pattern, &parameter});
    for (const text::Item &item : pattern->items) {
      bool isBefore = item.range.End.getPointer() < text.data() + start;
      if (!item.name.empty() && (isBefore || item.kind == text::Item::Kind::Input))
        add(item.name, CompletionItemKind::Variable,
            item.kind == text::Item::Kind::Input ? "input" : "value", "1",
            {{}, pattern, nullptr, &item});
    }
  }

  void addPatterns() {
    const text::Pattern *current = enclosingPattern(analysis, start);
    for (const auto &file : analysis.program.files)
      for (const auto &pattern : file->tree.patterns)
        if (pattern.get() != current && !pattern->name.empty())
          add(pattern->name, CompletionItemKind::Function, signatureOf(analysis, *pattern), "2",
              {{}, pattern.get()});
  }

  const Analysis &analysis;
  llvm::StringRef text;
  /// Where the word starts that is being written.
  size_t start;
  std::vector<CompletionItem> items;
};

} // namespace

llvm::lsp::CompletionList Document::completion(const llvm::lsp::Position &position) const {
  llvm::lsp::CompletionList list;
  list.items = Completer(*analysis, offsetOf(analysis->text(), position)).complete();
  return list;
}

} // namespace skim::lsp
