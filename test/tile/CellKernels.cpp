#include "test/tile/CellKernels.h"

#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;

namespace skim::test {

std::string program(const Shape &shape, int64_t rows, int64_t keys, const char *head,
                    const char *axis, const std::string &body) {
  return formatv("tile.program @kernel attributes {{\n"
                 "    problem = #tile.problem<query_heads = {0}, kv_heads = {1}, head_dim = {2}, "
                 "value_dim = {3}, operand = {4}, out = {5}>,\n"
                 "    schedule = #tile.schedule<rows = {6}, keys = {7}>, "
                 "items = #tile.items<head = {8}, axis = {9}>} {{\n"
                 "  tile.for_each_work_item %item {{\n{10}  }\n}\n",
                 shape.queryHeads, shape.kvHeads, shape.headDim, shape.valueDim, shape.operand,
                 shape.out, rows, keys, head, axis, body);
}

std::vector<skim_work_item> items(const Shape &shape, int64_t heads, int64_t rows, int64_t keys) {
  std::vector<skim_work_item> result;
  for (size_t request = 0; request < shape.requests.size(); ++request) {
    auto [q, kv] = shape.requests[request];
    int64_t begin = rows > 0 ? floorDiv(kv - q, rows) : 0;
    int64_t end = rows > 0 ? floorDiv(kv - 1, rows) + 1 : keys > 0 ? (kv + keys - 1) / keys : 1;
    for (int64_t head = 0; head < heads && q > 0; ++head)
      for (int64_t tile = begin; tile < end; ++tile)
        result.push_back({static_cast<int32_t>(request), static_cast<int32_t>(head),
                          static_cast<int32_t>(tile), 0});
  }
  return result;
}

void runKernel(const cpu::Jit &jit, AttentionBatch &batch, int64_t heads, int64_t rows,
               std::vector<skim_buffer> buffers, std::vector<skim_buffer> inputs) {
  skim_kernel_args args = batch.arguments();
  args.buffers = buffers.data();
  args.inputs = inputs.data();
  auto work = items(batch.shape(), heads, rows, 0);
  lookup(jit, "kernel")(&args, work.data(), 0, static_cast<int64_t>(work.size()), 1);
}

} // namespace skim::test
