// What the fuzzer and its ordinary test run on each input.
#ifndef SKIM_TEST_TEXT_FUZZINPUT_H
#define SKIM_TEST_TEXT_FUZZINPUT_H

#include "llvm/ADT/StringRef.h"

namespace skim::text {

/// Reads `text` as a pattern file, builds its last pattern, and prints all diagnostics to nowhere.
/// True when the pattern was built.
bool buildFuzzInput(llvm::StringRef text);

} // namespace skim::text

#endif // SKIM_TEST_TEXT_FUZZINPUT_H
