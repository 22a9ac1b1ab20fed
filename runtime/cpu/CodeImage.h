// Machine code of the kernels of one launch plan that runs wherever it is put.
#ifndef SKIM_RUNTIME_CPU_CODEIMAGE_H
#define SKIM_RUNTIME_CPU_CODEIMAGE_H

#include <skim/Status.h>
#include <skim/abi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace skim {

/// Where in an image the address of a function of the runtime must be written.
struct CodeImport {
  int64_t offset = 0; ///< of 8 bytes, a multiple of 8
  std::string function;

  bool operator==(const CodeImport &) const = default;
};

/// What an image needs besides its bytes, which hold code and its constants and refer to nothing
/// but one another.
struct CodeImageLayout {
  std::vector<int64_t> entryPoints; ///< offset of each kernel, in the order of the launch plan
  std::vector<CodeImport> imports;

  bool operator==(const CodeImageLayout &) const = default;
};

struct CodeImage {
  std::vector<std::byte> bytes;
  CodeImageLayout layout;
};

/// An image in memory of its own. It can be written first and run afterwards, never both.
class CodeMemory {
public:
  /// Memory for an image of `bytes` bytes, at least 1. It starts at the start of a page.
  static Expected<CodeMemory> allocate(uint64_t bytes);
  CodeMemory(CodeMemory &&other) noexcept;
  CodeMemory &operator=(CodeMemory &&other) noexcept;
  ~CodeMemory();

  /// Where the image is written, until `finish`.
  std::span<std::byte> writable() const { return {start_, bytes_}; }

  /// Checks `layout`, writes what it imports, and makes the memory executable and read-only.
  Expected<std::vector<skim_cpu_kernel>> finish(const CodeImageLayout &layout);

private:
  CodeMemory(std::byte *start, size_t bytes) : start_(start), bytes_(bytes) {}

  std::byte *start_ = nullptr;
  size_t bytes_ = 0;
};

/// The functions of the runtime that images may import.
std::vector<std::string> importableFunctions();

} // namespace skim

#endif // SKIM_RUNTIME_CPU_CODEIMAGE_H
