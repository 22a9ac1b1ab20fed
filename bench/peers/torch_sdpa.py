"""PyTorch's scaled_dot_product_attention on the CPU, served over pipes: torch_sdpa.py THREADS

One request a line (JSON) on the standard input, one answer a line on the standard output. Started,
it says {"name", "version", "kernel"}, or {"missing": "torch", "reason"} and ends.

  {"request": "load", "dtype", "tokens", "query_heads", "kv_heads", "head_dim"}   then the bytes of q, k, v,
       each [tokens, heads, dim]                                                   -> {}
  {"request": "run"}     causal attention once                                     -> {"seconds"}
  {"request": "output"}  -> {"bytes"}, then the last output, f32 [tokens, heads, dim]

Operands are laid out as PyTorch prefers them, [1, heads, tokens, dim], and each KV head is repeated for
its query heads, both outside of the measured time. Only the fused kernel is allowed.
"""

import ctypes
import json
import os
import sys
import time

# The protocol has the standard output for itself: what the library prints goes to the standard error.
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
requests = sys.stdin.buffer


def answer(value, data=b""):
    answers.write(json.dumps(value).encode() + b"\n" + data)
    answers.flush()


try:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
except (ImportError, OSError) as error:
    answer({"missing": "torch", "reason": str(error)})
    sys.exit()


def read_heads(shape, dtype, repeats=1):
    """Operand [tokens, heads, dim] from the pipe as [1, heads * repeats, tokens, dim]."""
    size = shape[0] * shape[1] * shape[2] * dtype.itemsize
    tensor = torch.frombuffer(bytearray(requests.read(size)), dtype=dtype).view(shape)
    return tensor.transpose(0, 1).repeat_interleave(repeats, 0).unsqueeze(0).contiguous()


def main():
    torch.set_num_threads(int(sys.argv[1]))
    answer({"name": "torch", "version": torch.__version__, "kernel": "flash attention for the CPU"})
    operands, out = None, None
    for line in requests:
        request = json.loads(line)
        if request["request"] == "load":
            dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[request["dtype"]]
            tokens, dim = request["tokens"], request["head_dim"]
            heads, kv_heads = request["query_heads"], request["kv_heads"]
            operands = (read_heads((tokens, heads, dim), dtype),
                        *(read_heads((tokens, kv_heads, dim), dtype, heads // kv_heads) for _ in range(2)))
            answer({})
        elif request["request"] == "run":
            start = time.perf_counter()
            out = torch.nn.functional.scaled_dot_product_attention(*operands, is_causal=True)
            seconds = time.perf_counter() - start
            time.sleep(0.02)  # the threads of OpenMP stop waiting for more before somebody else is measured
            answer({"seconds": seconds})
        elif request["request"] == "output":
            result = out[0].transpose(0, 1).float().contiguous()
            size = result.numel() * 4
            answer({"bytes": size}, ctypes.string_at(result.data_ptr(), size))


with torch.inference_mode(), sdpa_kernel(SDPBackend.FLASH_ATTENTION):
    main()
