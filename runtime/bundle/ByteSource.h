// Where the bytes of a bundle come from: a file or memory.
#ifndef SKIM_RUNTIME_BUNDLE_BYTESOURCE_H
#define SKIM_RUNTIME_BUNDLE_BYTESOURCE_H

#include <skim/Status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace skim::bundle {

/// Bytes are copied out, never mapped: a file that is cut or changed while it is read gives wrong
/// checksums and no signal.
class ByteSource {
public:
  virtual ~ByteSource() = default;

  virtual uint64_t size() const = 0;
  /// Fills `into` with the bytes from `offset`; the range lies within `size()`.
  virtual Status read(uint64_t offset, std::span<std::byte> into) const = 0;
};

/// A regular file, open as long as the object lives.
Expected<std::unique_ptr<ByteSource>> openFile(const std::string &path);
/// `bytes` are not copied and must outlive the object.
std::unique_ptr<ByteSource> fromMemory(std::span<const std::byte> bytes);

} // namespace skim::bundle

#endif // SKIM_RUNTIME_BUNDLE_BYTESOURCE_H
