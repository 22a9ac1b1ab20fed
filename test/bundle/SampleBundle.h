// Bundles to test with, and what mutations and the fuzzer do with bytes.
#ifndef SKIM_TEST_BUNDLE_SAMPLEBUNDLE_H
#define SKIM_TEST_BUNDLE_SAMPLEBUNDLE_H

#include "runtime/bundle/Bundle.h"

#include <span>
#include <string>
#include <vector>

namespace skim::test {

/// An entry whose code only returns, made without a compiler, for the target.
BundleEntry sampleEntry(const std::string &pattern, const std::string &target);
/// Several patterns, configurations and targets, this machine's among them.
std::string sampleBundle();

/// A target that this machine runs.
std::string machineTarget();

inline std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text));
}

/// Makes the checksums fit again wherever the tables can be found, so that what lies behind them is
/// reached.
void seal(std::string &bytes);

/// How many entries of a bundle were read whole, and how many kernels were loaded.
struct Loaded {
  int read = 0, kernels = 0;
};
/// Opens a bundle, reads all of it, chooses and loads; runs nothing.
Loaded loadEverything(std::span<const std::byte> bytes);

} // namespace skim::test

#endif // SKIM_TEST_BUNDLE_SAMPLEBUNDLE_H
