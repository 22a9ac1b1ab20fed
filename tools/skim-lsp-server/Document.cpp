#include "tools/skim-lsp-server/Document.h"

#include "tools/skim-lsp-server/Describe.h"
#include "tools/skim-lsp-server/Positions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace skim::lsp {

namespace {

namespace lsp = llvm::lsp;

lsp::DiagnosticSeverity severityOf(text::Severity severity) {
  switch (severity) {
  case text::Severity::Error:
    return lsp::DiagnosticSeverity::Error;
  case text::Severity::Warning:
    return lsp::DiagnosticSeverity::Warning;
  case text::Severity::Note:
    break;
  }
  return lsp::DiagnosticSeverity::Information;
}

/// Whether `file` is `wanted` or imports it, directly or not.
bool reaches(const Analysis &analysis, const text::SourceFile &file, const text::SourceFile &wanted,
             llvm::SmallPtrSetImpl<const text::SourceFile *> &seen) {
  if (&file == &wanted)
    return true;
  if (!seen.insert(&file).second)
    return false;
  return llvm::any_of(file.tree.imports, [&](const text::Import &import) {
    const text::SourceFile *next = importedFile(analysis, file, import);
    return next != nullptr && reaches(analysis, *next, wanted, seen);
  });
}

} // namespace

Document::Document(lsp::URIForFile uri, llvm::StringRef text, llvm::vfs::FileSystem &files)
    : uri(std::move(uri)), analysis(analyze(this->uri.file(), text, files)) {}

bool Document::imports(llvm::StringRef path) const {
  llvm::ArrayRef files(analysis->program.files);
  return llvm::any_of(files.drop_front(), [&](const auto &file) { return file->path == path; });
}

std::optional<Meaning> Document::meaningAt(const lsp::Position &position) const {
  return skim::lsp::meaningAt(*analysis, offsetOf(analysis->text(), position));
}

lsp::Range Document::rangeOf(llvm::SMRange range) const {
  if (!range.isValid())
    return {};
  const text::SourceFile *file = analysis->fileOf(range.Start);
  if (file == nullptr)
    return {};
  llvm::StringRef text = analysis->textOf(*file);
  return {positionOf(text, range.Start.getPointer() - text.data()),
          positionOf(text, range.End.getPointer() - text.data())};
}

std::optional<lsp::Location> Document::locationOf(llvm::SMRange range) const {
  const text::SourceFile *file = analysis->fileOf(range.Start);
  if (file == nullptr)
    return std::nullopt;
  if (file == &analysis->file())
    return lsp::Location(uri, rangeOf(range));
  llvm::Expected<lsp::URIForFile> other = lsp::URIForFile::fromFile(file->path, uri.scheme());
  if (other)
    return lsp::Location(*other, rangeOf(range));
  llvm::consumeError(other.takeError());
  return std::nullopt;
}

llvm::SMRange Document::importOf(const text::SourceFile &file) const {
  for (const text::Import &import : analysis->file().tree.imports) {
    llvm::SmallPtrSet<const text::SourceFile *, 8> seen;
    const text::SourceFile *next = importedFile(*analysis, analysis->file(), import);
    if (next != nullptr && reaches(*analysis, *next, file, seen))
      return import.pathRange;
  }
  return {};
}

llvm::SMRange Document::shownAt(const text::Diagnostic &diagnostic) const {
  if (isHere(diagnostic.range.Start))
    return diagnostic.range;
  for (const text::Diagnostic &note : diagnostic.notes)
    if (isHere(note.range.Start))
      return note.range;
  const text::SourceFile *file = analysis->fileOf(diagnostic.range.Start);
  return file != nullptr ? importOf(*file) : llvm::SMRange();
}

lsp::Diagnostic Document::convert(const text::Diagnostic &diagnostic) const {
  lsp::Diagnostic result;
  result.range = rangeOf(shownAt(diagnostic));
  result.severity = severityOf(diagnostic.severity);
  result.source = "skim";
  result.message = diagnostic.message;
  result.category = diagnostic.id.str();
  if (diagnostic.id == text::messageName(text::Message::Unused))
    result.tags.push_back(lsp::DiagnosticTag::Unnecessary);
  std::vector<lsp::DiagnosticRelatedInformation> related;
  if (!isHere(diagnostic.range.Start))
    if (std::optional<lsp::Location> location = locationOf(diagnostic.range))
      related.emplace_back(*location, diagnostic.message);
  for (const text::Diagnostic &note : diagnostic.notes) {
    if (std::optional<lsp::Location> location = locationOf(note.range))
      related.emplace_back(*location, note.message);
    // A note at the place of its diagnostic says how to repair it.
    if (!note.range.isValid() || note.range.Start == diagnostic.range.Start)
      result.message += "\n" + note.message;
  }
  if (!related.empty())
    result.relatedInformation = std::move(related);
  return result;
}

