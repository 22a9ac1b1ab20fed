#include "runtime/bundle/Bundle.h"
#include "runtime/bundle/BundleFormat.h"
#include "runtime/bundle/Checksum.h"

#include <skim/abi.h>

#include <cstring>

namespace skim {

using bundle::EntryRecord;
using bundle::Header;
using bundle::SectionRecord;
using bundle::StringRecord;

namespace {

/// The parts of a bundle while they are gathered.
class Writer {
public:
  void add(const BundleEntry &entry) {
    EntryRecord record = {};
    record.pattern = string(entry.launchPlan.pattern);
    record.target = string(entry.target);
    record.triple = string(entry.triple);
    record.features = string(entry.features);
    record.firstSection = static_cast<uint32_t>(sections_.size());
    const auto addText = [&](SectionKind kind, const std::string &text) {
      addSection(kind, std::as_bytes(std::span(text)));
    };
    addText(SectionKind::Metadata, toJson(entry.metadata));
    addText(SectionKind::LaunchPlan, toJson(entry.launchPlan));
    for (const BundleEntry::Code &code : entry.code)
      addSection(code.kind, code.bytes);
    record.sectionCount = static_cast<uint32_t>(sections_.size()) - record.firstSection;
    entries_.push_back(record);
  }

  std::string finish() {
    const size_t tableBytes = entries_.size() * sizeof(EntryRecord) +
                              sections_.size() * sizeof(SectionRecord) + strings_.size();
    const uint64_t start = aligned(sizeof(Header) + tableBytes);
    for (SectionRecord &section : sections_)
      section.offset += start;
    std::string table;
    append(table, entries_.data(), entries_.size() * sizeof(EntryRecord));
    append(table, sections_.data(), sections_.size() * sizeof(SectionRecord));
    table += strings_;

    Header header = {};
    header.magic = bundle::kMagic;
    header.byteOrder = bundle::kByteOrder;
    header.formatVersion = bundle::kFormatVersion;
    header.abiVersion = SKIM_ABI_VERSION;
    header.entryCount = static_cast<uint32_t>(entries_.size());
    header.sectionCount = static_cast<uint32_t>(sections_.size());
    header.stringBytes = static_cast<uint32_t>(strings_.size());
    header.fileBytes = start + contents_.size();
    header.tableChecksum = bundle::checksum(std::as_bytes(std::span(table)));
    const auto headerBytes = std::as_bytes(std::span(&header, 1));
    header.headerChecksum = bundle::checksum(headerBytes.first(offsetof(Header, headerChecksum)));

    std::string file;
    append(file, &header, sizeof(header));
    file += table;
    file.resize(start);
    file += contents_;
    return file;
  }

private:
  static uint64_t aligned(uint64_t offset) {
    return (offset + bundle::kSectionAlignment - 1) / bundle::kSectionAlignment *
           bundle::kSectionAlignment;
  }
  static void append(std::string &to, const void *bytes, size_t count) {
    to.append(static_cast<const char *>(bytes), count);
  }

  StringRecord string(const std::string &text) {
    const StringRecord record = {static_cast<uint32_t>(strings_.size()),
                                 static_cast<uint32_t>(text.size())};
    strings_ += text;
    return record;
  }

  /// Offsets count from the first section until the size of the tables is known.
  void addSection(SectionKind kind, std::span<const std::byte> bytes) {
    contents_.resize(aligned(contents_.size()));
    sections_.push_back(
        {static_cast<uint32_t>(kind), 0, contents_.size(), bytes.size(), bundle::checksum(bytes)});
    append(contents_, bytes.data(), bytes.size());
  }

  std::vector<EntryRecord> entries_;
  std::vector<SectionRecord> sections_;
  std::string strings_;
  std::string contents_;
};

} // namespace

std::string writeBundle(std::span<const BundleEntry> entries) {
  Writer writer;
  for (const BundleEntry &entry : entries)
    writer.add(entry);
  return writer.finish();
}

} // namespace skim
