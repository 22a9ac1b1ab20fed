#include "runtime/OperandBinding.h"
#include "runtime/TensorCheck.h"

#include <array>

namespace skim {

namespace {

struct NamedRange {
  ArgumentName name;
  ByteRange range;
};

Status checkApart(const NamedRange &result, const NamedRange &other) {
  if (!result.range.overlaps(other.range))
    return Status::ok();
  return expectedButGot(result.name, "memory of its own",
                        "memory that overlaps " + other.name.str());
}

ByteRange rangeOf(std::span<const std::byte> bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  return {begin, begin + bytes.size()};
}

} // namespace

Status checkAliasing(const Operands &operands, const RunOptions &options,
                     std::span<const std::byte> workspace) {
  const std::span<const skim_statistics> statistics(options.statistics, options.statistics ? 1 : 0);
  const std::array<NamedRange, 9> results = {
      {{{"", "out"}, byteRange(operands.out)},
       {{"", "lse"}, byteRange(operands.lse)},
       {{"", "compact_positions"}, byteRange(operands.compactPositions)},
       {{"", "compact_counts"}, byteRange(operands.compactCounts)},
       {{"", "kept"}, byteRange(options.kept)},
       {{"", "statistics"}, rangeOf(std::as_bytes(statistics))},
       {{"", "head_statistics"}, rangeOf(std::as_bytes(options.headStatistics))},
       {{"", "kernel_seconds"}, rangeOf(std::as_bytes(options.kernelSeconds))},
       {{"", "workspace"}, rangeOf(workspace)}}};
  const std::array<NamedRange, 7> arguments = {
      {{{"", "q"}, byteRange(operands.q)},
       {{"", "k"}, byteRange(operands.k)},
       {{"", "v"}, byteRange(operands.v)},
       {{"", "cu_seqlens_q"}, byteRange(operands.cuSeqlensQ)},
       {{"", "kv_lens"}, byteRange(operands.kvLens)},
       {{"", "cu_seqlens_kv"}, byteRange(operands.cuSeqlensKv)},
       {{"", "block_table"}, byteRange(operands.blockTable)}}};
  for (size_t i = 0; i < results.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (Status status = checkApart(results[i], results[j]); !status)
        return status;
    for (const NamedRange &other : arguments)
      if (Status status = checkApart(results[i], other); !status)
        return status;
    for (const NamedTensor &input : operands.inputs)
      if (Status status = checkApart(results[i], {{"input", input.name}, byteRange(input.tensor)});
          !status)
        return status;
  }
  return Status::ok();
}

} // namespace skim
