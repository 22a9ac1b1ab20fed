// The libFuzzer target over the safetensors reader. Built by the preset `fuzz`; run it from the
// build folder, with small files as seeds:
//   python3 ../test/tools/Inputs/tensors.py SEEDS/a "q=F32:[2,3]" "k=BF16:[4]" "none=U8:[0,7]"
//   bin/safetensors_fuzzer -dict=../test/tools/safetensors.dict -max_len=4096 CORPUS SEEDS
#include "tools/skim/Safetensors.h"

#include "llvm/ADT/STLExtras.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace skim::tool;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A copy of just this size, so that the sanitizer sees every byte read past it.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(reinterpret_cast<const char *>(data), size));
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::parse(std::move(buffer), "fuzzed");
  if (!file) {
    if (llvm::toString(file.takeError()).empty())
      std::abort(); // refused without a reason
    return 0;
  }
  // What is taken can be read, every byte of it, and is as large as its shape says.
  int64_t bytes = 0;
  unsigned sum = 0;
  for (const Tensor &tensor : file->tensors()) {
    // In this order the product cannot overflow where an extent is 0.
    int64_t elements = llvm::is_contained(tensor.shape, 0) ? 0 : 1;
    for (int64_t extent : tensor.shape)
      elements = elements == 0 ? 0 : elements * extent;
    if (elements != tensor.elements() ||
        reinterpret_cast<uintptr_t>(tensor.data) % bytesOf(tensor.type) != 0 ||
        file->find(tensor.name) != &tensor)
      std::abort();
    for (int64_t i = 0; i < tensor.bytes; ++i)
      sum += static_cast<unsigned char>(tensor.data[i]);
    bytes += tensor.bytes;
  }
  if (bytes > static_cast<int64_t>(size) || sum > 255U * static_cast<uint64_t>(bytes))
    std::abort();
  return 0;
}
