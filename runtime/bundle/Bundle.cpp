#include "runtime/bundle/Bundle.h"

#include "runtime/bundle/BundleFormat.h"
#include "runtime/bundle/Checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

static_assert(std::endian::native == std::endian::little, "bundles are read as they lie in memory");

namespace skim {

using bundle::EntryRecord;
using bundle::Header;
using bundle::SectionRecord;
using bundle::StringRecord;

namespace {

Status corrupt(std::string message) { return {StatusCode::Corrupt, std::move(message)}; }

Status checkHeader(const Header &header, uint64_t fileBytes) {
  if (header.magic != bundle::kMagic)
    return corrupt("expected a bundle but got a file that does not start like one");
  if (header.byteOrder == __builtin_bswap32(bundle::kByteOrder))
    return corrupt("expected little-endian numbers but got big-endian ones");
  if (header.byteOrder != bundle::kByteOrder)
    return corrupt("the header is damaged: the byte order is neither of the two");
  if (header.formatVersion != bundle::kFormatVersion)
    return corrupt("expected format version " + std::to_string(bundle::kFormatVersion) +
                   " but got " + std::to_string(header.formatVersion) +
                   (header.formatVersion > bundle::kFormatVersion ? ", which is newer" : ""));
  const auto bytes = std::as_bytes(std::span(&header, 1));
  if (bundle::checksum(bytes.first(offsetof(Header, headerChecksum))) != header.headerChecksum)
    return corrupt("the header is damaged: its checksum does not fit");
  if (header.fileBytes != fileBytes)
    return corrupt("expected " + std::to_string(header.fileBytes) + " bytes but got " +
                   std::to_string(fileBytes) +
                   (fileBytes < header.fileBytes ? ": the file is cut short" : ""));
  return Status::ok();
}

/// The tables as they were read.
struct Table {
  std::vector<EntryRecord> entries;
  std::vector<SectionRecord> sections;
  std::string strings;

