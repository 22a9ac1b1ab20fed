// Every file below errors/ holds cases separated by lines of `// -----`. A case says which
// diagnostics it must give, all of them and exactly, by comments of the form
//   // expected-error@+LINES:COLUMN {{text}}
// where LINES counts from the comment (`@:` is its own line, `@-` counts upwards), and `error` may
// be `warning` or `note`. A diagnostic without a place is `expected-error@none {{text}}`. Lines
// after
// `// --- file NAME` are a file that the case may import. `\xNN` stands for that byte, and
// `\r{N}{text}` for N times the text. `// compile: pattern NAME` and `// compile: NAME=VALUE` say
// what to build.
#include "frontends/text/Check.h"

#include "mlir/IR/MLIRContext.h"

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

/// `path:line:column severity {{text}}`, or `none severity {{text}}`.
using Lines = std::multiset<std::string>;

std::string describe(const Diagnostics &diagnostics, const Diagnostic &diagnostic) {
  Diagnostics::Place place = diagnostics.place(diagnostic.range.Start);
  std::string where = "none";
  if (place.line != 0)
    where =
        (place.path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column)).str();
  return where + " " + severityName(diagnostic.severity).str() + " {{" + diagnostic.message + "}}";
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

void expected(llvm::StringRef path, llvm::StringRef text, Lines &lines) {
  static const std::regex form(
      R"(expected-(error|warning|note)@(none|([+-][0-9]+)?:([0-9]+)) *\{\{(.*)\}\})");
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
      where = (path + ":" + std::to_string(static_cast<long>(i) + 1 + offset) + ":").str() +
              match[4].str();
    }
    lines.insert(where + " " + match[1].str() + " {{" + match[5].str() + "}}");
  }
}

/// Replaces `\xNN` and `\r{N}{text}`.
std::string unescape(llvm::StringRef text) {
  std::string bytes;
  while (!text.empty()) {
    unsigned byte = 0;
    if (text.starts_with("\\x") && !text.substr(2, 2).getAsInteger(16, byte)) {
      bytes.push_back(static_cast<char>(byte));
      text = text.drop_front(4);
    } else if (text.consume_front("\\r{")) {
      auto [count, rest] = text.split("}{");
      auto [piece, after] = rest.split('}');
      for (unsigned i = 0, n = std::stoul(count.str()); i < n; ++i)
        bytes += piece;
      text = after;
    } else {
      bytes.push_back(text.front());
      text = text.drop_front();
    }
  }
  return bytes;
}

/// What the `// compile:` lines of a case ask for.
BuildOptions options(llvm::StringRef text) {
  BuildOptions options;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (!line.consume_front("// compile: "))
      continue;
    if (line.consume_front("pattern "))
      options.pattern = line.str();
    else
      options.constants[line.split('=').first.str()] = std::stod(line.split('=').second.str());
  }
  return options;
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

/// Calls `file` with the name and the text of each file of a case.
void forEachFile(llvm::StringRef text,
                 llvm::function_ref<void(llvm::StringRef, llvm::StringRef)> file) {
  llvm::StringRef name = "case.skim";
  while (true) {
    auto [own, others] = text.split("// --- file ");
    file(name, own);
    if (others.empty())
      return;
    std::tie(name, text) = others.split('\n');
  }
}

Lines allExpected(llvm::StringRef text) {
  Lines lines;
  forEachFile(text, [&](llvm::StringRef name, llvm::StringRef own) { expected(name, own, lines); });
  return lines;
}

Lines run(llvm::StringRef text, Diagnostics &diagnostics, std::set<std::string> &ids) {
  llvm::vfs::InMemoryFileSystem files;
  forEachFile(text, [&](llvm::StringRef name, llvm::StringRef own) {
    files.addFile(name, 0, llvm::MemoryBuffer::getMemBufferCopy(unescape(own), name));
  });
  Program program = loadFile("case.skim", diagnostics, files);
  mlir::MLIRContext context;
  buildModule(program, options(text), context, diagnostics);
  return found(diagnostics, ids);
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
    EXPECT_THAT(run(text, diagnostics, ids), testing::ContainerEq(allExpected(text)))
        << path.str() << ":" << firstLine << ": in this case";
    firstLine += text.count('\n') + 1;
    rest = after;
  }
  return ids;
}

class ErrorsTest : public testing::TestWithParam<std::string> {};

TEST_P(ErrorsTest, GivesExactlyTheExpectedDiagnostics) { checkFile(GetParam()); }

TEST(MessagesTest, EachHasACase) {
  // What takes more files or bytes than a case should hold is tested in LoaderTest.cpp.
  std::set<std::string> ids = {"ImportsTooDeep", "FileTooLarge", "CannotReadTooLarge",
                               "NotRegularFile", "ByteOrderMark"};
  for (const std::string &file : caseFiles())
    ids.merge(checkFile(file));
  for (unsigned i = 0; i < messageCount(); ++i)
    EXPECT_TRUE(ids.contains(messageName(static_cast<Message>(i)).str()))
        << messageName(static_cast<Message>(i)).str() << " has no case";
}

INSTANTIATE_TEST_SUITE_P(Files, ErrorsTest, testing::ValuesIn(caseFiles()), [](const auto &info) {
  std::string name = llvm::sys::path::stem(info.param).str();
  std::replace_if(name.begin(), name.end(), [](char c) { return !llvm::isAlnum(c); }, '_');
  return name;
});

} // namespace
} // namespace skim::text
