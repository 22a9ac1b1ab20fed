// Every file below errors/ holds cases separated by lines of `// -----`. A case says which
// diagnostics it must give, all of them and exactly, by comments of the form
//   // expected-error@+LINES:COLUMN {{text}}
// where LINES counts from the comment (`@:` is its own line, `@-` counts upwards), and `error` may
// be `warning` or `note`. A diagnostic without a place is `expected-error@none {{text}}`.
#include "frontends/text/Loader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

namespace skim::text {
namespace {

/// `path:line:column: severity: text`; the path is dropped for the case's own file.
using Lines = std::multiset<std::string>;

std::string describe(const Diagnostics &diagnostics, const Diagnostic &diagnostic) {
  const char *severity = diagnostic.severity == Severity::Error     ? "error"
                         : diagnostic.severity == Severity::Warning ? "warning"
                                                                    : "note";
  Diagnostics::Place place = diagnostics.place(diagnostic.range.Start);
  std::string where = "none";
  if (place.line != 0)
    where = (place.path == "case.skim" ? "" : llvm::sys::path::filename(place.path)).str() +
            std::to_string(place.line) + ":" + std::to_string(place.column);
  return where + " " + severity + " {{" + diagnostic.message + "}}";
}

Lines found(const Diagnostics &diagnostics, std::set<std::string> &ids) {
  Lines lines;
  auto collect = [&](auto &self, const Diagnostic &diagnostic) -> void {
    lines.insert(describe(diagnostics, diagnostic));
    ids.insert(diagnostic.id.str());
    for (const Diagnostic &note : diagnostic.notes)
      self(self, note);
  };
  for (const Diagnostic &diagnostic : diagnostics.all())
    collect(collect, diagnostic);
  return lines;
}

Lines expected(llvm::StringRef text) {
  static const std::regex form(
      R"(expected-(error|warning|note)@(none|([+-][0-9]+)?:([0-9]+)) *\{\{(.*)\}\})");
  Lines lines;
  llvm::SmallVector<llvm::StringRef> source;
  text.split(source, '\n');
  for (size_t i = 0; i < source.size(); ++i) {
    std::string line = source[i].str();
    std::smatch match;
    if (!std::regex_search(line, match, form))
      continue;
    std::string where = "none";
    if (match[2] != "none") {
      long offset = match[3].matched ? std::stol(match[3].str()) : 0;
      where = std::to_string(static_cast<long>(i) + 1 + offset) + ":" + match[4].str();
    }
    lines.insert(where + " " + match[1].str() + " {{" + match[5].str() + "}}");
  }
  return lines;
}

/// `\xNN` in a case stands for that byte.
std::string unescape(llvm::StringRef text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text.substr(i).starts_with("\\x") && !text.substr(i + 2, 2).getAsInteger(16, byte)) {
      bytes.push_back(static_cast<char>(byte));
      i += 3;
    } else {
      bytes.push_back(text[i]);
    }
  }
  return bytes;
}

std::vector<std::string> caseFiles() {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(SKIM_ERROR_CASES, error), end; it != end && !error;
       it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".skim")
      files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

std::set<std::string> checkFile(llvm::StringRef path) {
  std::set<std::string> ids;
  auto memory = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(memory) << path.str();
  if (!memory)
    return ids;
  llvm::StringRef rest = (*memory)->getBuffer();
  unsigned firstLine = 1;
  while (!rest.empty()) {
    auto [text, after] = rest.split("// -----\n");
    Diagnostics diagnostics;
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(unescape(text), "case.skim");
    Program program = loadBuffer(std::move(buffer), diagnostics);
    EXPECT_THAT(found(diagnostics, ids), testing::ContainerEq(expected(text)))
        << path.str() << ":" << firstLine << ": in this case";
    firstLine += text.count('\n') + 1;
    rest = after;
  }
  return ids;
}

class ErrorsTest : public testing::TestWithParam<std::string> {};

TEST_P(ErrorsTest, GivesExactlyTheExpectedDiagnostics) { checkFile(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Files, ErrorsTest, testing::ValuesIn(caseFiles()), [](const auto &info) {
  std::string name = llvm::sys::path::stem(info.param).str();
  std::replace_if(name.begin(), name.end(), [](char c) { return !llvm::isAlnum(c); }, '_');
  return name;
});

} // namespace
} // namespace skim::text
