// The libFuzzer target over parser and checker. Built by the preset `fuzz`; run it from the build
// folder with the examples as seeds:
//   bin/text_fuzzer -dict=../test/text/fuzz.dict -max_len=4096 CORPUS ../examples/patterns
#include "test/text/FuzzInput.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  skim::text::buildFuzzInput(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}
