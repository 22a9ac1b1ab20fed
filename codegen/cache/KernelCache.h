// Compiled kernels on disk, shared by all processes of a user.
#ifndef SKIM_CODEGEN_CACHE_KERNELCACHE_H
#define SKIM_CODEGEN_CACHE_KERNELCACHE_H

#include "runtime/bundle/Bundle.h"

#include <skim/Compiler.h>
#include <skim/Kernel.h>

#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

namespace skim {

/// A folder with one bundle of one entry for each key. Files appear whole or not at all, so readers
/// need no lock; of two writers of one key the last one stands, with the same contents. What is
/// damaged or unreadable counts as absent, and what cannot be written is left out: no failure here
/// fails a compilation.
class KernelCache {
public:
  /// Null where there is no cache. Touches no file.
  static std::shared_ptr<KernelCache> open(const CompilerOptions &options);

  struct Hit {
    BundleEntry entry;
    Kernel kernel;
  };
  /// Marks what it finds as used now.
  std::optional<Hit> find(llvm::StringRef key);

  /// Then removes what was used least recently until the folder is within its bound.
  void publish(llvm::StringRef key, llvm::StringRef bundle);

  /// The first failure to write since the cache was opened, once, as a line to print; empty
  /// otherwise.
  std::string takeWarning();

private:
  KernelCache(std::string folder, int64_t bytes, Metrics *metrics)
      : folder(std::move(folder)), bytes(bytes), metrics(metrics) {}

  std::string pathOf(llvm::StringRef key) const;
  std::error_code write(llvm::StringRef key, llvm::StringRef bundle);
  void evict();

  const std::string folder;
  /// Of a bound in the environment that is none; said once.
  std::string boundWarning;
  std::atomic<bool> hasBoundWarning = false;
  const int64_t bytes;
  Metrics *const metrics;
  /// An error number; 0: none so far, -1: told.
  std::atomic<int> failure = 0;
};

} // namespace skim

#endif // SKIM_CODEGEN_CACHE_KERNELCACHE_H