  Status text(const StringRecord &record, const char *what, std::string &result) const {
    if (record.offset > strings.size() || record.bytes > strings.size() - record.offset)
      return corrupt(std::string("expected the ") + what + " of an entry within the text but got " +
                     std::to_string(record.bytes) + " bytes from byte " +
                     std::to_string(record.offset));
    result = strings.substr(record.offset, record.bytes);
    return Status::ok();
  }
};

} // namespace

const char *sectionKindName(SectionKind kind) {
  switch (kind) {
  case SectionKind::Metadata:
    return "metadata";
  case SectionKind::LaunchPlan:
    return "launch plan";
  case SectionKind::CpuImage:
    return "cpu image";
  case SectionKind::Ptx:
    return "ptx";
  case SectionKind::Cubin:
    return "cubin";
  }
  return "section of an unknown kind";
}

const Bundle::Section *Bundle::Entry::find(SectionKind kind) const {
  const auto found = std::ranges::find(sections, kind, &Section::kind);
  return found == sections.end() ? nullptr : &*found;
}

Status Bundle::failure(StatusCode code, const std::string &message, const Entry *entry) const {
  const std::string place =
      entry ? ": kernel of '" + entry->pattern + "' for " + entry->target : "";
  return {code, name_ + place + ": " + message};
}

Expected<Bundle> Bundle::open(const std::string &path) {
  Expected<std::unique_ptr<bundle::ByteSource>> source = bundle::openFile(path);
  if (!source)
    return Status(source.status().code(), path + ": " + source.status().message());
  return read(*std::move(source), path);
}

Expected<Bundle> Bundle::fromMemory(std::span<const std::byte> bytes, std::string name) {
  return read(bundle::fromMemory(bytes), std::move(name));
}

Expected<Bundle> Bundle::read(std::unique_ptr<bundle::ByteSource> source, std::string name) {
  Bundle bundle;
  bundle.source_ = std::move(source);
  bundle.name_ = std::move(name);
  if (Status status = bundle.readTable(); !status)
    return bundle.failure(status.code(), status.message());
  return bundle;
}

Status Bundle::readTable() {
  const uint64_t fileBytes = source_->size();
  Header header;
  if (fileBytes < sizeof(header))
    return corrupt("expected a header of " + std::to_string(sizeof(header)) + " bytes but got " +
                   std::to_string(fileBytes));
  if (Status status = source_->read(0, std::as_writable_bytes(std::span(&header, 1))); !status)
    return status;
  if (Status status = checkHeader(header, fileBytes); !status)
    return status;
  formatVersion_ = header.formatVersion;
  abiVersion_ = header.abiVersion;

  // 32-bit counts times small records: no overflow in 64 bits.
  const uint64_t entryBytes = uint64_t(header.entryCount) * sizeof(EntryRecord);
  const uint64_t sectionBytes = uint64_t(header.sectionCount) * sizeof(SectionRecord);
  const uint64_t tableBytes = entryBytes + sectionBytes + header.stringBytes;
  if (tableBytes > fileBytes - sizeof(header))
    return corrupt("expected tables within the file but got " + std::to_string(tableBytes) +
                   " bytes of them");
  std::vector<std::byte> bytes(tableBytes);
  if (Status status = source_->read(sizeof(header), bytes); !status)
    return status;
  if (bundle::checksum(bytes) != header.tableChecksum)
    return corrupt("the tables are damaged: their checksum does not fit");
  Table table;
  table.entries.resize(header.entryCount);
  table.sections.resize(header.sectionCount);
  table.strings.resize(header.stringBytes);
  auto take = [from = bytes.data()](void *into, size_t size) mutable {
    if (size > 0)
      std::memcpy(into, from, size);
    from += size;
  };
  take(table.entries.data(), entryBytes);
  take(table.sections.data(), sectionBytes);
  take(table.strings.data(), header.stringBytes);

  for (const SectionRecord &section : table.sections)
    if (section.offset % bundle::kSectionAlignment != 0 ||
        section.offset < sizeof(header) + tableBytes || section.offset > fileBytes ||
        section.bytes > fileBytes - section.offset)
      return corrupt("expected a section within the file but got " + std::to_string(section.bytes) +
                     " bytes from byte " + std::to_string(section.offset));
  for (const EntryRecord &record : table.entries) {
    if (record.firstSection > table.sections.size() ||
        record.sectionCount > table.sections.size() - record.firstSection)
      return corrupt("expected the sections of an entry among the " +
                     std::to_string(table.sections.size()) + " of the bundle but got " +
                     std::to_string(record.sectionCount) + " from number " +
                     std::to_string(record.firstSection));
    Entry entry;
    for (const auto &[text, what, into] :
         {std::tuple(record.pattern, "pattern", &entry.pattern),
          std::tuple(record.target, "target", &entry.target),
          std::tuple(record.triple, "triple", &entry.triple),
          std::tuple(record.features, "features", &entry.features)})
      if (Status status = table.text(text, what, *into); !status)
        return status;
    for (uint32_t i = 0; i < record.sectionCount; ++i) {
      const SectionRecord &section = table.sections[record.firstSection + i];
      const auto kind = static_cast<SectionKind>(section.kind);
      if (entry.find(kind))
        return corrupt("expected one " + std::string(sectionKindName(kind)) +
                       " an entry but got 2");
      entry.sections.push_back({kind, section.offset, section.bytes, section.checksum});
    }
    entries_.push_back(std::move(entry));
  }
  return Status::ok();
}

Status Bundle::read(const Entry &entry, const Section &section, std::span<std::byte> into) const {
  if (Status status = source_->read(section.offset, into); !status)
    return failure(status.code(), status.message(), &entry);
  if (bundle::checksum(into) != section.checksum)
    return failure(StatusCode::Corrupt,
                   std::string("the ") + sectionKindName(section.kind) +
                       " is damaged: its checksum does not fit",
                   &entry);
  return Status::ok();
}

Expected<std::string> Bundle::readText(const Entry &entry, SectionKind kind) const {
  const Section *section = entry.find(kind);
  if (!section)
    return failure(StatusCode::Corrupt,
                   std::string("expected a ") + sectionKindName(kind) + " but got none", &entry);
  std::string text(section->bytes, '\0');
  if (Status status = read(entry, *section, std::as_writable_bytes(std::span(text))); !status)
    return status;
  return text;
}

Expected<KernelMetadata> Bundle::metadata(const Entry &entry) const {
  Expected<std::string> text = readText(entry, SectionKind::Metadata);
  if (!text)
    return text.status();
  Expected<KernelMetadata> metadata = kernelMetadataFromJson(*text);
  if (!metadata)
    return failure(metadata.status().code(), metadata.status().message(), &entry);
  return metadata;
}

Expected<LaunchPlan> Bundle::launchPlan(const Entry &entry) const {
  Expected<std::string> text = readText(entry, SectionKind::LaunchPlan);
  if (!text)
    return text.status();
  Expected<LaunchPlan> plan = launchPlanFromJson(*text);
  if (!plan)
    return failure(plan.status().code(), plan.status().message(), &entry);
  if (plan->pattern != entry.pattern)
    return failure(StatusCode::Corrupt,
                   "expected a launch plan of the pattern but got one of '" + plan->pattern + "'",
                   &entry);
  return plan;
}

Expected<BundleEntry> readEntry(const Bundle &bundle, const Bundle::Entry &entry) {
  BundleEntry result = {entry.target, entry.triple, entry.features, {}, {}, {}};
  Expected<KernelMetadata> metadata = bundle.metadata(entry);
  if (!metadata)
    return metadata.status();
  Expected<LaunchPlan> plan = bundle.launchPlan(entry);
  if (!plan)
    return plan.status();
  result.metadata = *std::move(metadata);
  result.launchPlan = *std::move(plan);
  for (const Bundle::Section &section : entry.sections) {
    if (section.kind == SectionKind::Metadata || section.kind == SectionKind::LaunchPlan)
      continue;
    std::vector<std::byte> bytes(section.bytes);
    if (Status status = bundle.read(entry, section, bytes); !status)
      return status;
    result.code.push_back({section.kind, std::move(bytes)});
  }
  return result;
}

} // namespace skim
