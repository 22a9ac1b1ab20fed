#include "codegen/cache/CacheKey.h"

#include "codegen/Version.h"

#include <skim/abi.h>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

#include <bit>

using namespace skim;

CacheKey::CacheKey(llvm::StringRef kind, const CompileOptions &options, llvm::StringRef target,
                   llvm::StringRef triple, llvm::StringRef features) {
  add(kind);
  add(compilerVersion());
  add(LLVM_VERSION_STRING);
  add(SKIM_ABI_VERSION);
  add(target);
  add(triple);
  add(features);
  add(options.pattern);
  add(options.queryHeads);
  add(options.kvHeads);
  add(options.headDim);
  add(options.valueDim);
  add(static_cast<int64_t>(options.dtype));
  add(static_cast<int64_t>(options.outDtype));
  add(options.pageSize.value_or(-1));
  add(options.writesKept);
  add(static_cast<int64_t>(options.constants.size()));
  for (const auto &[name, value] : options.constants) {
    add(name);
    add(std::bit_cast<int64_t>(value));
  }
  add(static_cast<int64_t>(options.inputShapes.size()));
  for (const auto &[name, shape] : options.inputShapes) {
    add(name);
    add(static_cast<int64_t>(shape.size()));
    for (int64_t extent : shape)
      add(extent);
  }
}

void CacheKey::add(int64_t number) {
  hasher.update(llvm::StringRef(reinterpret_cast<const char *>(&number), sizeof(number)));
}

void CacheKey::add(llvm::StringRef part) {
  add(static_cast<int64_t>(part.size()));
  hasher.update(part);
}

std::string CacheKey::digest() const {
  llvm::BLAKE3Result<> result = llvm::BLAKE3(hasher).final();
  return llvm::toHex(result, /*LowerCase=*/true);
}
