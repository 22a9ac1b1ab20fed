// A bundle: kernels for several patterns, configurations and targets in one file.
#ifndef SKIM_RUNTIME_BUNDLE_BUNDLE_H
#define SKIM_RUNTIME_BUNDLE_BUNDLE_H

#include "runtime/LaunchPlan.h"
#include "runtime/bundle/ByteSource.h"
#include "runtime/bundle/KernelMetadata.h"

#include <skim/Status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace skim {

/// What a section of an entry holds. Numbers are part of the format.
enum class SectionKind : uint32_t {
  Metadata = 1,   ///< `KernelMetadata` as JSON
  LaunchPlan = 2, ///< `LaunchPlan` as JSON
  CpuImage = 3,   ///< the bytes of a `CodeImage`
  Ptx = 4,        ///< text for a driver to assemble
  Cubin = 5,      ///< code of a GPU
};
/// "metadata", "launch plan", "cpu image", "ptx", "cubin".
const char *sectionKindName(SectionKind kind);

/// Opens, checks and reads bundles. Everything that is read is checked against its checksum first;
/// of a file only what is asked for is read.
class Bundle {
public:
  struct Section {
    SectionKind kind;
    uint64_t offset;
    uint64_t bytes;
    uint64_t checksum;
  };

  /// One kernel for one target; a target that has several forms of code has a section of each.
  struct Entry {
    std::string pattern;
    std::string target;   ///< as users write it, for example x86-64-v3
    std::string triple;   ///< of LLVM
    std::string features; ///< of the processor
    std::vector<Section> sections;

    /// Null where there is none.
    const Section *find(SectionKind kind) const;
  };

  /// Messages name `path`. `Corrupt` for damage, foreign byte orders and newer formats.
  static Expected<Bundle> open(const std::string &path);
  /// `bytes` are not copied and must outlive the bundle; messages call it `name`.
  static Expected<Bundle> fromMemory(std::span<const std::byte> bytes, std::string name = "bundle");

  const std::string &name() const { return name_; }
  uint64_t fileBytes() const { return source_->size(); }
  uint32_t formatVersion() const { return formatVersion_; }
  /// SKIM_ABI_VERSION that the kernels were made for.
  uint32_t abiVersion() const { return abiVersion_; }
  const std::vector<Entry> &entries() const { return entries_; }

  Expected<KernelMetadata> metadata(const Entry &entry) const;
  Expected<LaunchPlan> launchPlan(const Entry &entry) const;
  /// `into` has as many bytes as the section.
  Status read(const Entry &entry, const Section &section, std::span<std::byte> into) const;

  /// A failure that names the bundle and, where there is one, the entry.
  Status failure(StatusCode code, const std::string &message, const Entry *entry = nullptr) const;

private:
  Bundle() = default;
  static Expected<Bundle> read(std::unique_ptr<bundle::ByteSource> source, std::string name);
  Status readTable();
  Expected<std::string> readText(const Entry &entry, SectionKind kind) const;

  std::unique_ptr<bundle::ByteSource> source_;
  std::string name_;
  uint32_t formatVersion_ = 0;
  uint32_t abiVersion_ = 0;
  std::vector<Entry> entries_;
};

/// One entry to write.
struct BundleEntry {
  struct Code {
    SectionKind kind;
    std::vector<std::byte> bytes;
  };

  std::string target, triple, features;
  KernelMetadata metadata;
  LaunchPlan launchPlan; ///< names the pattern
  std::vector<Code> code;
};

/// All of an entry of a bundle.
Expected<BundleEntry> readEntry(const Bundle &bundle, const Bundle::Entry &entry);

/// The bytes of a bundle. The same entries give the same bytes.
std::string writeBundle(std::span<const BundleEntry> entries);

} // namespace skim

#endif // SKIM_RUNTIME_BUNDLE_BUNDLE_H
