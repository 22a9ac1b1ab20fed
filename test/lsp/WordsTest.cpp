// Every word of the language has its paragraph in the server, and nothing else has.
#include "tools/skim-lsp-server/Words.h"

#include "frontends/text/Lexer.h"
#include "frontends/text/Names.h"
#include "frontends/text/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skim::lsp {
namespace {

std::set<std::string> namesOf(Word::Kind kind) {
  std::set<std::string> names;
  for (const Word &word : words())
    if (word.kind == kind)
      names.insert(word.name.str());
  return names;
}

std::set<std::string> asSet(llvm::ArrayRef<llvm::StringLiteral> names) {
  return {names.begin(), names.end()};
}

TEST(Words, KeywordsAreThoseOfTheLexer) {
  EXPECT_EQ(namesOf(Word::Kind::Keyword), asSet(text::keywords()));
}

TEST(Words, TypesAreThoseOfTheParser) {
  EXPECT_EQ(namesOf(Word::Kind::Type), asSet(text::typeNames()));
}

TEST(Words, AxesAreThoseOfTheChecker) {
  EXPECT_EQ(namesOf(Word::Kind::Axis), asSet(text::headAxes()));
}

TEST(Words, ValuesAreThoseOfTheCheckerAndTheScore) {
  std::set<std::string> expected = asSet(text::builtinValues());
  expected.insert("s");
  EXPECT_EQ(namesOf(Word::Kind::Value), expected);
}

TEST(Words, FunctionsAreThoseOfTheChecker) {
  std::set<std::string> expected;
  for (const text::BuiltinFunction &function : text::functions())
    expected.insert(function.name.str());
  EXPECT_EQ(namesOf(Word::Kind::Function), expected);
}

TEST(Words, EveryLabelOfAFunctionIsKnownAndInItsUsage) {
  for (const text::BuiltinFunction &function : text::functions()) {
    llvm::SmallVector<llvm::StringRef> labels;
    function.labels.split(labels, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (llvm::StringRef label : labels) {
      EXPECT_NE(findWord(label), nullptr) << label.str();
      EXPECT_TRUE(findWord(function.name)->usage.contains((label + ":").str()) ||
                  label == "visible")
          << function.name.str() << " " << label.str();
    }
  }
}

TEST(Words, EachStandsOnceAndIsExplained) {
  std::set<std::string> seen;
  for (const Word &word : words()) {
    EXPECT_TRUE(seen.insert(word.name.str()).second) << word.name.str();
    EXPECT_TRUE(word.usage.contains(word.name)) << word.name.str();
    EXPECT_TRUE(word.meaning.ends_with(".") && word.meaning.size() > 20) << word.name.str();
  }
}

} // namespace
} // namespace skim::lsp
