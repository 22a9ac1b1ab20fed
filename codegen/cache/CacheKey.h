// Under which name the cache keeps a kernel.
#ifndef SKIM_CODEGEN_CACHE_CACHEKEY_H
#define SKIM_CODEGEN_CACHE_CACHEKEY_H

#include <skim/Compiler.h>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"

#include <string>

namespace skim {

/// Collects everything that decides what code comes out and what is said about it. Each part counts
/// with its length, so that no two sequences of parts are alike.
class CacheKey {
public:
  /// `kind` says what the parts added later are. The version of this compiler and of LLVM, the
  /// options and the target are parts of every key.
  CacheKey(llvm::StringRef kind, const CompileOptions &options, llvm::StringRef target,
           llvm::StringRef triple, llvm::StringRef features);

  void add(llvm::StringRef part);
  /// 64 hexadecimal digits.
  std::string digest() const;

private:
  void add(int64_t number);

  llvm::BLAKE3 hasher;
};

} // namespace skim

#endif // SKIM_CODEGEN_CACHE_CACHEKEY_H
