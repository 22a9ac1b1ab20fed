"""FlashInfer's attention on GPUs: prefill over contiguous and paged keys, and over lists of blocks.

Operands are those of Skim's kernels. As for the other peers, what a call can be planned with, and the layout that
it wants, are made outside of the measured time. Each function gives (run, output).
"""

import flashinfer
import torch

WORKSPACE = 128 * 1024 * 1024  # bytes, as FlashInfer's documentation recommends
BLOCK = 128


def workspace():
    return torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda")


def dense(q, k, v, cu_seqlens_q, cu_seqlens_kv):
    """Causal attention of a ragged batch, the rows of each request at the end of its keys."""
    if cu_seqlens_q.numel() == 2:
        def run():
            return flashinfer.single_prefill_with_kv_cache(q, k, v, causal=True, kv_layout="NHD")

        return run, run
    wrapper = flashinfer.BatchPrefillWithRaggedKVCacheWrapper(workspace(), "NHD")
    wrapper.plan(cu_seqlens_q, cu_seqlens_kv, q.shape[1], k.shape[1], q.shape[2], causal=True, q_data_type=q.dtype)

    def run():
        return wrapper.run(q, k, v)

    return run, run


def paged(q, k, v, cu_seqlens_q, kv_lens, block_table):
    """Causal attention over pages [pages, page, kv_heads, dim]; a row of the block table holds the pages of a request."""
    page = k.shape[1]
    counts = (kv_lens + page - 1) // page
    starts = torch.nn.functional.pad(counts.cumsum(0), (1, 0)).to(torch.int32)
    listed = torch.arange(block_table.shape[1], device="cuda") < counts.unsqueeze(-1)
    last = (kv_lens - 1) % page + 1
    wrapper = flashinfer.BatchPrefillWithPagedKVCacheWrapper(workspace(), "NHD")
    wrapper.plan(cu_seqlens_q, starts, block_table[listed].contiguous(), last.to(torch.int32), q.shape[1], k.shape[2],
                 q.shape[2], page, causal=True, q_data_type=q.dtype)

    def run():
        return wrapper.run(q, (k, v))

    return run, run


def lists(q, k, v, kept):
    """Attention over the kept blocks of 128 x 128, bool [heads, query blocks, key blocks], the diagonal among them.

    A pattern belongs to a KV head there, so that each query head gets keys and values of its own. The rows of a list
    stand at the end of the keys that it gathers, which makes its last block, the diagonal, the causal one.
    """
    heads, rows, columns = kept.shape
    group = heads // k.shape[1]
    q = q.transpose(0, 1).contiguous()
    k, v = (operand.transpose(0, 1).repeat_interleave(group, 0).contiguous() for operand in (k, v))
    sizes = torch.full((heads, max(rows, columns)), BLOCK, dtype=torch.int32, device="cuda")
    wrapper = flashinfer.VariableBlockSparseAttentionWrapper(workspace())
    wrapper.plan(kept, sizes[:, :rows].contiguous(), sizes[:, :columns].contiguous(), heads, heads, q.shape[2], causal=True,
                 q_data_type=q.dtype)

    def run():
        return wrapper.run(q, k, v)

    return run, lambda: run().transpose(0, 1)