lsp::Diagnostic Document::convert(const AssumedValue &assumed) const {
  lsp::Diagnostic result;
  result.range = rangeOf(assumed.parameter->nameRange);
  result.severity = lsp::DiagnosticSeverity::Information;
  result.source = "skim";
  result.message = "constexpr parameter '" + assumed.parameter->name +
                   "' has no default; the pattern was checked with " +
                   std::to_string(static_cast<int64_t>(assumed.value));
  return result;
}

std::vector<lsp::Diagnostic> Document::diagnostics() const {
  std::vector<lsp::Diagnostic> result;
  for (const text::Diagnostic &diagnostic : analysis->diagnostics.all())
    result.push_back(convert(diagnostic));
  for (const AssumedValue &assumed : analysis->assumed)
    result.push_back(convert(assumed));
  return result;
}

std::optional<lsp::Hover> Document::hover(const lsp::Position &position) const {
  std::optional<Meaning> meaning = meaningAt(position);
  if (!meaning)
    return std::nullopt;
  lsp::Hover hover(rangeOf(meaning->range));
  hover.contents.value = describe(*analysis, *meaning);
  return hover;
}

std::vector<lsp::Location> Document::definition(const lsp::Position &position) const {
  std::optional<Meaning> meaning = meaningAt(position);
  if (!meaning)
    return {};
  llvm::SMRange declared = meaning->declaration();
  if (meaning->imported != nullptr) {
    auto start = llvm::SMLoc::getFromPointer(analysis->textOf(*meaning->imported).begin());
    declared = {start, start};
  }
  std::optional<lsp::Location> location = locationOf(declared);
  return location ? std::vector{*location} : std::vector<lsp::Location>();
}

std::vector<lsp::Location> Document::references(const lsp::Position &position) const {
  std::vector<lsp::Location> locations;
  if (std::optional<Meaning> meaning = meaningAt(position))
    for (llvm::SMRange use : usesOf(*analysis, *meaning))
      locations.emplace_back(uri, rangeOf(use));
  return locations;
}

std::vector<lsp::DocumentSymbol> Document::symbols() const {
  std::vector<lsp::DocumentSymbol> symbols;
  for (const auto &pattern : analysis->file().tree.patterns) {
    if (pattern->name.empty())
      continue;
    lsp::DocumentSymbol symbol(pattern->name, lsp::SymbolKind::Function, rangeOf(pattern->range),
                               rangeOf(pattern->nameRange));
    auto add = [&](const std::string &name, lsp::SymbolKind kind, llvm::SMRange range,
                   llvm::SMRange nameRange) {
      if (!name.empty())
        symbol.children.emplace_back(name, kind, rangeOf(range), rangeOf(nameRange));
    };
    for (const text::Parameter &parameter : pattern->parameters)
      add(parameter.name,
          parameter.isConstexpr ? lsp::SymbolKind::Constant : lsp::SymbolKind::Variable,
          parameter.range, parameter.nameRange);
    for (const text::Item &item : pattern->items)
      add(item.name,
          item.kind == text::Item::Kind::Input ? lsp::SymbolKind::Array : lsp::SymbolKind::Variable,
          item.range, item.nameRange);
    symbols.push_back(std::move(symbol));
  }
  return symbols;
}

std::vector<lsp::CodeAction> Document::repairs(const lsp::Range &range) const {
  std::vector<lsp::CodeAction> actions;
  for (const text::Diagnostic &diagnostic : analysis->diagnostics.all()) {
    lsp::Range shown = rangeOf(shownAt(diagnostic));
    if (shown.end < range.start || range.end < shown.start)
      continue;
    for (const text::FixIt &fixIt : diagnostic.fixIts) {
      if (!isHere(fixIt.range.Start))
        continue;
      lsp::CodeAction action;
      action.title = fixIt.text.empty()                     ? "remove this"
                     : fixIt.range.Start == fixIt.range.End ? "insert '" + fixIt.text + "'"
                                                            : "write '" + fixIt.text + "'";
      action.kind = lsp::CodeAction::kQuickFix.str();
      action.diagnostics = {convert(diagnostic)};
      action.isPreferred = diagnostic.fixIts.size() == 1;
      action.edit.emplace();
      action.edit->changes[uri.uri().str()] = {{rangeOf(fixIt.range), fixIt.text}};
      actions.push_back(std::move(action));
    }
  }
  return actions;
}

} // namespace skim::lsp
