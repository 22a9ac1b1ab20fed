// Parser, loader and the collecting of diagnostics, where a table of texts would not do.
#include "frontends/text/Loader.h"

#include "frontends/text/Parser.h"

#include "llvm/Support/raw_ostream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skim::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Program loadText(llvm::StringRef text, Diagnostics &diagnostics) {
  llvm::vfs::InMemoryFileSystem files;
  return loadBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "a.skim"), diagnostics, files);
}

std::string printed(const Diagnostics &diagnostics) {
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.print(os);
  return text;
}

const Expr &keepOf(const Program &program) {
  return *program.files.front()->tree.patterns.front()->items.back().value;
}

/// Fully parenthesised.
std::string structure(const Expr &expr) {
  if (const auto *name = llvm::dyn_cast<NameExpr>(&expr))
    return name->name;
  if (const auto *number = llvm::dyn_cast<NumberExpr>(&expr))
    return std::to_string(number->integer.value_or(-1));
  if (const auto *unary = llvm::dyn_cast<UnaryExpr>(&expr))
    return (unary->op == UnaryOp::Not ? "(not " : "(-") + structure(*unary->operand) + ")";
  if (const auto *where = llvm::dyn_cast<WhereExpr>(&expr))
    return "(" + structure(*where->value) + " where " + structure(*where->set) + ")";
  if (const auto *binary = llvm::dyn_cast<BinaryExpr>(&expr)) {
    static const char *const names[] = {
        "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "and", "or"};
    return "(" + structure(*binary->lhs) + " " + names[static_cast<int>(binary->op)] + " " +
           structure(*binary->rhs) + ")";
  }
  return "?";
}

std::string structureOf(llvm::StringRef keep) {
  Diagnostics diagnostics;
  Program program = loadText(("pattern a {\n  keep " + keep + "\n}\n").str(), diagnostics);
  EXPECT_EQ(printed(diagnostics), "");
  return structure(keepOf(program));
}

TEST(ParserTest, Precedence) {
  EXPECT_EQ(structureOf("a or b and not c < d + e * -f"),
            "(a or (b and (not (c < (d + (e * (-f)))))))");
  EXPECT_EQ(structureOf("a - b - c"), "((a - b) - c)");
  EXPECT_EQ(structureOf("a / b % c * d"), "(((a / b) % c) * d)");
  EXPECT_EQ(structureOf("a or b or c"), "((a or b) or c)");
  EXPECT_EQ(structureOf("a + b where c or d where e"), "(((a + b) where (c or d)) where e)");
  EXPECT_EQ(structureOf("(a or b) and (c)"), "((a or b) and c)");
  EXPECT_EQ(structureOf("not not a == b"), "(not (not (a == b)))");
}

TEST(ParserTest, ClausesGoOnOverLines) {
  EXPECT_EQ(structureOf("a\n    or b // and a comment\n    or\n c"), "((a or b) or c)");
}

TEST(ParserTest, RangesCoverWhatWasWritten) {
  Diagnostics diagnostics;
  llvm::StringRef text = "pattern a {\n  keep top_k(x, 3) or q - k < 64\n}\n";
  Program program = loadText(text, diagnostics);
  const auto &keep = llvm::cast<BinaryExpr>(keepOf(program));
  auto spelled = [](llvm::SMRange range) {
    return std::string(range.Start.getPointer(), range.End.getPointer());
  };
  EXPECT_EQ(spelled(keep.range), "top_k(x, 3) or q - k < 64");
  EXPECT_EQ(spelled(keep.lhs->range), "top_k(x, 3)");
  EXPECT_EQ(spelled(keep.rhs->range), "q - k < 64");
  EXPECT_EQ(*keep.opLoc.getPointer(), 'o');
}

TEST(ParserTest, DeepInputIsRefusedNotFollowed) {
  for (llvm::StringRef open : {"(", "-", "not ", "match x { 0: ", "f(", "a + (", "a where ("}) {
    std::string text = "pattern a { keep ";
    for (int i = 0; i < 100000 && text.size() < maxFileBytes - 100; ++i)
      text += open;
    Diagnostics diagnostics;
    loadText(text, diagnostics);
    EXPECT_THAT(printed(diagnostics), HasSubstr("nests deeper than 256 levels")) << open.str();
  }
}

TEST(ParserTest, LongChainsAreRefusedNotFollowed) {
  for (llvm::StringRef link : {" + a", " or a", " where a", " * a"}) {
    std::string text = "pattern a { keep a";
    while (text.size() < maxFileBytes - 100)
      text += link;
    Diagnostics diagnostics;
    loadText(text + " }", diagnostics);
    ASSERT_EQ(diagnostics.errorCount(), 1U) << link.str();
    EXPECT_EQ(diagnostics.all().front().id, "TooDeep");
  }
}

TEST(ParserTest, FilesHaveALimit) {
  Diagnostics diagnostics;
  loadText(std::string(maxFileBytes + 1, ' '), diagnostics);
  EXPECT_EQ(printed(diagnostics), "a.skim:1:1: error: file holds 1048577 bytes; expected at most "
                                  "1048576\n" +
                                      std::string(maxFileBytes + 1, ' ') + "\n^\n");
}

TEST(DiagnosticsTest, PrintsCaretRangeNoteAndRepair) {
  Diagnostics diagnostics;
  loadText("pattern a {\n  keep (k < 4 && q < 3\n}\n", diagnostics);
  EXPECT_EQ(printed(diagnostics), "a.skim:2:15: error: unknown operator '&&'; did you mean 'and'?\n"
                                  "  keep (k < 4 && q < 3\n"
                                  "              ^~\n"
                                  "              and\n"
                                  "a.skim:3:1: error: expected ')' but got '}'\n"
                                  "}\n"
                                  "^\n"
                                  "a.skim:2:8: note: '(' opened here\n"
                                  "  keep (k < 4 && q < 3\n"
                                  "       ^\n");
}

TEST(DiagnosticsTest, StopsAtTheLimit) {
  std::string text = "pattern a {\n";
  for (int i = 0; i < 1000; ++i)
    text += "keep + 4\n";
  Diagnostics diagnostics(/*limit=*/3);
  loadText(text + "}\n", diagnostics);
  EXPECT_TRUE(diagnostics.limitReached());
  EXPECT_EQ(diagnostics.all().size(), 3U);
}

TEST(DiagnosticsTest, SaysThatSomeAreNotShown) {
  Diagnostics diagnostics(/*limit=*/2);
  for (int i = 0; i < 3; ++i)
    diagnostics.report(Message::NoSuchEntry, {}, "pattern" + std::to_string(i));
  EXPECT_EQ(diagnostics.errorCount(), 3U);
  EXPECT_EQ(printed(diagnostics), "error: no pattern is named 'pattern0'\n"
                                  "error: no pattern is named 'pattern1'\n"
                                  "error: too many errors; only the first 2 are shown\n");
}

TEST(DiagnosticsTest, WarningsHaveALimitOfTheirOwn) {
  Diagnostics diagnostics(/*limit=*/1);
  for (llvm::StringRef name : {"a", "b"})
    diagnostics.report(Message::Unused, {}, "value", name);
  EXPECT_FALSE(diagnostics.hasErrors());
  EXPECT_EQ(printed(diagnostics), "warning: value 'a' is never used\n"
                                  "warning: too many warnings; only the first 1 are shown\n");
}

TEST(LoaderTest, ImportsAreRelativeToTheImporter) {
  llvm::vfs::InMemoryFileSystem files;
  auto add = [&](llvm::StringRef path, llvm::StringRef text) {
    files.addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  };
  add("/p/main.skim", "import \"lib/b.skim\"\npattern a { keep b() }");
  add("/p/lib/b.skim", "import \"../c.skim\"\npattern b { keep c() }");
  add("/p/c.skim", "pattern c { keep true }");
  Diagnostics diagnostics;
  Program program = loadFile("/p/main.skim", diagnostics, files);
  EXPECT_EQ(printed(diagnostics), "");
  EXPECT_THAT(program.names(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(findEntry(program, "", diagnostics)->name, "a");
  EXPECT_EQ(findEntry(program, "c", diagnostics)->name, "c");
}

TEST(LoaderTest, ImportsHaveALimit) {
  llvm::vfs::InMemoryFileSystem files;
  for (int i = 0; i < 100; ++i) {
    std::string path = "f" + std::to_string(i) + ".skim";
    std::string text = "import \"f" + std::to_string(i + 1) + ".skim\"\n";
    files.addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  }
  Diagnostics diagnostics;
  loadFile("f0.skim", diagnostics, files);
  EXPECT_EQ(printed(diagnostics), "f63.skim:1:8: error: imports nest deeper than 64 files\n"
                                  "import \"f64.skim\"\n"
                                  "       ^~~~~~~~~~\n");
}

TEST(LoaderTest, AMissingFileIsNamed) {
  llvm::vfs::InMemoryFileSystem files;
  Diagnostics diagnostics;
  Program program = loadFile("none.skim", diagnostics, files);
  EXPECT_TRUE(program.files.empty());
  EXPECT_EQ(printed(diagnostics), "error: cannot read 'none.skim': No such file or directory\n");
  EXPECT_EQ(findEntry(program, "", diagnostics), nullptr);
}

TEST(LoaderTest, OnlyRegularFilesAreRead) {
  llvm::vfs::InMemoryFileSystem files;
  files.addFile("folder.skim/b.skim", 0, llvm::MemoryBuffer::getMemBufferCopy(""));
  files.addFile("a.skim", 0,
                llvm::MemoryBuffer::getMemBufferCopy("import \"folder.skim\"\n", "a.skim"));
  Diagnostics diagnostics;
  loadFile("folder.skim", diagnostics, files);
  loadFile("a.skim", diagnostics, files);
  EXPECT_EQ(printed(diagnostics),
            "error: cannot read 'folder.skim': expected a regular file\n"
            "a.skim:1:8: error: cannot read 'folder.skim': expected a regular file\n"
            "import \"folder.skim\"\n"
            "       ^~~~~~~~~~~~~\n");
  Diagnostics device;
  loadFile("/dev/zero", device);
  EXPECT_EQ(printed(device), "error: cannot read '/dev/zero': expected a regular file\n");
}

TEST(LoaderTest, LargeFilesAreNotRead) {
  llvm::vfs::InMemoryFileSystem files;
  files.addFile("a.skim", 0,
                llvm::MemoryBuffer::getMemBufferCopy(std::string(maxFileBytes + 1, ' ')));
  Diagnostics diagnostics;
  loadFile("a.skim", diagnostics, files);
  EXPECT_EQ(printed(diagnostics), "error: cannot read 'a.skim': file holds 1048577 bytes; expected "
                                  "at most 1048576\n");
}

TEST(LoaderTest, AByteOrderMarkIsNamedOnce) {
  Diagnostics diagnostics;
  Program program = loadText("\xEF\xBB\xBFpattern a { keep true }\n", diagnostics);
  ASSERT_EQ(diagnostics.errorCount(), 1U);
  EXPECT_THAT(printed(diagnostics),
              HasSubstr("a.skim:1:1: error: file starts with a UTF-8 byte order mark; remove these "
                        "3 bytes"));
  EXPECT_EQ(findEntry(program, "", diagnostics), nullptr);
  EXPECT_EQ(diagnostics.errorCount(), 1U);
}

TEST(LoaderTest, EntriesAreFoundByName) {
  Diagnostics diagnostics;
  Program program = loadText("pattern one { keep true }\npattern two { keep true }\n", diagnostics);
  EXPECT_EQ(findEntry(program, "", diagnostics)->name, "two");
  EXPECT_EQ(findEntry(program, "one", diagnostics)->name, "one");
  EXPECT_EQ(findEntry(program, "too", diagnostics), nullptr);
  EXPECT_EQ(findEntry(program, "else", diagnostics), nullptr);
  EXPECT_EQ(printed(diagnostics), "error: no pattern is named 'too'; did you mean 'two'?\n"
                                  "error: no pattern is named 'else'\n");
}

} // namespace
} // namespace skim::text
