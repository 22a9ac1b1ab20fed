#include "tools/skim-lsp-server/Resolve.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace skim::lsp {

namespace {

bool isWordPart(char c) { return llvm::isAlnum(c) || c == '_'; }

/// The line up to `offset`, and whether a string is open at its end. Quotes after `//` count for
/// nothing.
struct LineStart {
  bool inComment = false, inString = false;
};

LineStart lineBefore(llvm::StringRef text, size_t offset) {
  LineStart state;
  llvm::StringRef before = text.take_front(offset);
  llvm::StringRef line = before.substr(before.rfind('\n') + 1);
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"')
      state.inString = !state.inString;
    else if (!state.inString && line.substr(i).starts_with("//"))
      return {true, false};
  }
  return state;
}

/// A name declared in `pattern`; without a pattern when there is none.
Meaning declaredIn(const text::Pattern &pattern, llvm::StringRef name) {
  for (const text::Parameter &parameter : pattern.parameters)
    if (parameter.name == name)
      return {{}, &pattern, &parameter};
  for (const text::Item &item : pattern.items)
    if (!item.name.empty() && item.name == name)
      return {{}, &pattern, nullptr, &item};
  return {};
}

bool isFollowedBy(llvm::StringRef text, size_t offset, char c) {
  llvm::StringRef rest = text.substr(offset).ltrim();
  return !rest.empty() && rest.front() == c;
}

/// The meaning of the name at [start, end), without its range.
Meaning lookUp(const Analysis &analysis, size_t start, size_t end) {
  llvm::StringRef text = analysis.text();
  llvm::StringRef name = text.slice(start, end);
  const text::Pattern *pattern = enclosingPattern(analysis, start);
  llvm::StringRef callee = calleeAround(text, start);
  if (name == "max" && text.take_front(start).rtrim().ends_with("under"))
    return {{}, {}, {}, {}, findWord("under")};
  if (!callee.empty() && isFollowedBy(text, end, ':')) {
    const text::Pattern *called = analysis.program.find(callee);
    return called != nullptr ? declaredIn(*called, name) : Meaning{{}, {}, {}, {}, findWord(name)};
  }
  bool isPatternName =
      pattern != nullptr && pattern->nameRange.Start.getPointer() == text.data() + start;
  if (isPatternName)
    return {{}, pattern};
  if (pattern != nullptr)
    if (Meaning found = declaredIn(*pattern, name); found.pattern != nullptr)
      return found;
  if (const text::Pattern *called = analysis.program.find(name))
    return {{}, called};
  return {{}, {}, {}, {}, findWord(name)};
}

bool isSame(const Meaning &a, const Meaning &b) {
  return a.pattern == b.pattern && a.parameter == b.parameter && a.item == b.item &&
         a.word == b.word && a.imported == b.imported;
}

} // namespace

llvm::SMRange Meaning::declaration() const {
  if (parameter != nullptr)
    return parameter->nameRange;
  if (item != nullptr)
    return item->nameRange;
  return pattern != nullptr ? pattern->nameRange : llvm::SMRange();
}

llvm::SMRange Meaning::declarationRange() const {
  if (parameter != nullptr)
    return parameter->range;
  if (item != nullptr)
    return item->range;
  return pattern != nullptr ? pattern->range : llvm::SMRange();
}

bool isInComment(llvm::StringRef text, size_t offset) { return lineBefore(text, offset).inComment; }

bool isInString(llvm::StringRef text, size_t offset) { return lineBefore(text, offset).inString; }

std::pair<size_t, size_t> wordAround(llvm::StringRef text, size_t offset) {
  size_t start = std::min(offset, text.size());
  size_t end = start;
  while (start > 0 && isWordPart(text[start - 1]))
    --start;
  while (end < text.size() && isWordPart(text[end]))
    ++end;
  return {start, end};
}

const text::Pattern *enclosingPattern(const Analysis &analysis, size_t offset) {
  const text::Pattern *found = nullptr;
  for (const auto &pattern : analysis.file().tree.patterns)
    if (pattern->range.Start.getPointer() <= analysis.text().data() + offset)
      found = pattern.get();
  return found;
}

llvm::StringRef calleeAround(llvm::StringRef text, size_t offset) {
  unsigned closed = 0;
  for (size_t i = std::min(offset, text.size()); i-- > 0;) {
    char c = text[i];
    if (c == ')' || c == ']')
      ++closed;
    // Calls do not reach beyond the body of a pattern.
    if (c == '{' || c == '}')
      return {};
    if ((c != '(' && c != '[') || closed-- > 0)
      continue;
    llvm::StringRef before = text.take_front(i).rtrim();
    auto [start, end] = wordAround(before, before.size());
    llvm::StringRef keyword = before.take_front(start).rtrim();
    if (c == '[' || start == end || keyword.ends_with("pattern"))
      return {};
    return before.slice(start, end);
  }
  return {};
}

const text::SourceFile *importedFile(const Analysis &analysis, const text::SourceFile &from,
                                     const text::Import &import) {
  llvm::SmallString<128> path(import.path);
  if (llvm::sys::path::is_relative(path)) {
    path = llvm::sys::path::parent_path(from.path);
    llvm::sys::path::append(path, import.path);
  }
  for (const auto &file : analysis.program.files)
    if (file->path == path)
      return file.get();
  return nullptr;
}

std::optional<Meaning> meaningAt(const Analysis &analysis, size_t offset) {
  llvm::StringRef text = analysis.text();
  const char *at = text.data() + offset;
  for (const text::Import &import : analysis.file().tree.imports)
    if (import.pathRange.Start.getPointer() <= at && at <= import.pathRange.End.getPointer()) {
      Meaning meaning{import.pathRange};
      meaning.imported = importedFile(analysis, analysis.file(), import);
      return meaning.imported ? std::optional(meaning) : std::nullopt;
    }
  auto [start, end] = wordAround(text, offset);
  if (start == end || isInComment(text, start) || isInString(text, start))
    return std::nullopt;
  Meaning meaning = lookUp(analysis, start, end);
  if (meaning.pattern == nullptr && meaning.word == nullptr)
    return std::nullopt;
  meaning.range = {llvm::SMLoc::getFromPointer(text.data() + start),
                   llvm::SMLoc::getFromPointer(text.data() + end)};
  return meaning;
}

std::vector<llvm::SMRange> usesOf(const Analysis &analysis, const Meaning &meaning) {
  std::vector<llvm::SMRange> uses;
  llvm::StringRef text = analysis.text();
  llvm::StringRef name(meaning.range.Start.getPointer(),
                       meaning.range.End.getPointer() - meaning.range.Start.getPointer());
  for (size_t at = text.find(name); at != llvm::StringRef::npos; at = text.find(name, at + 1)) {
    if (wordAround(text, at) != std::pair(at, at + name.size()))
      continue;
    std::optional<Meaning> other = meaningAt(analysis, at);
    if (other && isSame(*other, meaning))
      uses.push_back(other->range);
  }
  return uses;
}

} // namespace skim::lsp
