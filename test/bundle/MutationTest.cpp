// Bundles that are damaged in every place and in many ways: each is refused or loads, none crashes.
#include "test/bundle/SampleBundle.h"

#include "runtime/bundle/BundleFormat.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace skim::test {
namespace {

/// Of the sample's entries, one is for another machine.
constexpr int kEntries = 4, kKernels = 3;

TEST(BundleMutationTest, TheSampleLoads) {
  const Loaded loaded = loadEverything(bytesOf(sampleBundle()));
  EXPECT_EQ(loaded.read, kEntries);
  EXPECT_EQ(loaded.kernels, kKernels);
}

TEST(BundleMutationTest, EveryCutIsRefused) {
  const std::string whole = sampleBundle();
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(Bundle::fromMemory(bytesOf(whole).first(bytes))) << bytes;
}

/// A changed bit is found by a checksum, except in the room between sections.
TEST(BundleMutationTest, EveryChangedBitIsFound) {
  const std::string whole = sampleBundle();
  const Expected<Bundle> bundle = Bundle::fromMemory(bytesOf(whole));
  ASSERT_TRUE(bundle);
  std::vector<bool> isRead(whole.size());
  size_t tables = whole.size();
  for (const Bundle::Entry &entry : bundle->entries())
    for (const Bundle::Section &section : entry.sections) {
      std::fill_n(isRead.begin() + ptrdiff_t(section.offset), section.bytes, true);
      tables = std::min<size_t>(tables, section.offset);
    }
  bundle::Header header;
  std::memcpy(&header, whole.data(), sizeof(header));
  std::fill_n(isRead.begin(),
              sizeof(header) + header.entryCount * sizeof(bundle::EntryRecord) +
                  header.sectionCount * sizeof(bundle::SectionRecord) + header.stringBytes,
              true);
  std::string damaged = whole;
  for (size_t byte = 0; byte < whole.size(); ++byte) {
    damaged[byte] = static_cast<char>(whole[byte] ^ (1 << byte % 8));
    EXPECT_EQ(loadEverything(bytesOf(damaged)).read == kEntries, !isRead[byte]) << byte;
    damaged[byte] = whole[byte];
  }
}

/// With fitting checksums damage reaches tables, JSON and the layout of code.
TEST(BundleMutationTest, SealedDamageDoesNotCrash) {
  const std::string whole = sampleBundle();
  std::mt19937_64 random(4);
  const uint64_t edges[] = {0,
                            1,
                            7,
                            8,
                            63,
                            64,
                            whole.size() - 1,
                            whole.size(),
                            0x7fffffff,
                            0xffffffff,
                            uint64_t(1) << 32,
                            uint64_t(1) << 62,
                            ~uint64_t(0)};
  constexpr int kMutations = 20000;
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    std::string damaged = whole;
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % damaged.size();
      switch (random() % 5) {
      case 0:
        damaged[at] = static_cast<char>(random());
        break;
      case 1: { // a number, where numbers lie
        const uint64_t value = edges[random() % std::size(edges)];
        const size_t bytes = random() % 2 ? 4 : 8;
        const size_t place = random() % 1400 / 4 * 4;
        std::memcpy(damaged.data() + std::min(place, damaged.size() - bytes), &value, bytes);
        break;
      }
      case 2: // digits of JSON
        damaged[at] = "0123456789-[]{}\",:e."[random() % 20];
        break;
      case 3:
        damaged.erase(at, random() % 64);
        break;
      case 4:
        damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 64));
        break;
      }
      if (damaged.empty())
        damaged = whole;
    }
    seal(damaged);
    refused += loadEverything(bytesOf(damaged)).kernels < kKernels;
  }
  // Most damage is noticed for what it is, too.
  EXPECT_GT(refused, kMutations / 4);
}

} // namespace
} // namespace skim::test
