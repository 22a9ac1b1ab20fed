"""The kernels of the GPU suite by name: the pattern's file from the top of the tree, and what it is compiled for."""

PATTERNS = "bench/gpu/patterns"
KERNELS = {
    **{f"causal-d{d}": ("examples/patterns/causal.skim", ["--head-dim", str(d)]) for d in (64, 128, 256)},
    **{f"causal-d128-page{p}": ("examples/patterns/causal.skim", ["--page-size", str(p)]) for p in (128, 64, 16, 1)},
    "streaming-d128": ("examples/patterns/streaming.skim", []),
    "block_lists-d128": (f"{PATTERNS}/block_lists.skim", []),
    "mixed_heads-d128": (f"{PATTERNS}/mixed_heads.skim", []),
    "gathered_columns-d128": (f"{PATTERNS}/gathered_columns.skim", []),
}
