// Prompts: an excerpt with pairs and questions at random places, the same for the same seed; and
// how predictions are scored.
#include "tools/skim/eval/Retrieval.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace skim::tool {
namespace {

/// A text without the signs of pairs, in which every excerpt stands once.
std::string someText(int64_t length) {
  std::string text;
  for (int64_t line = 0; static_cast<int64_t>(text.size()) < length; ++line)
    text += "line " + std::to_string(line) + "\n";
  return text;
}

Prompt promptOf(uint64_t seed, uint64_t number, int64_t length = 2000, int64_t pairs = 10) {
  static const std::string text = someText(20000);
  Random random(seed, number);
  return makePrompt(text, length, pairs, random);
}

std::string textOf(const Prompt &prompt) { return {prompt.bytes.begin(), prompt.bytes.end()}; }

TEST(Prompt, IsTheSameForTheSameSeedOnEveryMachine) {
  EXPECT_EQ(textOf(promptOf(3, 1)), textOf(promptOf(3, 1)));
  EXPECT_NE(textOf(promptOf(3, 1)), textOf(promptOf(3, 2)));
  EXPECT_NE(textOf(promptOf(3, 1)), textOf(promptOf(4, 1)));
  EXPECT_NE(textOf(promptOf(3, 1)), textOf(promptOf(1, 3)));
  // What the documents say was measured rests on these.
  Random random(0, 0);
  EXPECT_EQ(random.below(1000000), 59804);
  EXPECT_EQ(random.below(1000000), 757060);
}

TEST(Prompt, HoldsEachPairOnceAndAsksForItLater) {
  const std::string source = someText(20000);
  for (uint64_t number = 0; number < 20; ++number) {
    Prompt prompt = promptOf(7, number);
    std::string text = textOf(prompt);
    ASSERT_EQ(prompt.bytes.size(), 2000u);
    ASSERT_EQ(prompt.isText.size(), 2000u);
    ASSERT_EQ(prompt.answers.size(), 10u);

    std::set<std::string> keys;
    int64_t hidden = 0;
    for (int64_t answer : prompt.answers) {
      std::string question = text.substr(answer - 16, pairBytes);
      std::smatch parts;
      ASSERT_TRUE(
          std::regex_match(question, parts, std::regex("\n<get ([a-z]{6}) is ([0-9]{6})>\n")))
          << question;
      keys.insert(parts[1]);
      std::string pair = "\n<key " + parts[1].str() + " is " + parts[2].str() + ">\n";
      size_t place = text.find(pair);
      ASSERT_NE(place, std::string::npos);
      EXPECT_EQ(text.find(pair, place + 1), std::string::npos);
      // A pair lies in the first half of the text, its question in the second.
      auto textBefore = [&](int64_t end) {
        return std::count(prompt.isText.begin(), prompt.isText.begin() + end, true);
      };
      EXPECT_LE(textBefore(static_cast<int64_t>(place)), 760);
      EXPECT_GE(textBefore(answer), 760);
      ++hidden;
    }
    EXPECT_EQ(keys.size(), 10u);
    EXPECT_EQ(hidden, 10);

    std::string excerpt;
    for (size_t i = 0; i < prompt.bytes.size(); ++i)
      if (prompt.isText[i])
        excerpt += static_cast<char>(prompt.bytes[i]);
    EXPECT_EQ(excerpt.size(), 2000u - 2 * 10 * pairBytes);
    EXPECT_NE(source.find(excerpt), std::string::npos) << "an excerpt is one piece of the text";
  }
}

TEST(Prompt, MayBeAllTheTextOrHaveNoPairs) {
  std::string text = someText(500);
  Random random(1, 1);
  Prompt whole = makePrompt(text, static_cast<int64_t>(text.size()), 0, random);
  EXPECT_EQ(textOf(whole), text);
  EXPECT_TRUE(whole.answers.empty());
  Prompt shortest = makePrompt(text, 4 * 3 * pairBytes, 3, random);
  EXPECT_EQ(shortest.bytes.size(), size_t(4 * 3 * pairBytes));
}

TEST(Score, CountsTextBytesAndWholeAnswers) {
  Prompt prompt = promptOf(2, 2, 400, 3);
  Predictions predictions;
  predictions.likeliest.assign(prompt.bytes.begin() + 1, prompt.bytes.end());
  predictions.likeliest.push_back(0);
  predictions.bits.assign(prompt.bytes.size() - 1, 0);
  for (size_t i = 1; i < prompt.bytes.size(); ++i)
    predictions.bits[i - 1] = prompt.isText[i] ? 2 : 1000;

  Score score;
  score.add(prompt, predictions);
  EXPECT_EQ(score.bitsPerByte(), 2);
  EXPECT_EQ(score.textBytes, 400 - 6 * pairBytes - (prompt.isText[0] ? 1 : 0));
  EXPECT_EQ(score.questions, 3);
  EXPECT_EQ(score.answered, 3);

  // One wrong digit is a wrong answer; what is predicted after the answer does not count.
  predictions.likeliest[prompt.answers[1] + 2] = 'x';
  predictions.likeliest[prompt.answers[2] + 5] = 'x';
  score.add(prompt, predictions);
  EXPECT_EQ(score.questions, 6);
  EXPECT_EQ(score.answered, 5);
  predictions.likeliest[prompt.answers[0] - 1] = 'x';
  predictions.likeliest[prompt.answers[2] + 4] = 'x';
  score.add(prompt, predictions);
  EXPECT_EQ(score.questions, 9);
  EXPECT_EQ(score.answered, 5);
  EXPECT_DOUBLE_EQ(score.retrieval(), 5.0 / 9);
  EXPECT_EQ(score.bitsPerByte(), 2);
}

} // namespace
} // namespace skim::tool
