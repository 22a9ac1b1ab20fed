// The text that the model reads: a file, cut into excerpts at random places.
#ifndef SKIM_TOOLS_SKIM_EVAL_TEXT_H
#define SKIM_TOOLS_SKIM_EVAL_TEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <random>
#include <string>

namespace skim::tool {

/// Random numbers that are the same on every machine: the standard fixes this engine, and
/// `below` uses none of the library's distributions, which it does not fix.
class Random {
public:
  /// Independent of those of other numbers and seeds.
  Random(uint64_t seed, uint64_t number);

  /// A whole number from 0 to `end` - 1; `end` is at least 1.
  int64_t below(int64_t end) { return static_cast<int64_t>(engine() % uint64_t(end)); }

private:
  std::mt19937_64 engine;
};

/// Fails with WrongInput where the file cannot be read.
llvm::Expected<std::string> readText(llvm::StringRef path);

/// `bytes` bytes from a random place; `text` has at least so many.
llvm::StringRef excerptOf(llvm::StringRef text, int64_t bytes, Random &random);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_TEXT_H
