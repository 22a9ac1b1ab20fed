// What a bundle says of a kernel beside its launch plan.
#ifndef SKIM_RUNTIME_BUNDLE_KERNELMETADATA_H
#define SKIM_RUNTIME_BUNDLE_KERNELMETADATA_H

#include "runtime/cpu/CodeImage.h"

#include <skim/Status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skim {

/// The value of a `constexpr` parameter that a kernel was compiled for; a bool is 0 or 1.
struct ConstantValue {
  std::string name;
  double value = 0;

  bool operator==(const ConstantValue &) const = default;
};

/// On what results depend besides the request itself. That they never depend on the rest of the
/// batch holds for every kernel.
struct Invariance {
  /// Where chunks of a prompt end on multiples of so many positions, results do not depend on how
  /// it was cut; unset where they do.
  std::optional<int64_t> chunkMultiple;
  /// What makes them depend on it, each with its place in the text.
  std::vector<std::string> brokenBy;

  bool operator==(const Invariance &) const = default;
};

struct KernelMetadata {
  std::string skimVersion;
  std::string llvmVersion;
  std::vector<ConstantValue> constants; ///< by name, in ascending order
  Invariance invariance;
  /// What the compiler warned of, as it prints it.
  std::string warnings;
  /// Of an entry with a CPU image.
  std::optional<CodeImageLayout> cpuImage;

  bool operator==(const KernelMetadata &) const = default;
};

/// One JSON object.
std::string toJson(const KernelMetadata &metadata);
/// Reads what toJson wrote; anything else is an error that names the field.
Expected<KernelMetadata> kernelMetadataFromJson(std::string_view text);

} // namespace skim

#endif // SKIM_RUNTIME_BUNDLE_KERNELMETADATA_H
