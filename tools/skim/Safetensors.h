// Reads and writes safetensors files: an 8-byte little-endian header length, a
// JSON header, and the tensors' bytes in one block.
#ifndef SKIM_TOOLS_SKIM_SAFETENSORS_H
#define SKIM_TOOLS_SKIM_SAFETENSORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace skim::tool {

enum class ElementType {
  Bool,
  U8,
  I8,
  U16,
  I16,
  F16,
  BF16,
  U32,
  I32,
  F32,
  U64,
  I64,
  F64,
  F8E4M3,
  F8E5M2
};

/// The name that the format gives a type: `BF16`.
llvm::StringRef nameOf(ElementType type);
int64_t bytesOf(ElementType type);

struct Tensor {
  std::string name;
  ElementType type;
  std::vector<int64_t> shape;
  /// Aligned for the element type; lives as long as the file.
  const char *data;
  int64_t bytes;

  int64_t elements() const { return bytes / bytesOf(type); }
  template <typename T> llvm::ArrayRef<T> as() const {
    return {reinterpret_cast<const T *>(data), static_cast<size_t>(bytes) / sizeof(T)};
  }
};

/// `[4096, 4, 128]`.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

class SafetensorsFile {
public:
  /// Fails on anything that the format does not allow: a header that is cut short,
  /// no JSON or names a tensor twice, an unknown type, bytes that lie outside of the
  /// file, overlap, leave a gap or are not as many as the shape says.
  static llvm::Expected<SafetensorsFile> open(llvm::StringRef path);
  /// As `open`, of the bytes of a file; `path` stands for it in messages.
  static llvm::Expected<SafetensorsFile> parse(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                               llvm::StringRef path);

  llvm::StringRef path() const { return filePath; }
  llvm::ArrayRef<Tensor> tensors() const { return list; }
  const Tensor *find(llvm::StringRef name) const;

private:
  std::string filePath;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::vector<std::unique_ptr<char[]>> aligned;
  std::vector<Tensor> list;
};

llvm::Error writeSafetensors(llvm::StringRef path, llvm::ArrayRef<Tensor> tensors);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_SAFETENSORS_H
