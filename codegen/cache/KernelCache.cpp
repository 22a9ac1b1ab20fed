#include "codegen/cache/KernelCache.h"

#include "runtime/bundle/LoadKernel.h"

#include <skim/Metrics.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace skim {
namespace {

constexpr int64_t kDefaultBytes = int64_t(1) << 30;
constexpr llvm::StringLiteral kEntry = ".skimb";
constexpr llvm::StringLiteral kUnfinished = ".tmp";
/// What writers that were killed have left is removed after so long.
constexpr std::chrono::hours kUnfinishedAge(1);

/// Empty: no cache.
std::string folderFor(const CompilerOptions &options) {
  if (options.cacheDirectory)
    return *options.cacheDirectory;
  if (const char *asked = std::getenv("SKIM_CACHE_DIR"))
    return asked;
  llvm::SmallString<128> folder;
  const char *caches = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  if (caches && llvm::sys::path::is_absolute(caches))
    folder = caches;
  else if (home && llvm::sys::path::is_absolute(home))
    llvm::sys::path::append(folder, home, ".cache");
  else
    return "";
  llvm::sys::path::append(folder, "skim");
  return folder.str().str();
}

struct Bound {
  int64_t bytes;
  std::string warning;
};
Bound boundFor(const CompilerOptions &options) {
  if (options.cacheBytes)
    return {std::max(int64_t(0), *options.cacheBytes), ""};
  const char *asked = std::getenv("SKIM_CACHE_BYTES");
  int64_t bytes = kDefaultBytes;
  if (!asked || (!llvm::StringRef(asked).getAsInteger(10, bytes) && bytes >= 0))
    return {bytes, ""};
  return {kDefaultBytes,
          "warning: SKIM_CACHE_BYTES: expected a number of bytes from 0 up but got '" +
              std::string(asked) + "'; the cache of kernels is bounded by " +
              std::to_string(kDefaultBytes) + " bytes\n"};
}

std::error_code lastError() { return {errno, std::generic_category()}; }

/// A folder in which anybody may put code is none to run code from.
std::error_code checkOwner(const std::string &folder) {
  struct stat found = {};
  if (::stat(folder.c_str(), &found) != 0)
    return lastError();
  const bool isOwn = found.st_uid == ::geteuid() || found.st_uid == 0;
  if (!isOwn || (found.st_mode & S_IWOTH) != 0)
    return std::make_error_code(std::errc::operation_not_permitted);
  return {};
}

std::error_code writeAll(int file, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR)
      return lastError();
    bytes = bytes.drop_front(std::max<ssize_t>(0, count));
  }
  return ::fsync(file) == 0 ? std::error_code() : lastError();
}

} // namespace

std::shared_ptr<KernelCache> KernelCache::open(const CompilerOptions &options) {
  std::string folder = folderFor(options);
  Bound bound = boundFor(options);
  if (folder.empty() || bound.bytes == 0)
    return nullptr;
  std::shared_ptr<KernelCache> cache(
      new KernelCache(std::move(folder), bound.bytes, options.metrics));
  cache->boundWarning = std::move(bound.warning);
  cache->hasBoundWarning = !cache->boundWarning.empty();
  return cache;
}

std::string KernelCache::pathOf(llvm::StringRef key) const {
  llvm::SmallString<192> path(folder);
  llvm::sys::path::append(path, key + kEntry);
  return path.str().str();
}

static Expected<KernelCache::Hit> read(const std::string &path) {
  Expected<Bundle> bundle = Bundle::open(path);
  if (!bundle)
    return bundle.status();
  if (bundle->entries().size() != 1)
    return bundle->failure(StatusCode::Corrupt, "expected one kernel");
  Expected<BundleEntry> entry = readEntry(*bundle, bundle->entries().front());
  if (!entry)
    return entry.status();
  Expected<Kernel> kernel = loadKernel(*bundle, bundle->entries().front());
  if (!kernel)
    return kernel.status();
  return KernelCache::Hit{*std::move(entry), *std::move(kernel)};
}

std::optional<KernelCache::Hit> KernelCache::find(llvm::StringRef key) {
  const std::string path = pathOf(key);
  if (checkOwner(folder))
    return std::nullopt;
  Expected<Hit> hit = read(path);
  if (hit) {
    // Where the folder cannot be written, the order of use is not kept.
    (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
    return *std::move(hit);
  }
  // What is compiled now takes the place of a damaged file.
  if (hit.status().code() == StatusCode::Corrupt)
    (void)llvm::sys::fs::remove(path);
  return std::nullopt;
}

void KernelCache::publish(llvm::StringRef key, llvm::StringRef bundle) {
  if (std::error_code error = write(key, bundle)) {
    int none = 0;
    failure.compare_exchange_strong(none, error.value());
    return;
  }
  evict();
}

std::error_code KernelCache::write(llvm::StringRef key, llvm::StringRef bundle) {
  namespace fs = llvm::sys::fs;
  if (std::error_code error =
          fs::create_directories(folder, /*IgnoreExisting=*/true, fs::perms::owner_all))
    return error;
  if (std::error_code error = checkOwner(folder))
    return error;
  llvm::SmallString<192> model(folder);
  llvm::sys::path::append(model, "%%%%%%%%%%%%%%%%" + kUnfinished);
  llvm::SmallString<192> unfinished;
  int file = -1;
  if (std::error_code error = fs::createUniqueFile(model, file, unfinished, fs::OF_None,
                                                   fs::perms::owner_read | fs::perms::owner_write))
    return error;
  std::error_code error = writeAll(file, bundle);
  ::close(file);
  if (!error)
    error = fs::rename(unfinished, pathOf(key));
  if (error)
    (void)fs::remove(unfinished);
  return error;
}

void KernelCache::evict() {
  namespace fs = llvm::sys::fs;
  struct File {
    std::string path;
    llvm::sys::TimePoint<> used;
    int64_t bytes;
  };
  std::vector<File> files;
  int64_t sum = 0;
  const auto now = std::chrono::system_clock::now();
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error)) {
    // Another process may have removed it meanwhile.
    llvm::ErrorOr<fs::basic_file_status> status = it->status();
    if (!status)
      continue;
    const llvm::StringRef path = it->path();
    if (path.ends_with(kUnfinished) && now - status->getLastModificationTime() > kUnfinishedAge)
      (void)fs::remove(path);
    if (!path.ends_with(kEntry))
      continue;
    files.push_back({path.str(), status->getLastModificationTime(), int64_t(status->getSize())});
    sum += files.back().bytes;
  }
  llvm::sort(files, [](const File &a, const File &b) { return a.used < b.used; });
  int64_t removed = 0;
  for (const File &file : files) {
    if (sum <= bytes)
      break;
    sum -= file.bytes;
    removed += !fs::remove(file.path, /*IgnoreNonExisting=*/false);
  }
  if (metrics && removed > 0)
    metrics->recordCacheEvictions(removed);
}

std::string KernelCache::takeWarning() {
  std::string warning = hasBoundWarning.exchange(false) ? boundWarning : "";
  int error = failure.load();
  if (error <= 0 || !failure.compare_exchange_strong(error, -1))
    return warning;
  return warning + "warning: cannot write to the cache of kernels '" + folder +
         "': " + std::generic_category().message(error) + "; kernels are compiled each time\n";
}

} // namespace skim
