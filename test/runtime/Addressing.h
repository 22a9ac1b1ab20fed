// Where the rows of operands and the cells of inputs lie, as abi.h defines it: for kernels
// written in C++, and the yardstick for generated ones.
#ifndef SKIM_TEST_RUNTIME_ADDRESSING_H
#define SKIM_TEST_RUNTIME_ADDRESSING_H

#include <skim/abi.h>

#include <cstdint>

namespace skim::cpu {

/// Offset in elements of a row of q or out. `row` counts the request's rows from 0.
inline int64_t rowOffset(const skim_kernel_args &args, const skim_rows &rows, int64_t request,
                         int64_t row, int64_t head) {
  return (args.cu_seqlens_q[request] + row) * rows.token_stride + head * rows.head_stride;
}

/// Offset in elements of a row of k or v. `token` counts the request's keys from 0.
inline int64_t keyOffset(const skim_kernel_args &args, const skim_pages &pages, int64_t request,
                         int64_t token, int64_t kvHead) {
  if (!args.block_table)
    return (args.cu_seqlens_kv[request] + token) * pages.token_stride + kvHead * pages.head_stride;
  const int64_t page = args.block_table[request * args.block_table_stride + token / args.page_size];
  return page * pages.page_stride + token % args.page_size * pages.token_stride +
         kvHead * pages.head_stride;
}

/// Offset in elements of a row's log-sum-exp.
inline int64_t lseOffset(const skim_kernel_args &args, int64_t request, int64_t row, int64_t head) {
  return head * args.lse_head_stride + (args.cu_seqlens_q[request] + row) * args.lse_token_stride;
}

/// Offset in elements of a cell of an input or buffer; absent axes have stride 0.
inline int64_t cellOffset(const skim_buffer &buffer, int64_t request, int64_t head, int64_t query,
                          int64_t key) {
  return request * buffer.strides[0] + head * buffer.strides[1] + query * buffer.strides[2] +
         key * buffer.strides[3];
}

} // namespace skim::cpu

#endif // SKIM_TEST_RUNTIME_ADDRESSING_H
