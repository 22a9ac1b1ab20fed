#include "tools/skim/eval/Retrieval.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace skim::tool {
namespace {

struct Pair {
  std::string key, value;
};

std::string symbols(char first, int64_t kinds, int64_t count, Random &random) {
  std::string result;
  for (int64_t i = 0; i < count; ++i)
    result += static_cast<char>(first + random.below(kinds));
  return result;
}

std::vector<Pair> makePairs(int64_t count, Random &random) {
  std::vector<Pair> pairs;
  std::set<std::string> keys;
  while (static_cast<int64_t>(pairs.size()) < count) {
    Pair pair{symbols('a', 26, 6, random), symbols('0', 10, answerDigits, random)};
    if (keys.insert(pair.key).second)
      pairs.push_back(std::move(pair));
  }
  return pairs;
}

std::vector<int64_t> shuffled(int64_t count, Random &random) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) {
    order.push_back(i);
    std::swap(order[i], order[random.below(i + 1)]);
  }
  return order;
}

std::vector<int64_t> sortedPlaces(int64_t count, int64_t first, int64_t end, Random &random) {
  std::vector<int64_t> places;
  places.reserve(count);
  for (int64_t i = 0; i < count; ++i)
    places.push_back(first + random.below(end - first));
  llvm::sort(places);
  return places;
}

} // namespace

Prompt makePrompt(llvm::StringRef text, int64_t length, int64_t pairs, Random &random) {
  int64_t textLength = length - 2 * pairs * pairBytes;
  llvm::StringRef rest = excerptOf(text, textLength, random);
  std::vector<Pair> hidden = makePairs(pairs, random);
  std::vector<int64_t> pairPlaces = sortedPlaces(pairs, 0, textLength / 2, random);
  std::vector<int64_t> questionPlaces = sortedPlaces(pairs, textLength / 2, textLength, random);
  std::vector<int64_t> order = shuffled(pairs, random);

  Prompt prompt;
  auto append = [&](llvm::StringRef bytes, bool isText) {
    prompt.bytes.insert(prompt.bytes.end(), bytes.begin(), bytes.end());
    prompt.isText.insert(prompt.isText.end(), bytes.size(), isText);
  };
  int64_t done = 0;
  auto insertAt = [&](int64_t place, llvm::StringRef word, const Pair &pair) {
    append(rest.take_front(place - done), true);
    rest = rest.drop_front(place - done);
    done = place;
    append(("\n<" + word + " " + pair.key + " is " + pair.value + ">\n").str(), false);
  };
  for (int64_t i = 0; i < pairs; ++i)
    insertAt(pairPlaces[i], "key", hidden[i]);
  for (int64_t i = 0; i < pairs; ++i) {
    insertAt(questionPlaces[i], "get", hidden[order[i]]);
    prompt.answers.push_back(static_cast<int64_t>(prompt.bytes.size()) - answerDigits - 2);
  }
  append(rest, true);
  return prompt;
}

void Score::add(const Prompt &prompt, const Predictions &predictions) {
  for (size_t i = 0; i < predictions.bits.size(); ++i)
    if (prompt.isText[i + 1]) {
      textBits += double(predictions.bits[i]);
      ++textBytes;
    }
  for (int64_t answer : prompt.answers) {
    ++questions;
    answered +=
        std::equal(prompt.bytes.begin() + answer, prompt.bytes.begin() + answer + answerDigits,
                   predictions.likeliest.begin() + answer - 1);
  }
}

} // namespace skim::tool
