#include "runtime/bundle/Checksum.h"

// The functions themselves, so that nothing is linked.
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t skim::bundle::checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}
