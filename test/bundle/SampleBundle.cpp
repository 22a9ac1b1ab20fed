#include "test/bundle/SampleBundle.h"

#include "runtime/bundle/BundleFormat.h"
#include "runtime/bundle/Checksum.h"
#include "runtime/bundle/LoadKernel.h"
#include "runtime/cpu/Machine.h"

#include <cstring>

namespace skim::test {

std::string machineTarget() {
  return machineTargets().empty() ? "" : std::string(machineTargets().front());
}

BundleEntry sampleEntry(const std::string &pattern, const std::string &target) {
  BundleEntry entry;
  entry.target = target;
  entry.triple = "some-triple";
  entry.features = "+some";
  entry.metadata.skimVersion = "0.0.0";
  entry.metadata.llvmVersion = "22";
  entry.metadata.constants = {{"block", 64}};
  entry.metadata.invariance = {std::nullopt, {"p.skim:1:1: because"}};
  entry.metadata.warnings = "p.skim:1:1: warning: none\n";
  entry.metadata.cpuImage = CodeImageLayout{{0, 16}, {{24, "skim_select_top_k"}, {32, "memset"}}};
  LaunchPlan &plan = entry.launchPlan;
  plan.pattern = pattern;
  plan.signature = {8, 2, 64, 64, DType::BF16, DType::F32, 0};
  plan.parameters = {{"window", ParameterType::Index, false, {512}, {}}};
  plan.inputs = {{"layout", InputElement::Bool, HeadAxis::QueryHead, 128, 128}};
  plan.kernels.resize(2);
  plan.kernels[0].symbol = "select";
  plan.kernels[1].symbol = "attention";
  std::vector<std::byte> code(48);
#if defined(__aarch64__)
  const uint32_t returns = 0xd65f03c0;
#else
  const uint32_t returns = 0xc3;
#endif
  for (const int64_t offset : entry.metadata.cpuImage->entryPoints)
    std::memcpy(code.data() + offset, &returns, sizeof(returns));
  entry.code = {{SectionKind::CpuImage, std::move(code)}};
  return entry;
}

std::string sampleBundle() {
  std::vector<BundleEntry> entries = {sampleEntry("streaming", machineTarget()),
                                      sampleEntry("streaming", "vax"),
                                      sampleEntry("peak", machineTarget())};
  entries.push_back(sampleEntry("streaming", machineTarget()));
  entries.back().launchPlan.signature.pageSize = std::nullopt;
  return writeBundle(entries);
}

void seal(std::string &bytes) {
  bundle::Header header;
  if (bytes.size() < sizeof(header))
    return;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const uint64_t entryBytes = uint64_t(header.entryCount) * sizeof(bundle::EntryRecord);
  const uint64_t sectionBytes = uint64_t(header.sectionCount) * sizeof(bundle::SectionRecord);
  const uint64_t tables = entryBytes + sectionBytes + header.stringBytes;
  if (tables <= bytes.size() - sizeof(header)) {
    for (uint32_t i = 0; i < header.sectionCount; ++i) {
      char *at = bytes.data() + sizeof(header) + entryBytes + i * sizeof(bundle::SectionRecord);
      bundle::SectionRecord section;
      std::memcpy(&section, at, sizeof(section));
      if (section.offset <= bytes.size() && section.bytes <= bytes.size() - section.offset)
        section.checksum = bundle::checksum(bytesOf(bytes).subspan(section.offset, section.bytes));
      std::memcpy(at, &section, sizeof(section));
    }
    header.tableChecksum = bundle::checksum(bytesOf(bytes).subspan(sizeof(header), tables));
  }
  header.fileBytes = bytes.size();
  header.headerChecksum = bundle::checksum(
      std::as_bytes(std::span(&header, 1)).first(offsetof(bundle::Header, headerChecksum)));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

Loaded loadEverything(std::span<const std::byte> bytes) {
  const Expected<Bundle> bundle = Bundle::fromMemory(bytes);
  if (!bundle)
    return {};
  Loaded loaded;
  for (const Bundle::Entry &entry : bundle->entries()) {
    (void)bundle->metadata(entry).hasValue();
    (void)bundle->launchPlan(entry).hasValue();
    loaded.read += readEntry(*bundle, entry).hasValue();
    // Code for devices is for their drivers to refuse.
    if (!entry.find(SectionKind::Cubin) && !entry.find(SectionKind::Ptx))
      loaded.kernels += loadKernel(*bundle, entry).hasValue();
  }
  (void)chooseEntry(*bundle, {}).hasValue();
  (void)chooseEntry(*bundle, {.pattern = "streaming", .pageSize = 0}).hasValue();
  return loaded;
}

} // namespace skim::test
