// The libFuzzer target over bundles. Built by the preset `fuzz`; run it from the build folder:
//   bin/bundle_fuzzer -max_len=16384 CORPUS
// The first byte of an input decides whether checksums are made to fit. An empty corpus starts from
// a sample.
#include "test/bundle/SampleBundle.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  if (data[0] % 2 == 0)
    skim::test::seal(bytes);
  skim::test::loadEverything(skim::test::bytesOf(bytes));
  return 0;
}

/// Starts from a bundle, of which nothing is guessed, where the corpus is empty.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned) {
  static const std::string sample = '\0' + skim::test::sampleBundle();
  if (size < 2 && sample.size() <= most) {
    sample.copy(reinterpret_cast<char *>(data), sample.size());
    return sample.size();
  }
  return LLVMFuzzerMutate(data, size, most);
}
