#include "tools/skim-lsp-server/Describe.h"

#include "tools/skim-lsp-server/Units.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace skim::lsp {

namespace {

/// Longer declarations are cut.
constexpr size_t maxShown = 400;

llvm::StringRef sourceOf(llvm::SMRange range) {
  if (!range.isValid())
    return {};
  return {range.Start.getPointer(),
          static_cast<size_t>(range.End.getPointer() - range.Start.getPointer())};
}

void writeCode(llvm::raw_ostream &os, llvm::StringRef code) {
  os << "```skim\n"
     << code.take_front(maxShown) << (code.size() > maxShown ? " ..." : "") << "\n```\n";
}

/// The lines of comments that stand right above a place.
std::string commentAbove(llvm::StringRef text, llvm::SMLoc location) {
  llvm::StringRef before = text.take_front(location.getPointer() - text.data());
  before = before.take_front(before.rfind('\n') + 1);
  llvm::SmallVector<llvm::StringRef> lines;
  while (!before.empty()) {
    before = before.drop_back();
    llvm::StringRef line = before.substr(before.rfind('\n') + 1).trim();
    if (!line.consume_front("//"))
      break;
    lines.push_back(line.trim());
    before = before.take_front(before.rfind('\n') + 1);
  }
  return llvm::join(llvm::reverse(lines), "\n");
}

/// `line 3`, or `streaming.skim, line 3` of another file.
std::string placeOf(const Analysis &analysis, llvm::SMLoc location) {
  text::Diagnostics::Place place = analysis.diagnostics.place(location);
  std::string line = "line " + std::to_string(place.line);
  if (analysis.fileOf(location) == &analysis.file())
    return line;
  return llvm::sys::path::filename(place.path).str() + ", " + line;
}

void writeType(llvm::raw_ostream &os, const Analysis &analysis, llvm::SMRange name) {
  auto type = analysis.types.find(name.Start.getPointer());
  if (type != analysis.types.end())
    os << ": " << type->second;
}

void writeParameter(llvm::raw_ostream &os, const Analysis &analysis, const Meaning &meaning) {
  const text::Parameter &parameter = *meaning.parameter;
  writeCode(os, sourceOf(parameter.range));
  os << "parameter of `" << meaning.pattern->name << "`: `" << sourceOf(parameter.type.range)
     << "`, " << (parameter.type.axes.empty() ? "one value" : "one value for each query head")
     << ", "
     << (parameter.isConstexpr ? "fixed when the pattern is compiled"
                               : "given at launch; another value compiles nothing")
     << "\n\n- default: ";
  if (parameter.defaultValue)
    os << '`' << sourceOf(parameter.defaultValue->range) << '`';
  else
    os << (parameter.isConstexpr ? "none, a compilation must give it"
                                 : "none, each launch must give it");
  llvm::StringRef unit = unitOf(analysis.program, *meaning.pattern, parameter.name);
  os << "\n- unit: " << (unit.empty() ? llvm::StringRef("none") : unit) << '\n';
}

/// The extents of the array that a caller gives.
void writeInput(llvm::raw_ostream &os, const text::Item &input) {
  using Element = text::TypeSyntax::Element;
  llvm::StringRef bytes;
  switch (input.type.element) {
  case Element::Bool:
    bytes = "uint8";
    break;
  case Element::Index:
  case Element::List:
    bytes = "int32";
    break;
  case Element::F32:
  case Element::Vec:
    bytes = "float32";
    break;
  }
  os << "\n- array: " << bytes << " [request";
  for (const text::ExprPtr &axis : input.type.axes)
    os << ", " << sourceOf(axis->range);
  os << (input.type.element == Element::Vec && input.type.axes.empty() ? ", out, in"
         : input.type.element == Element::Vec                          ? ", dimension"
                                                                       : "")
     << "]; the request extent may be left out for a batch of one"
     << (input.type.element == Element::List ? "; the last extent is the capacity, -1 is padding"
                                             : "")
     << '\n';
}

void writeItem(llvm::raw_ostream &os, const Analysis &analysis, const Meaning &meaning) {
  const text::Item &item = *meaning.item;
  writeCode(os, sourceOf(item.range));
  bool isInput = item.kind == text::Item::Kind::Input;
  os << (isInput ? "input of `" : "value of `") << meaning.pattern->name << '`';
  writeType(os, analysis, item.nameRange);
  os << '\n';
  if (isInput)
    writeInput(os, item);
}

void writeWord(llvm::raw_ostream &os, const Word &word) {
  llvm::SmallVector<llvm::StringRef> forms;
  word.usage.split(forms, " | ");
  writeCode(os, llvm::join(forms, "\n"));
  os << kindName(word.kind) << "\n\n" << word.meaning << '\n';
}

} // namespace

std::string signatureOf(const Analysis &analysis, const text::Pattern &pattern) {
  std::string signature = "pattern " + pattern.name;
  if (pattern.parameters.empty())
    return signature;
  auto sources = llvm::map_range(pattern.parameters, [](const text::Parameter &parameter) {
    return sourceOf(parameter.range);
  });
  return signature + "(" + llvm::join(sources, ", ") + ")";
}

std::string describe(const Analysis &analysis, const Meaning &meaning) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (meaning.word != nullptr) {
    writeWord(os, *meaning.word);
    return text;
  }
  if (meaning.imported != nullptr) {
    os << "imports `" << meaning.imported->path << "`, with\n\n";
    for (const auto &pattern : meaning.imported->tree.patterns)
      os << "- `" << signatureOf(analysis, *pattern) << "`\n";
    return text;
  }
  if (meaning.parameter != nullptr) {
    writeParameter(os, analysis, meaning);
  } else if (meaning.item != nullptr) {
    writeItem(os, analysis, meaning);
  } else {
    writeCode(os, signatureOf(analysis, *meaning.pattern));
    os << "pattern: the set of pairs that it keeps\n";
  }
  llvm::SMLoc declared = meaning.declaration().Start;
  const text::SourceFile *file = analysis.fileOf(declared);
  if (file == nullptr)
    return text;
  if (meaning.parameter == nullptr) {
    std::string comment = commentAbove(analysis.textOf(*file), meaning.declarationRange().Start);
    if (!comment.empty())
      os << '\n' << comment << '\n';
  }
  os << "\ndeclared in " << placeOf(analysis, declared) << '\n';
  return text;
}

} // namespace skim::lsp
