"""PyTorch's attention on GPUs, one request: scaled_dot_product_attention (FlashAttention-2 and cuDNN) and FlexAttention.

Operands are [tokens, heads, dim]; each peer gets them as it likes them best, outside of the measured time. All share
KV heads within a group of query heads without repeating them.
"""

import functools

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

BLOCK = 128


def heads_first(tensor):
    return tensor.transpose(0, 1).unsqueeze(0).contiguous()


def sdpa(backend, q, k, v):
    q, k, v = heads_first(q), heads_first(k), heads_first(v)
    causal = q.shape[2] == k.shape[2]
    if not causal:
        raise NotImplementedError("PyTorch aligns causality at the first key where there are cached keys")

    def run():
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    return run, lambda: run()[0].transpose(0, 1)


fa2 = functools.partial(sdpa, SDPBackend.FLASH_ATTENTION)
cudnn = functools.partial(sdpa, SDPBackend.CUDNN_ATTENTION)


@functools.cache
def compiled_flex():
    return torch.compile(flex_attention, dynamic=False)


def flex(q, k, v, mask):
    q, k, v = heads_first(q), heads_first(k), heads_first(v)

    def run():
        return compiled_flex()(q, k, v, block_mask=mask, enable_gqa=True)

    return run, lambda: run()[0].transpose(0, 1)


def streaming_mask(tokens, sink, window):
    def keep(batch, head, q, k):
        return (k <= q) & ((k < sink) | (q - k < window))

    return torch.compile(create_block_mask)(keep, None, None, tokens, tokens, device="cuda", BLOCK_SIZE=BLOCK)


def list_mask(full, counts):
    """`full` int32 [heads, query blocks, capacity]: blocks before the diagonal, which is masked beside them."""
    heads, rows, _ = full.shape
    # Padding is read there, too: it must name a block.
    full = full.clamp(min=0)
    # The last axis says how many blocks of keys there are: it is padded to that.
    diagonal = torch.zeros(1, heads, rows, rows, device="cuda", dtype=torch.int32)
    diagonal[..., 0] = torch.arange(rows, device="cuda", dtype=torch.int32)

    def causal(batch, head, q, k):
        return k <= q

    return BlockMask.from_kv_blocks(torch.ones(1, heads, rows, device="cuda", dtype=torch.int32), diagonal,
                                    counts.unsqueeze(0).contiguous(), full.unsqueeze(0).contiguous(), BLOCK_SIZE=BLOCK,
                                    mask_mod=causal, seq_lengths=(rows * BLOCK, rows * BLOCK))
