// The operands of `skim run` and `skim show`: what safetensors files hold, checked
// against each other, as the runtime takes it.
#ifndef SKIM_TOOLS_SKIM_HOSTBATCH_H
#define SKIM_TOOLS_SKIM_HOSTBATCH_H

#include "tools/skim/Safetensors.h"

#include <skim/Operands.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skim::tool {

class HostBatch {
public:
  /// Reads `q`, `k`, `v` and where they are `cu_seqlens_q`, `kv_lens`, `block_table`.
  /// `inputsPath` (may be empty) is a second file to find inputs in. `tokens` cuts a file of one
  /// contiguous request to its first tokens; 0 takes all.
  static llvm::Expected<HostBatch> read(llvm::StringRef qkvPath, llvm::StringRef inputsPath,
                                        int64_t tokens);

  /// A batch of one request whose queries, keys and values are all zero, for patterns
  /// that do not look at them. Fails where the queries or the keys take more than 1 GiB.
  static llvm::Expected<HostBatch> zeros(int64_t queryLength, int64_t kvLength, int64_t queryHeads,
                                         int64_t kvHeads, llvm::StringRef inputsPath);

  /// A batch of one request over arrays of the caller that outlive it: q [tokens, heads, dim], k
  /// and v [tokens, kv_heads, dim], of one float type.
  static llvm::Expected<HostBatch> over(const TensorView &q, const TensorView &k,
                                        const TensorView &v, llvm::StringRef inputsPath);

  int64_t requests() const { return static_cast<int64_t>(kvLens.size()); }
  int64_t queryLength(int64_t request) const {
    return cuSeqlensQ[request + 1] - cuSeqlensQ[request];
  }
  int64_t queryTokens() const { return cuSeqlensQ.back(); }
  int64_t keyTokens() const { return cuSeqlensKv.back(); }
  int64_t longestKv() const;
  bool isPaged() const { return pageSize > 0; }

  /// The operands without results and inputs; views into this batch.
  Operands operands() const;
  /// An input by its name, as the runtime takes it: 64-bit integers become 32-bit, f16 and
  /// bf16 become f32. Empty where no file has it.
  llvm::Expected<std::optional<NamedTensor>> input(llvm::StringRef name);
  /// The shapes of all tensors in the files by name; a file that is named later does not hide
  /// others.
  std::map<std::string, std::vector<int64_t>> shapes() const;

  int64_t queryHeads = 0;
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  int64_t valueDim = 0;
  /// 0 where keys and values are contiguous.
  int64_t pageSize = 0;
  DType dtype = DType::F32;
  TensorView q, k, v;
  std::vector<int32_t> cuSeqlensQ, kvLens, cuSeqlensKv, blockTable;
  int64_t maxPages = 0;

private:
  llvm::Error openInputs(llvm::StringRef path);
  llvm::Error readOperands(const SafetensorsFile &file);
  llvm::Error readLengths(const SafetensorsFile &file);
  llvm::Error readBlockTable(const Tensor &table);
  llvm::Error cutTo(int64_t tokens);

  std::vector<SafetensorsFile> files;
  /// Converted inputs, and the zeros of `zeros`; a deque leaves its elements in place.
  std::deque<std::vector<char>> storage;
};

/// The element type of the runtime; empty where it has none.
std::optional<DType> runtimeType(ElementType type);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_HOSTBATCH_H
