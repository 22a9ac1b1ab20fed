// The checksum of bundles: XXH3, 64 bits.
#ifndef SKIM_RUNTIME_BUNDLE_CHECKSUM_H
#define SKIM_RUNTIME_BUNDLE_CHECKSUM_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace skim::bundle {

/// Finds damage; it is no protection against somebody who wants to deceive.
uint64_t checksum(std::span<const std::byte> bytes);

} // namespace skim::bundle

#endif // SKIM_RUNTIME_BUNDLE_CHECKSUM_H
