// How a bundle lies in a file, byte by byte; docs/bundles.md describes it. All numbers are unsigned
// and little-endian; everything that is not named is zero.
#ifndef SKIM_RUNTIME_BUNDLE_BUNDLEFORMAT_H
#define SKIM_RUNTIME_BUNDLE_BUNDLEFORMAT_H

#include <array>
#include <cstdint>

namespace skim::bundle {

/// The first byte is no text, and line ends that a copy as text would change follow the name.
constexpr std::array<unsigned char, 8> kMagic = {0x89, 'S', 'K', 'I', 'M', 'B', '\r', '\n'};
constexpr uint32_t kByteOrder = 0x01020304;
constexpr uint32_t kFormatVersion = 1;
constexpr uint32_t kSectionAlignment = 64;

/// At the start of the file. Magic, byte order and version lie here in every version.
struct Header {
  std::array<unsigned char, 8> magic;
  uint32_t byteOrder;
  uint32_t formatVersion;
  uint32_t abiVersion; ///< SKIM_ABI_VERSION of all kernels
  uint32_t entryCount;
  uint32_t sectionCount;
  uint32_t stringBytes;
  uint64_t fileBytes;
  uint64_t tableChecksum;  ///< of everything between the header and the first section
  uint64_t headerChecksum; ///< of the bytes before this field
};
static_assert(sizeof(Header) == 56);

/// A piece of the string area, which follows the tables.
struct StringRecord {
  uint32_t offset;
  uint32_t bytes;
};

/// One kernel for one target. `entryCount` of them follow the header.
struct EntryRecord {
  StringRecord pattern;
  StringRecord target;
  StringRecord triple;
  StringRecord features;
  uint32_t firstSection;
  uint32_t sectionCount;
};
static_assert(sizeof(EntryRecord) == 40);

/// `sectionCount` of them follow the entries.
struct SectionRecord {
  uint32_t kind; ///< a `SectionKind`
  uint32_t reserved;
  uint64_t offset; ///< in the file, a multiple of kSectionAlignment
  uint64_t bytes;
  uint64_t checksum;
};
static_assert(sizeof(SectionRecord) == 32);

} // namespace skim::bundle

#endif // SKIM_RUNTIME_BUNDLE_BUNDLEFORMAT_H
