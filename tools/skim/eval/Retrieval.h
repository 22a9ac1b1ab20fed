// Key/value pairs hidden in a text, questions for them, and whether the model answers.
#ifndef SKIM_TOOLS_SKIM_EVAL_RETRIEVAL_H
#define SKIM_TOOLS_SKIM_EVAL_RETRIEVAL_H

#include "tools/skim/eval/Model.h"
#include "tools/skim/eval/Text.h"

#include <cstdint>
#include <vector>

namespace skim::tool {

/// A prompt: an excerpt with pairs in its first half and a question for each in its second.
struct Prompt {
  std::vector<uint8_t> bytes;
  /// For each byte, whether the text had it; the others belong to pairs and questions.
  std::vector<bool> isText;
  /// For each question the place of the first digit of its answer.
  std::vector<int64_t> answers;
};

/// Bytes of a pair, and of a question: `\n<key abcdef is 123456>\n`.
constexpr int64_t pairBytes = 24;
constexpr int64_t answerDigits = 6;

/// `length` bytes with `pairs` pairs at random places; the questions come in another order than the
/// pairs. The text and the pairs depend on `random` alone. `length` is at least
/// `4 * pairs * pairBytes` and `text` has at least `length` bytes.
Prompt makePrompt(llvm::StringRef text, int64_t length, int64_t pairs, Random &random);

/// What the model made of prompts.
struct Score {
  double textBits = 0;
  int64_t textBytes = 0; ///< Bytes of the text that were predicted: all but a first one.
  int64_t questions = 0;
  int64_t answered = 0; ///< Questions of whose answer every digit was the likeliest byte.

  double bitsPerByte() const { return textBytes == 0 ? 0 : textBits / double(textBytes); }
  /// 1 where nothing was asked.
  double retrieval() const { return questions == 0 ? 1 : double(answered) / double(questions); }

  void add(const Prompt &prompt, const Predictions &predictions);
};

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_RETRIEVAL_H
