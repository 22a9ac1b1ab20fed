#include "runtime/bundle/ByteSource.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skim::bundle {
namespace {

class File : public ByteSource {
public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File() override { ::close(descriptor_); }

  /// Fails, with errno set, for what is no regular file.
  bool measure() {
    struct stat found = {};
    if (::fstat(descriptor_, &found) != 0)
      return false;
    if (!S_ISREG(found.st_mode)) {
      errno = S_ISDIR(found.st_mode) ? EISDIR : EINVAL;
      return false;
    }
    size_ = static_cast<uint64_t>(found.st_size);
    return true;
  }

  uint64_t size() const override { return size_; }

  Status read(uint64_t offset, std::span<std::byte> into) const override {
    while (!into.empty()) {
      const ssize_t count =
          ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return {StatusCode::Environment, std::string("cannot read: ") + std::strerror(errno)};
      if (count == 0)
        return {StatusCode::Corrupt, "the file became shorter while it was read"};
      offset += static_cast<uint64_t>(count);
      into = into.subspan(static_cast<size_t>(count));
    }
    return Status::ok();
  }

private:
  int descriptor_;
  uint64_t size_ = 0;
};

class Memory : public ByteSource {
public:
  explicit Memory(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t size() const override { return bytes_.size(); }

  Status read(uint64_t offset, std::span<std::byte> into) const override {
    if (!into.empty())
      std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return Status::ok();
  }

private:
  std::span<const std::byte> bytes_;
};

} // namespace

Expected<std::unique_ptr<ByteSource>> openFile(const std::string &path) {
  // Without waiting for a writer, should the path name a pipe.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return Status(StatusCode::Environment, std::string("cannot open: ") + std::strerror(errno));
  auto file = std::make_unique<File>(descriptor);
  if (!file->measure())
    return Status(StatusCode::Environment, std::string("cannot read: ") + std::strerror(errno));
  return std::unique_ptr<ByteSource>(std::move(file));
}

std::unique_ptr<ByteSource> fromMemory(std::span<const std::byte> bytes) {
  return std::make_unique<Memory>(bytes);
}

} // namespace skim::bundle
