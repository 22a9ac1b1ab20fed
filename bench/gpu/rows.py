"""The rows of the GPU suite: which kernel, over which operands, how much work, and beside whom.

Operands are random normal, B = 1, 32 query and 8 KV heads, head dimension 128, causal, bf16, unless the row says otherwise.
Work is counted as 4 * dim * (query, key) pairs: half of the square for dense rows, whole tiles of 128 x 128 for lists.
"""

import dataclasses
import typing

import torch

HEADS, KV_HEADS, BLOCK = 32, 8, 128


@dataclasses.dataclass
class Case:
    """What one row runs on. `keep(head, position)` gives the kept keys of a row of request 0, for the check."""
    operands: dict
    shape: tuple  # requests, query tokens, longest query, most keys
    flops: float
    keep: typing.Callable
    layout: str = "contiguous"
    parameters: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Row:
    name: str
    kernel: str
    case: typing.Callable
    peers: typing.Callable = dict  # name: function from the case to (run, output)


def integers(values):
    return torch.tensor(values, dtype=torch.int32, device="cuda")


def normal(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def contiguous(query_lengths, kv_lengths, dim=128):
    """Operands of a ragged batch whose keys stand one request after another."""
    tokens, keys = sum(query_lengths), sum(kv_lengths)
    starts, kv_starts = [0], [0]
    for query, kv in zip(query_lengths, kv_lengths):
        starts.append(starts[-1] + query)
        kv_starts.append(kv_starts[-1] + kv)
    operands = {
        "q": normal(tokens, HEADS, dim), "k": normal(keys, KV_HEADS, dim), "v": normal(keys, KV_HEADS, dim),
        "out": torch.full((tokens, HEADS, dim), float("nan"), device="cuda", dtype=torch.bfloat16),
        "lse": torch.full((HEADS, tokens), float("nan"), device="cuda"),
        "cu_seqlens_q": integers(starts), "kv_lens": integers(list(kv_lengths)), "cu_seqlens_kv": integers(kv_starts)}
    return operands, (len(query_lengths), tokens, max(query_lengths), max(kv_lengths))


def visible(query_lengths, kv_lengths):
    """Pairs that causality leaves, with the rows at the end of the keys."""
    return sum(q * kv - q * (q - 1) / 2 for q, kv in zip(query_lengths, kv_lengths))


def every_key(head, position):
    return torch.ones(position + 1, dtype=torch.bool, device="cuda")


def dense(query_lengths, kv_lengths, dim=128):
    operands, shape = contiguous(query_lengths, kv_lengths, dim)
    return Case(operands, shape, 4.0 * dim * HEADS * visible(query_lengths, kv_lengths), every_key)


def paged(tokens, page):
    """The keys of one request in shuffled pages [pages, page, kv_heads, dim]."""
    case = dense([tokens], [tokens])
    pages = -(-tokens // page)
    order = torch.randperm(pages, device="cuda")
    del case.operands["cu_seqlens_kv"]
    for name in ("k", "v"):
        rows = case.operands[name]
        cache = torch.empty(pages, page, KV_HEADS, rows.shape[-1], device="cuda", dtype=rows.dtype)
        cache[order] = rows.view(pages, page, KV_HEADS, -1)
        case.operands[name] = cache
    case.operands["block_table"] = order.to(torch.int32).view(1, pages).contiguous()
    case.layout = "nhd"
    return case


def streaming(tokens, sink=64, window=4096):
    case = dense([tokens], [tokens])
    blocks = tokens // BLOCK
    visited = 0
    for block in range(blocks):
        first = max(block * BLOCK - window + 1, 0) // BLOCK
        visited += block - first + 1 + (1 if first > 0 else 0)
    case.flops = 4.0 * 128 * HEADS * visited * BLOCK * BLOCK

    def keep(head, position):
        keys = torch.arange(position + 1, device="cuda")
        return (keys < sink) | (position - keys < window)

    case.keep = keep
    case.parameters = {"sink": sink, "window": window}
    return case


def lists(tokens, density, dense_heads=()):
    """Random blocks of 128 x 128 below the diagonal, and the diagonal, for each head."""
    case = dense([tokens], [tokens])
    rows = tokens // BLOCK
    kept = torch.rand(HEADS, rows, rows, device="cuda") < density
    index = torch.arange(rows, device="cuda")
    kept &= index.view(1, 1, -1) < index.view(1, -1, 1)
    for head in dense_heads:
        kept[head] = index.view(1, -1) < index.view(-1, 1)
    kept |= index.view(1, 1, -1) == index.view(1, -1, 1)
    counts = kept.sum(-1).to(torch.int32)
    capacity = int(counts.max())
    # The kept blocks of each row first, in ascending order.
    order = torch.sort((~kept).to(torch.int8), dim=-1, stable=True).indices[..., :capacity].to(torch.int32)
    order[torch.arange(capacity, device="cuda").view(1, 1, -1) >= counts.unsqueeze(-1)] = -1
    case.operands["blocks"] = order.unsqueeze(0).contiguous()
    case.operands["blocks_counts"] = counts.unsqueeze(0).contiguous()
    case.flops = 4.0 * 128 * int(counts.sum()) * BLOCK * BLOCK
    case.keep = lambda head, position: kept[head, position // BLOCK].repeat_interleave(BLOCK)[:position + 1]
    return case


def mixed(tokens, density):
    case = lists(tokens, density, dense_heads=(HEADS - 1,))
    kinds = [0] * (HEADS - 1) + [1]
    case.operands["full"] = integers([kinds])
    return case


def columns(tokens, chosen):
    case = dense([tokens], [tokens])
    kept = torch.zeros(HEADS, tokens, dtype=torch.uint8, device="cuda")
    for head in range(HEADS):
        kept[head, torch.randperm(tokens, device="cuda")[:chosen]] = 1
    case.operands["chosen"] = kept.unsqueeze(0).contiguous()
    before = kept.long().cumsum(-1)
    case.flops = 4.0 * 128 * float(before.sum())
    case.keep = lambda head, position: kept[head, :position + 1].bool()
    return case


def log_uniform(requests, shortest, longest):
    generator = torch.Generator().manual_seed(1)
    exponents = torch.rand(requests, generator=generator)
    return [int(shortest * (longest / shortest) ** float(x)) for x in exponents]


def qkv(case):
    return tuple(case.operands[name] for name in "qkv")


def listed(case):
    """The kept blocks of a case of lists, bool [heads, query blocks, key blocks]."""
    blocks, counts = case.operands["blocks"][0], case.operands["blocks_counts"][0]
    valid = torch.arange(blocks.shape[-1], device="cuda") < counts.unsqueeze(-1)
    kept = torch.zeros(blocks.shape[0], blocks.shape[1], blocks.shape[1], device="cuda", dtype=torch.int32)
    # What lies behind the end of a list adds nothing to the first block.
    kept.scatter_add_(-1, torch.where(valid, blocks, 0).long(), valid.to(torch.int32))
    return kept.bool()


def beside_flashinfer():
    def peer(case):
        import flashinfer_gpu
        return flashinfer_gpu.dense(*qkv(case), case.operands["cu_seqlens_q"], case.operands["cu_seqlens_kv"])

    return {"flashinfer": peer}


def beside_flashinfer_paged():
    def peer(case):
        import flashinfer_gpu
        return flashinfer_gpu.paged(*qkv(case), *(case.operands[name] for name in ("cu_seqlens_q", "kv_lens", "block_table")))

    return {"flashinfer": peer}


def beside_flashinfer_lists():
    def peer(case):
        import flashinfer_gpu
        return flashinfer_gpu.lists(*qkv(case), listed(case))

    return {"flashinfer": peer}


def beside_dense():
    import torch_gpu
    return {"cudnn": lambda case: torch_gpu.cudnn(*qkv(case)), "fa2": lambda case: torch_gpu.fa2(*qkv(case)),
            **beside_flashinfer()}


def beside_flex_streaming():
    import torch_gpu

    def peer(case):
        tokens = case.operands["q"].shape[0]
        return torch_gpu.flex(*qkv(case), torch_gpu.streaming_mask(tokens, **case.parameters))

    return {"flex": peer}


def beside_lists():
    import torch_gpu

    def peer(case):
        # The diagonal is the last listed block of each row, and masked; the others are full.
        blocks, counts = case.operands["blocks"][0], case.operands["blocks_counts"][0] - 1
        full = torch.where(torch.arange(blocks.shape[-1], device="cuda") < counts.unsqueeze(-1), blocks, 0)
        padded = torch.zeros(HEADS, full.shape[1], full.shape[1], device="cuda", dtype=torch.int32)
        padded[..., :full.shape[-1]] = full
        return torch_gpu.flex(*qkv(case), torch_gpu.list_mask(padded, counts))

    return {"flex": peer, **beside_flashinfer_lists()}


K = 1024
RAGGED = log_uniform(64, 100, 32 * K)
ROWS = [
    *(Row(f"dense {n}K", "causal-d128", lambda n=n: dense([n * K], [n * K]), beside_dense) for n in (16, 32, 64, 128)),
    *(Row(f"dense 32K, dim {d}", f"causal-d{d}", lambda d=d: dense([32 * K], [32 * K], d), beside_dense) for d in (64, 96, 256)),
    Row("every block listed 32K", "block_lists-d128", lambda: lists(32 * K, 1.0), beside_flashinfer_lists),
    *(Row(f"sink 64, window 4096, {n}K", "streaming-d128", lambda n=n: streaming(n * K), beside_flex_streaming)
      for n in (32, 128)),
    *(Row(f"lists {p} % 128K", "block_lists-d128", lambda p=p: lists(128 * K, p / 100), beside_lists)
      for p in (10, 5, 2)),
    *(Row(f"pages of {p} 32K", f"causal-d128-page{p}", lambda p=p: paged(32 * K, p), beside_flashinfer_paged)
      for p in (128, 64, 16, 1)),
    Row("64 ragged requests", "causal-d128", lambda: dense(RAGGED, RAGGED), beside_flashinfer),
    Row("chunk of 8K in 128K", "causal-d128", lambda: dense([8 * K], [128 * K]), beside_flashinfer),
    Row("one token of 64 requests at 16K", "causal-d128", lambda: dense([1] * 64, [16 * K] * 64), beside_flashinfer),
    Row("31 heads 5 %, 1 dense, 64K", "mixed_heads-d128", lambda: mixed(64 * K, 0.05)),
    Row("1024 columns 128K", "gathered_columns-d128", lambda: columns(128 * K, 1024)),
]
